// SPDX-License-Identifier: BSD-3-Clause
// Parsing and range checks of the arguments of a generator.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators/arguments.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace tansolve::detail {
namespace {

std::vector<std::string> split(std::string_view text, char separator, std::size_t at_most) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t end =
        words.size() + 1 < at_most ? text.find(separator) : std::string_view::npos;
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

bool in_range(double value, const Parameter& parameter) {
  return value >= static_cast<double>(parameter.min) && value <= static_cast<double>(parameter.max);
}

}  // namespace

template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  Number number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}
template std::optional<std::uint64_t> parse_number(std::string_view);

std::string written(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::plane:
      return fmt::format("{}[xNY]", parameter.name);
    case Kind::space:
      return fmt::format("{}[xNYxNZ]", parameter.name);
    default:
      return std::string(parameter.name);
  }
}

std::string expected(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::count:
      return fmt::format("an integer in [{}, {}]", parameter.min, parameter.max);
    case Kind::real:
      return fmt::format("a number in [{}, {}]", parameter.min, parameter.max);
    case Kind::plane:
      return fmt::format("NX or NXxNY, at least {} each and at most {} points", parameter.min,
                         parameter.max);
    case Kind::space:
      return fmt::format("N or NXxNYxNZ, at least {} each and at most {} points", parameter.min,
                         parameter.max);
    case Kind::text:
      return "the name of a file in the folder of matrices";
  }
  return {};
}

Arguments::Arguments(std::string specification, std::string_view rest,
                     std::span<const Parameter> parameters, std::string form)
    : specification_(std::move(specification)), parameters_(parameters) {
  // A text, always last, may contain colons.
  const bool ends_in_text = parameters.back().kind == Kind::text;
  words_ = split(rest, ':', ends_in_text ? parameters.size() : std::string_view::npos);
  if (words_.size() > parameters.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("generator '{}': '{}' is one argument too many; the form is {}",
                            specification_, words_[parameters.size()], form));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (k < words_.size()) {
      values_.push_back(parse(k));
    } else if (parameters[k].when_omitted) {
      values_.emplace_back(*parameters[k].when_omitted);
    } else {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("generator '{}': {} is missing; the form is {}", specification_,
                              parameters[k].name, form));
    }
  }
}

Arguments::Value Arguments::parse(std::size_t k) const {
  const Parameter& parameter = parameters_[k];
  switch (parameter.kind) {
    case Kind::count: {
      const auto value = parse_number<std::int64_t>(words_[k]);
      if (!value || *value < parameter.min || *value > parameter.max)
        refuse(k, expected(parameter));
      return *value;
    }
    case Kind::real: {
      const auto value = parse_number<double>(words_[k]);
      if (!value || !in_range(*value, parameter)) refuse(k, expected(parameter));
      return *value;
    }
    case Kind::plane:
    case Kind::space:
      return parse_grid(k);
    case Kind::text:
      if (words_[k].empty()) refuse(k, expected(parameter));
      return words_[k];
  }
  refuse(k, expected(parameter));
}

Grid Arguments::parse_grid(std::size_t k) const {
  const Parameter& parameter = parameters_[k];
  const std::size_t dimensions = parameter.kind == Kind::plane ? 2 : 3;
  std::vector<std::int64_t> extents;
  for (const std::string& word : split(words_[k], 'x', std::string_view::npos))
    extents.push_back(parse_number<std::int64_t>(word).value_or(0));
  if (extents.size() == 1) extents.resize(dimensions, extents[0]);
  if (extents.size() != dimensions) refuse(k, expected(parameter));
  std::int64_t points = 1;
  for (const std::int64_t extent : extents) {
    if (extent < parameter.min || extent > parameter.max / points) refuse(k, expected(parameter));
    points *= extent;
  }
  return {extents[0], extents[1], dimensions == 3 ? extents[2] : 1};
}

void Arguments::require(bool holds, std::size_t k, std::string_view what_would_be_right) const {
  if (!holds) refuse(k, what_would_be_right);
}

void Arguments::refuse(std::size_t k, std::string_view what_would_be_right) const {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("generator '{}': {} is '{}', it must be {}", specification_,
                          parameters_[k].name, words_[k], what_would_be_right));
}

}  // namespace tansolve::detail
