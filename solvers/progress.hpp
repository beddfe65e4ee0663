// SPDX-License-Identifier: BSD-3-Clause
// What all iterative solvers share: the report of a running solve and the common reasons to stop.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace tansolve::detail {

/// A reason of the solver's own to stop, as a status and what exactly happened.
struct Breakdown {
  Status status;
  std::string detail;
};

/// Follows one solve of A x = b. Each reason to stop is a boolean computed here, in one place, from
/// what record() was told.
template <class T, class B>
class Progress {
 public:
  Progress(std::string_view solver, const LinearOperator<T, B>& A,
           const SolveOptions<T, B>& options, std::int64_t workspace_bytes);

  void warn(std::string warning);  ///< keeps it for the report unless it is empty

  /// r = b - A x for the guess x (b = 0 makes x = 0, unless the guess is part of the problem) and
  /// the tolerance that follows from b and r; 1 product, 8 passes. Returns ||r||; NaN, with the
  /// reason kept for the report, if b, x or r are not finite.
  double start(Span<const T, B> b, Span<T, B> x, Span<T, B> r, Scalar<T, B>& scalar,
               bool keep_guess = false);

  /// r = b - A x; returns ||r||.
  double true_residual(Span<const T, B> b, Span<const T, B> x, Span<T, B> r, Scalar<T, B>& scalar);

  /// After each iteration: its residual into the history and to the monitor.
  void record(double residual);

  bool meets(double residual) const { return residual <= report_.threshold; }  ///< NaN never does
  double threshold() const { return report_.threshold; }
  std::int64_t iterations_left() const { return options_->max_iterations - report_.iterations; }
  bool exhausted() const { return out_of_iterations_ || out_of_time_; }
  bool diverged() const { return diverged_; }
  bool cancelled() const { return cancelled_; }
  /// For a reason that does not depend on the method.
  bool stopped() const { return exhausted() || diverged_ || cancelled_; }

  /// The booleans turned into one status. `truth` is the true residual of the returned x; where it
  /// meets the tolerance, the solve has converged, whatever else happened, unless x is not finite
  /// where A does not see it. 1 pass.
  Report finish(Span<const T, B> x, Scalar<T, B>& scalar, double truth, bool stagnated,
                const Breakdown* breakdown, std::int64_t restarts);

 private:
  using Clock = std::chrono::steady_clock;
  Breakdown outcome(double truth, bool stagnated, const Breakdown* breakdown) const;
  void observe(double residual);
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  const LinearOperator<T, B>* A_;
  const SolveOptions<T, B>* options_;
  Clock::time_point began_ = Clock::now();
  std::int64_t products_before_, preconditionings_before_;
  Report report_;
  std::string not_finite_;  // what was not finite at the start
  bool out_of_iterations_ = false, out_of_time_ = false, diverged_ = false, cancelled_ = false;
};

}  // namespace tansolve::detail
