// SPDX-License-Identifier: BSD-3-Clause
// Cycles of GMRES, for one right-hand side and for several: their length, their end.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/solvers/consistency.hpp>
#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace tansolve::detail {

/// The iterations of a cycle, no more than n. Throws Error(invalid_argument) for a restart below 1.
inline std::int64_t restart_for(std::string_view solver, std::int64_t n, const KrylovBasis& basis) {
  if (basis.restart < 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: restart is {}, it must be positive", solver, basis.restart));
  return std::clamp<std::int64_t>(n, 1, basis.restart);
}

/// Of a column of H, relative to A: what the rotations make of roundings, or where they are much
/// larger the roundings of V.
template <class T>
double column_rounding(std::int64_t restart, BasisStorage storage) {
  return std::max(64 * std::sqrt(static_cast<double>(restart)) * storage_roundoff<T>({}),
                  16 * storage_roundoff<T>(storage));
}

/// How the iterations of a cycle ended.
enum class CycleEnd {
  met,        ///< the recurrence's residual is as small as was asked for
  full,       ///< restart iterations are done
  dependent,  ///< A is singular on the Krylov space
  not_finite,
  stopped  ///< for a reason of Progress
};

// A Cycle has k = cols() columns of V and H, a step x += Z y from them, and a vector w for r.

/// x += the step of a cycle; where rounding makes r much larger than the recurrence says, as on
/// singular systems, the best of those without the last column, 2, 3, 4, 6, 9 ... columns, or none.
/// Returns ||r||.
template <class T, class B, class Cycle>
double take_step(Cycle& cycle, Progress<T, B>& progress, double r_norm, Span<const T, B> b,
                 Span<T, B> x) {
  const auto residual = [&] { return progress.true_residual(b, x, cycle.w(), cycle.norm()); };
  const std::int64_t k = cycle.cols();
  std::int64_t best_cols = 0;
  double best = r_norm;
  const double expected = cycle.rounded() ? r_norm : 2 * r_norm * cycle.residual();
  for (std::int64_t without = 0; without < k;
       without = std::max(without + 1, without + without / 2)) {
    cycle.truncate(k - without);
    if (!cycle.add_step(r_norm, x)) continue;
    const double truth = residual();
    if (without == 0 && truth <= std::min(r_norm, expected)) return truth;
    cycle.undo_step(x);
    if (truth < best) best = truth, best_cols = k - without;
  }
  cycle.truncate(best_cols);
  if (best_cols > 0 && cycle.add_step(r_norm, x)) {
    const double truth = residual();
    if (truth <= r_norm) return truth;
    cycle.undo_step(x);  // the preconditioner is not what it was
  }
  return residual();
}

/// Why no other cycle would help, if none would: the last took the true residual from `previous` to
/// `truth`. On a system without solution that number stands still while the part of r in the range
/// of A, its square below the rounding of ||r||^2, goes on falling: then so does `overlap`.
template <class T, class B, class Cycle>
std::optional<Breakdown> why_no_restart(Cycle& cycle, CycleEnd end, double previous, double truth,
                                        Span<const T, B> x, double& overlap) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  if (end == CycleEnd::not_finite)
    return Breakdown{Status::not_finite, "a product with A or the preconditioner"};
  if (cycle.overflowed()) return Breakdown{Status::not_finite, "the step of a cycle overflows"};
  if (!std::isfinite(truth))
    return Breakdown{Status::not_finite, "the true residual of the returned x"};
  if (truth <= (end == CycleEnd::full ? 1 - 100 * eps : 0.5) * previous) return {};
  const RangeOverlap range = cycle.overlap(truth, x);
  if (const auto verdict = no_solution(range, eps)) return verdict;
  const double before = std::exchange(overlap, range.overlap);
  if (overlap <= 0.9 * before) return {};
  if (end == CycleEnd::dependent)
    return Breakdown{Status::breakdown,
                     "the operator is singular on the Krylov space, which holds no solution"};
  return Breakdown{Status::stagnated,
                   "a cycle no longer reduces the true residual" + perhaps_no_solution(range, eps)};
}

}  // namespace tansolve::detail
