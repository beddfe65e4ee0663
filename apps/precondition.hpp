// SPDX-License-Identifier: BSD-3-Clause
// The table of preconditioners, and how one is built for a matrix.
#pragma once

#include "method.hpp"
#include "prepare.hpp"

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/preconditioners/amg.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::app {

/// What a preconditioner took; without one nothing.
struct PreconditioningFacts {
  std::int64_t bytes = 0;
  std::string note = {};   ///< what its construction found; or empty
  std::string table = {};  ///< what it consists of, for people; or empty
  Json hierarchy = {};     ///< the same of multigrid; else null
  double seconds = 0;      ///< of that
};

/// A preconditioner, if there is one.
template <class T, class B>
struct Preconditioning {
  std::unique_ptr<LinearOperator<T, B>> M = {};
  PreconditioningFacts facts = {};
};

/// A preconditioner as it is asked for, NAME or NAME:KEY=VALUE,...
struct PreconditionerRequest {
  std::string name = "auto";
  std::map<std::string, double, std::less<>> values = {};  ///< of the parameters that were given
};

/// Throws Error(invalid_argument) for a name, a parameter or a value that there is not.
PreconditionerRequest parse_preconditioner(const std::string& text);

/// The parameters of all of them, for --help.
std::string preconditioner_parameters();

/// What one is made from.
template <class T, class B>
struct PreconditionerInput {
  const LinearOperator<T, B>& A;
  const Prepared<T>& matrix;
  bool symmetric;
  int threads;
  std::optional<Objective> objective;
  const PreconditionerRequest& request;
  AmgOptions amg = {};  ///< for what no parameter says

  /// A parameter of the request, or what is taken where it was not given.
  template <class Value>
  Value parameter(std::string_view key, Value otherwise) const {
    const auto given = request.values.find(key);
    return given == request.values.end() ? otherwise : static_cast<Value>(given->second);
  }
  /// The matrix uncompressed, decoded into `decoded` if need be.
  const Csr<T>& csr() const;

  mutable std::optional<Csr<T>> decoded = {};
};

/// A line of the table.
template <class T, class B>
struct PreconditionerEntry {
  std::string_view name;
  Kind takes;
  std::string_view about;  ///< what it is, for people
  Preconditioning<T, B> (*make)(const PreconditionerInput<T, B>& input);
};

/// The table, whose first line is "none".
template <class T, class B>
std::span<const PreconditionerEntry<T, B>> all_preconditioners();

/// The line of that name, which there is.
template <class T, class B>
const PreconditionerEntry<T, B>& preconditioner_named(std::string_view name);

std::vector<std::string> preconditioner_names();

/// What the set-up of the method's preconditioner is about to take, where that is much:
/// multigrid's. `rows_a_block` are those of natural blocks.
template <class T, class B>
std::optional<AmgBytes> expected_bytes(const Method& method, const PreconditionerInput<T, B>& input,
                                       double rows_a_block);

/// Rows of natural blocks on average.
template <class T>
double mean_natural_block(const Csr<T>& A);

/// Builds the method's; jacobi, where the matrix does not fit what was chosen automatically. Throws
/// Error(invalid_argument) for a matrix that it refuses.
template <class T, class B>
Preconditioning<T, B> build_preconditioner(const Method& method,
                                           const PreconditionerInput<T, B>& input);

}  // namespace tansolve::app
