// SPDX-License-Identifier: BSD-3-Clause
// What eigensolvers share: the look before, the common reasons to stop, and true residuals.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/solvers/eigen_options.hpp>
#include <tansolve/solvers/eigen_report.hpp>
#include <tansolve/solvers/progress.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace tansolve::detail {

/// A number that sorts the wanted end of the spectrum first.
double sort_key(Which which, double value);

/// lambda = x'A x for x of norm 1; y = A x - lambda x, and its norm as the residual. NaN where
/// something is not finite. `scalar` is overwritten.
template <class T, class B>
EigenPair measure(const LinearOperator<T, B>& A, Span<const T, B> x, Span<T, B> y,
                  Scalar<T, B>& scalar);

/// Throws Error(invalid_argument), naming the solver, for an A that is not square, vectors that are
/// neither none nor nev of n elements, options out of range.
template <class T, class B>
void require_eigenproblem(std::string_view solver, const LinearOperator<T, B>& A,
                          Span<const T, B> vectors, const EigenOptions<T>& options);

/// Follows one solve; each common reason to stop is a boolean computed here.
template <class T, class B>
class EigenProgress {
 public:
  EigenProgress(std::string_view solver, const LinearOperator<T, B>& A,
                const EigenOptions<T>& options, std::int64_t workspace_bytes);

  void warn(std::string warning);  ///< keeps it for the report unless it is empty
  void start();                    ///< what came before was set-up
  /// To be named in the report; either may be none.
  void involve(const LinearOperator<T, B>* preconditioner, const LinearOperator<T, B>* mass);

  /// With A, and solutions with a factor, which count as such.
  std::int64_t products() const {
    return A_->applications() - products_before_ + report_.solutions;
  }
  std::int64_t products_left() const { return options_->max_products - products(); }
  bool out_of_products() const { return products_left() <= 0; }
  bool out_of_time() const { return seconds() > options_->time_limit; }
  double seconds_left() const { return std::max(0.0, options_->time_limit - seconds()); }
  bool exhausted() const { return out_of_products() || out_of_time(); }

  void count_restart() { ++report_.iterations; }
  void count_search() { ++report_.searches; }
  void count_restarts(std::int64_t restarts, std::int64_t searches) {
    report_.iterations += restarts;
    report_.searches += searches;
  }
  void count_solutions(std::int64_t solutions) { report_.solutions += solutions; }
  void verified(bool verified) { report_.verified = verified; }
  std::int64_t restarts() const { return report_.iterations; }
  /// Products that may still be done: after a cancel none, and at the pace so far within the time.
  std::int64_t products_in_reach() const;

  /// To the monitor, which may cancel.
  void record(const EigenState& state);
  bool cancelled() const { return cancelled_; }

  /// The verdict on pairs with true residuals. `complete`: the method has done all that it does;
  /// otherwise `breakdown`, or else one of the common reasons, ended it.
  EigenReport finish(std::vector<EigenPair> pairs, double norm, bool complete,
                     const Breakdown* breakdown);

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  Breakdown outcome(bool met, bool complete, const Breakdown* breakdown) const;

  const LinearOperator<T, B>* A_;
  const EigenOptions<T>* options_;
  Clock::time_point began_ = Clock::now();
  const LinearOperator<T, B>* preconditioner_ = nullptr;
  std::int64_t products_before_, preconditionings_before_ = 0;
  bool cancelled_ = false;
  EigenReport report_;
};

}  // namespace tansolve::detail
