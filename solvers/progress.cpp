// SPDX-License-Identifier: BSD-3-Clause
// The start, the bookkeeping and the verdict of iterative solves.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::detail {

template <class T, class B>
Progress<T, B>::Progress(std::string_view solver, const LinearOperator<T, B>& A,
                         const SolveOptions<T, B>& options, std::int64_t workspace_bytes)
    : A_(&A), options_(&options), products_before_(A.applications()) {
  const LinearOperator<T, B>* M = options.preconditioner;
  preconditionings_before_ = M == nullptr ? 0 : M->applications();
  report_.solver = solver;
  report_.operator_name = A.name();
  if (M != nullptr) report_.preconditioner_name = M->name();
  report_.workspace_bytes = workspace_bytes;
}

template <class T, class B>
void Progress<T, B>::warn(std::string warning) {
  if (!warning.empty()) report_.warnings.push_back(std::move(warning));
}

template <class T, class B>
double Progress<T, B>::start(Span<const T, B> b, Span<T, B> x, Span<T, B> r, Scalar<T, B>& scalar,
                             bool keep_guess) {
  Context<B>& context = A_->context();
  norm2(context, b, scalar);
  const double b_norm = read(context, scalar);
  if (b_norm == 0 && !keep_guess) fill(context, 0, x);
  norm2(context, x, scalar);
  const double x_norm = read(context, scalar);
  const double r_norm = true_residual(b, x, r, scalar);

  report_.baseline = options_->baseline == Baseline::b ? b_norm : r_norm;
  report_.threshold = std::max(options_->rtol * report_.baseline, options_->atol);
  report_.initial_residual = r_norm;
  report_.setup_seconds = seconds();
  if (std::isfinite(b_norm) && std::isfinite(x_norm) && std::isfinite(r_norm)) {
    observe(r_norm);
    return r_norm;
  }
  if (!std::isfinite(x_norm)) not_finite_ = first_not_finite<T, B>(context, "x0", x);
  if (!std::isfinite(b_norm)) not_finite_ = first_not_finite<T, B>(context, "b", b);
  if (not_finite_.empty() && !std::isfinite(r_norm))
    not_finite_ = first_not_finite<T, B>(context, "(b - A x0)", r);
  if (not_finite_.empty()) not_finite_ = "the norm of b, x0 or b - A x0 exceeds the largest number";
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T, class B>
double Progress<T, B>::true_residual(Span<const T, B> b, Span<const T, B> x, Span<T, B> r,
                                     Scalar<T, B>& scalar) {
  // Not apply(-1, x, 1, r): an operator without a form of its own for that would allocate.
  Context<B>& context = A_->context();
  A_->apply(x, r);
  axpby(context, 1, b, -1, r);
  norm2(context, r, scalar);
  return read(context, scalar);
}

template <class T, class B>
void Progress<T, B>::record(double residual) {
  ++report_.iterations;
  observe(residual);
}

template <class T, class B>
void Progress<T, B>::observe(double residual) {
  report_.residual = residual;
  if (options_->record_history) report_.history.push_back(residual);
  if (!cancelled_)
    cancelled_ = options_->monitor && !options_->monitor(report_.iterations, residual);
  out_of_iterations_ = report_.iterations >= options_->max_iterations;
  out_of_time_ = seconds() > options_->time_limit;
  diverged_ = diverged_ || residual > options_->divergence_factor * report_.initial_residual;
}

template <class T, class B>
Breakdown Progress<T, B>::outcome(double truth, bool stagnated, const Breakdown* breakdown) const {
  if (!not_finite_.empty()) return {Status::not_finite, not_finite_};
  if (meets(truth)) return {Status::converged, ""};
  if (breakdown != nullptr) return *breakdown;
  if (!std::isfinite(truth)) return {Status::not_finite, "the true residual of the returned x"};
  if (stagnated)
    return {Status::stagnated,
            "the recurrence's residual meets the tolerance, the true one does not"};
  if (cancelled_) return {Status::cancelled, ""};
  if (diverged_)
    return {Status::diverged,
            fmt::format("the residual exceeds {:g} times the first", options_->divergence_factor)};
  if (out_of_time_)
    return {Status::time_limit, fmt::format("time_limit is {:g} s", options_->time_limit)};
  return {Status::iteration_limit, fmt::format("max_iterations is {}", options_->max_iterations)};
}

template <class T, class B>
Report Progress<T, B>::finish(Span<const T, B> x, Scalar<T, B>& scalar, double truth,
                              bool stagnated, const Breakdown* breakdown, std::int64_t restarts) {
  norm2(A_->context(), x, scalar);
  if (not_finite_.empty() && !std::isfinite(read(A_->context(), scalar)))
    not_finite_ = first_not_finite<T, B>(A_->context(), "x", x);
  const Breakdown verdict = outcome(truth, stagnated, breakdown);
  report_.status = verdict.status;
  report_.detail = verdict.detail;
  report_.true_residual = truth;
  report_.restarts = restarts;
  report_.operator_applications = A_->applications() - products_before_;
  if (options_->preconditioner != nullptr)
    report_.preconditioner_applications =
        options_->preconditioner->applications() - preconditionings_before_;
  report_.solve_seconds = seconds() - report_.setup_seconds;
  return std::move(report_);
}

#define TANSOLVE_INSTANTIATE(T, B) template class Progress<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
