// SPDX-License-Identifier: BSD-3-Clause
// When a residual shows that a system has no solution.
#include <tansolve/solvers/consistency.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tansolve::detail {

std::optional<Breakdown> no_solution(const RangeOverlap& r, double eps) {
  // A nonsingular A of condition K has an overlap above about 1 / K, so that below the root of
  // 1 / eps it is never mistaken for a singular one, however inaccurate r is.
  if (!(r.overlap <= std::min(256 * r.rounding, std::sqrt(eps)))) return {};
  return Breakdown{Status::inconsistent,
                   fmt::format("|r'Av| = {:.1e} ||r|| ||Av|| for a random v: x is a least-squares "
                               "solution",
                               r.overlap)};
}

std::string perhaps_no_solution(const RangeOverlap& r, double eps) {
  // Least squares know no more of r than the root of eps: its square is below rounding.
  if (!(r.overlap <= 100 * std::sqrt(eps))) return "";
  return fmt::format("; |r'Av| = {:.1e} ||r|| ||Av|| for a random v: there may be no solution",
                     r.overlap);
}

}  // namespace tansolve::detail
