// SPDX-License-Identifier: BSD-3-Clause
// What the solvers by short recurrences share: runs on the scaled residual, begun afresh from the
// true one.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/consistency.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/own_workspace.hpp>
#include <tansolve/solvers/progress.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace tansolve::detail {

/// How one run of a recurrence ended; otherwise for a reason that Progress knows.
struct Run {
  bool met = false;  ///< the recurrence's residual meets the tolerance
  std::optional<Breakdown> breakdown = {};
};

/// The power of two below `norm`, within the range in which its reciprocal is a number of T.
/// Scaling by it is exact.
template <class T>
T power_of_two_below(double norm) {
  using Limits = std::numeric_limits<T>;
  const int exponent =
      std::clamp(std::ilogb(norm), Limits::min_exponent - 1, Limits::max_exponent - 1);
  return static_cast<T>(std::ldexp(1.0, exponent));
}

/// The power of two that x is a multiple of while the residual is r = (b - A x) / sigma, which
/// keeps squares of residuals within the range of T, and the norm of that r which is small enough:
/// below the tolerance by more than a sum of squares errs, so that a step follows where ||r||
/// misses it.
template <class T>
struct Scaling {
  T sigma;
  double enough;
};

template <class T, class B>
double norm_of(Context<B>& context, Span<const T, B> vector, Scalar<T, B>& scalar) {
  norm2(context, vector, scalar);
  return read(context, scalar);
}

/// Two vectors that a probe of the residual may overwrite once no run follows; none, no probe.
template <class T, class B>
struct ProbeSpace {
  const LinearOperator<T, B>* A = nullptr;
  Span<T, B> v = {}, w = {};
};

/// Calls run(scaling), which advances x and r = (b - A x) / sigma, until the true residual meets
/// the tolerance or there is a reason to stop. A run that meets the tolerance while the truth does
/// not, or that breaks down after it has reduced the true residual, is followed by another one; the
/// first has to halve the residual for that, else the method has stagnated. Besides the run, 1
/// product and 8 passes each. Where the method has given up with an x whose residual is orthogonal
/// to the range of A, which takes a product to see, that is `inconsistent`.
template <class T, class B, class Runs>
Report solve_by_runs(Progress<T, B>& progress, Context<B>& context, Span<const T, B> b,
                     Span<T, B> x, Span<T, B> r, Scalar<T, B>& scalar, const Runs& run,
                     const ProbeSpace<T, B>& probe = {}) {
  double truth = progress.start(b, x, r, scalar);  // ||b - A x||
  bool converged = progress.meets(truth), stagnated = false, broke_down = !std::isfinite(truth);
  std::optional<Breakdown> breakdown;
  std::int64_t runs = 0;
  while (!(converged || stagnated || broke_down || progress.stopped())) {
    const T sigma = power_of_two_below<T>(truth);
    constexpr double margin = 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    scale(context, 1 / sigma, r);
    Run ended = run(Scaling<T>{sigma, progress.threshold() / sigma * (1 - margin)});
    ++runs;
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, scalar));
    converged = progress.meets(truth);
    stagnated = ended.met && !(truth <= previous / 2);
    broke_down =
        ended.breakdown && !(ended.breakdown->status == Status::breakdown && truth < previous);
    breakdown = std::move(ended.breakdown);
  }
  const bool gave_up =
      stagnated || (broke_down && breakdown && breakdown->status == Status::breakdown);
  if (probe.A != nullptr && gave_up && !converged && std::isfinite(truth)) {
    const RangeOverlap overlap =
        range_overlap<T, B>(*probe.A, r, truth, x, probe.v, probe.w, scalar);
    if (auto none = no_solution(overlap, std::numeric_limits<T>::epsilon())) {
      breakdown = std::move(none);
      broke_down = true;
    }
  }
  return progress.finish(x, scalar, truth, stagnated,
                         broke_down && breakdown ? &*breakdown : nullptr,
                         std::max<std::int64_t>(runs - 1, 0));
}

/// Checks the system, then calls solve(workspace) with a workspace of that shape.
template <class T, class B, class Solve>
Report solve_with_own_workspace(std::string_view solver, const LinearOperator<T, B>& A,
                                Span<const T, B> b, Span<T, B> x, const SolveOptions<T, B>& options,
                                const WorkspaceShape& shape, const Solve& solve) {
  require_square_system(solver, A, b, x, options);
  const auto make = [&] {
    try {
      return Workspace<T, B>(A.context(), shape);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      throw Error(ErrorCode::out_of_memory,
                  std::string(solver) + " keeps " + std::to_string(shape.vectors) + " vectors of " +
                      std::to_string(shape.size) + " elements: " + error.what());
    }
  };
  return solve_with_own(make, solve);
}

}  // namespace tansolve::detail
