// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a generator: what they may be, and parsing with errors that say so.
#pragma once

#include <tansolve/codec/generators/families.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tansolve::detail {

enum class Kind {
  count,  ///< an integer
  real,   ///< a number
  plane,  ///< NX or NXxNY, NX alone meaning NXxNX
  space,  ///< N or NXxNYxNZ, N alone meaning NxNxN
  text    ///< what is left of the specification
};

/// One argument of a generator. For plane and space, min bounds each extent and max the points.
struct Parameter {
  std::string_view name;
  Kind kind = Kind::count;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::optional<double> when_omitted = std::nullopt;  ///< real only
};

/// A specification without its seed, checked against the parameters of its generator.
class Arguments {
 public:
  /// `rest` is what follows the name and its colon; `form` is how the generator is written.
  Arguments(std::string specification, std::string_view rest, std::span<const Parameter> parameters,
            std::string form);

  std::int64_t count(std::size_t k) const { return std::get<std::int64_t>(values_[k]); }
  double real(std::size_t k) const { return std::get<double>(values_[k]); }
  const Grid& grid(std::size_t k) const { return std::get<Grid>(values_[k]); }
  const std::string& text(std::size_t k) const { return std::get<std::string>(values_[k]); }

  /// Throws Error(invalid_argument) unless `holds`, for conditions between arguments.
  void require(bool holds, std::size_t k, std::string_view what_would_be_right) const;

 private:
  using Value = std::variant<std::int64_t, double, Grid, std::string>;
  Value parse(std::size_t k) const;
  Grid parse_grid(std::size_t k) const;
  [[noreturn]] void refuse(std::size_t k, std::string_view what_would_be_right) const;

  std::string specification_;
  std::span<const Parameter> parameters_;
  std::vector<std::string> words_;
  std::vector<Value> values_;
};

/// The whole of `word` as a number, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view word);

/// As it is written in the form of a generator: N[xNYxNZ].
std::string written(const Parameter& parameter);

/// What is right for a parameter: "an integer in [1, 30]".
std::string expected(const Parameter& parameter);

}  // namespace tansolve::detail
