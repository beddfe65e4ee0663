// SPDX-License-Identifier: BSD-3-Clause
// The bookkeeping and the verdict of eigensolvers.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/eigen_progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::detail {

double sort_key(Which which, double value) {
  if (which == Which::magnitude) return -std::abs(value);
  return which == Which::smallest ? value : -value;
}

template <class T, class B>
EigenPair measure(const LinearOperator<T, B>& A, Span<const T, B> x, Span<T, B> y,
                  Scalar<T, B>& scalar) {
  A.apply_dot(x, y, scalar);
  const T lambda = read(A.context(), scalar);
  axpby(A.context(), -lambda, x, 1, y);
  norm2<T, B>(A.context(), y, scalar);
  return {lambda, read(A.context(), scalar), false};
}

template <class T, class B>
void require_eigenproblem(std::string_view solver, const LinearOperator<T, B>& A,
                          Span<const T, B> vectors, const EigenOptions<T>& options) {
  const std::int64_t n = A.rows();
  const auto require = [&](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", solver, what));
  };
  require(n == A.cols(), fmt::format("{} is {} x {}, it must be square", A.name(), n, A.cols()));
  require(options.nev >= 1 && options.nev <= n,
          fmt::format("nev is {}, it must be from 1 to n = {}", options.nev, n));
  require(vectors.size() == 0 || vectors.size() == n * options.nev,
          fmt::format("there is room for {} elements, {} vectors of {} have {}", vectors.size(),
                      options.nev, n, n * options.nev));
  require(options.tolerance >= 0,
          fmt::format("tolerance is {}, it must not be negative", options.tolerance));
  require(options.max_products >= 0,
          fmt::format("max_products is {}, it must not be negative", options.max_products));
  require(options.time_limit >= 0,
          fmt::format("time_limit is {}, it must not be negative", options.time_limit));
}

template <class T, class B>
EigenProgress<T, B>::EigenProgress(std::string_view solver, const LinearOperator<T, B>& A,
                                   const EigenOptions<T>& options, std::int64_t workspace_bytes)
    : A_(&A), options_(&options), products_before_(A.applications()) {
  report_.solver = solver;
  report_.operator_name = A.name();
  report_.workspace_bytes = workspace_bytes;
}

template <class T, class B>
void EigenProgress<T, B>::warn(std::string warning) {
  if (!warning.empty()) report_.warnings.push_back(std::move(warning));
}

template <class T, class B>
void EigenProgress<T, B>::start() {
  report_.setup_seconds = seconds();
}

template <class T, class B>
void EigenProgress<T, B>::involve(const LinearOperator<T, B>* preconditioner,
                                  const LinearOperator<T, B>* mass) {
  preconditioner_ = preconditioner;
  if (mass != nullptr) report_.mass_name = mass->name();
  if (preconditioner == nullptr) return;
  report_.preconditioner_name = preconditioner->name();
  preconditionings_before_ = preconditioner->applications();
}

template <class T, class B>
void EigenProgress<T, B>::record(const EigenState& state) {
  if (options_->monitor && !options_->monitor(state)) cancelled_ = true;
}

template <class T, class B>
std::int64_t EigenProgress<T, B>::products_in_reach() const {
  if (cancelled_) return 0;
  const double now = seconds();
  const double timely = static_cast<double>(products()) * ((options_->time_limit - now) / now);
  const double left = static_cast<double>(std::max<std::int64_t>(0, products_left()));
  return static_cast<std::int64_t>(std::clamp(timely, 0.0, left));
}

template <class T, class B>
Breakdown EigenProgress<T, B>::outcome(bool met, bool complete, const Breakdown* breakdown) const {
  if (complete && met) return {Status::converged, {}};
  if (breakdown != nullptr) return *breakdown;
  if (complete) return {Status::stagnated, "true residuals exceed their estimates"};
  const std::string so_far =
      met ? "; all pairs meet the tolerance, but pairs may have been missed" : "";
  if (cancelled_) return {Status::cancelled, "by the monitor" + so_far};
  if (out_of_products())
    return {Status::iteration_limit,
            fmt::format("max_products = {}{}", options_->max_products, so_far)};
  return {Status::time_limit, fmt::format("time_limit = {} s{}", options_->time_limit, so_far)};
}

template <class T, class B>
EigenReport EigenProgress<T, B>::finish(std::vector<EigenPair> pairs, double norm, bool complete,
                                        const Breakdown* breakdown) {
  report_.norm = norm;
  report_.threshold = options_->tolerance * norm;
  for (EigenPair& pair : pairs) pair.converged = pair.residual <= report_.threshold;
  report_.pairs = std::move(pairs);
  const bool met = report_.converged_pairs() == options_->nev;
  auto [status, detail] = outcome(met, complete, breakdown);
  report_.status = status;
  report_.detail = std::move(detail);
  report_.verified = report_.verified && report_.converged();
  report_.operator_applications = products() - report_.solutions;
  if (preconditioner_ != nullptr)
    report_.preconditioner_applications =
        preconditioner_->applications() - preconditionings_before_;
  report_.solve_seconds = seconds() - report_.setup_seconds;
  return std::move(report_);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                      \
  template EigenPair measure(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                             Scalar<T, B>&);                                            \
  template void require_eigenproblem(std::string_view, const LinearOperator<T, B>&,     \
                                     Span<const T, B>, const EigenOptions<T>&);         \
  template class EigenProgress<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
