// SPDX-License-Identifier: BSD-3-Clause
// Which elements of a diagonal are of no use, and how all refusals of them are worded.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tansolve::detail {

template <class T>
bool has_inverse(T d) {
  return std::isfinite(d) && std::isfinite(1 / d);
}
template <class T>
bool is_positive(T d) {
  return d > 0 && has_inverse(d);
}
inline constexpr std::string_view without_inverse = "zero, absent or without a finite inverse";
inline constexpr std::string_view not_positive = "not positive with a finite inverse";

/// "n of m diagonal elements are `wrong`, first in row i (counting from 1): value" for those that
/// are not `fit`; empty if all are.
template <class T, class Fit>
std::string unfit_elements(std::span<const T> diagonal, std::string_view wrong, const Fit& fit) {
  std::int64_t unfit = 0, first = 0;
  for (std::int64_t i = 0; i < std::ssize(diagonal); ++i) {
    if (fit(diagonal[i])) continue;
    if (unfit++ == 0) first = i;
  }
  if (unfit == 0) return {};
  return fmt::format("{} of {} diagonal elements are {}, first in row {} (counting from 1): {}",
                     unfit, diagonal.size(), wrong, first + 1, diagonal[first]);
}

}  // namespace tansolve::detail
