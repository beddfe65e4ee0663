// SPDX-License-Identifier: BSD-3-Clause
// A few steps of Lanczos, and the eigenvalues of their tridiagonal matrix.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/preconditioners/eigenvalue_bounds.hpp>

#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

/// alpha_1 ... alpha_k on the diagonal, beta_2 ... beta_k beside it; beta_(k+1) is left over.
struct Tridiagonal {
  std::vector<double> alpha, beta;
};

/// Without reorthogonalisation: copies of Ritz values that have converged change no bound.
template <class T, class B>
Tridiagonal lanczos(const LinearOperator<T, B>& A, const Vector<T, B>& w, int steps,
                    std::uint64_t seed) {
  Context<B>& context = A.context();
  const std::int64_t n = A.rows();
  Vector<T, B> u(context, n), u_old(context, n), p(context, n), q(context, n);
  Scalar<T, B> alpha(context), beta(context), beta_next(context);
  fill_random(context, seed, u.span());  // in which no eigenvector is likely to be absent
  norm2(context, u, beta);
  divide(context, beta, u.span());
  fill(context, 0, u_old.span());
  write(context, 0, beta);
  Tridiagonal t;
  for (int j = 0; j < steps; ++j) {
    multiply(context, w, u, q.span());
    A.apply(q, p);
    multiply(context, w, p, q.span());  // q = W A W u
    dot(context, u, q, alpha);
    lanczos_step(context, alpha, beta, q, u, u_old.span(), beta_next);
    divide(context, beta_next, u_old.span());
    std::swap(u, u_old);
    std::swap(beta, beta_next);
    t.alpha.push_back(read(context, alpha));
    t.beta.push_back(read(context, beta));
    if (t.beta.back() <= 1e-6 * std::abs(t.alpha.back())) break;  // u spans all it can reach
  }
  return t;
}

}  // namespace

template <class T, class B>
EigenvalueBounds estimate_symmetric_bounds(const LinearOperator<T, B>& A, const Vector<T, B>& w,
                                           int steps, std::uint64_t seed) {
  const Tridiagonal t = lanczos(A, w, steps, seed);
  const auto k = std::ssize(t.alpha);
  const Eigen::Map<const Eigen::VectorXd> diagonal(t.alpha.data(), k);
  const Eigen::Map<const Eigen::VectorXd> beside(t.beta.data(), k - 1);
  if (!diagonal.allFinite() || !std::isfinite(t.beta.back()) || !beside.allFinite())
    throw Error(ErrorCode::bad_input,
                fmt::format("eigenvalue bounds: {} gives numbers that are not finite", A.name()));
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz;
  ritz.computeFromTridiagonal(diagonal, beside);
  const double residual = t.beta.back() * std::abs(ritz.eigenvectors()(k - 1, k - 1));
  return {ritz.eigenvalues()[0], upper_bound_safety * (ritz.eigenvalues()[k - 1] + residual)};
}

template <class T, class B>
EigenvalueBounds estimate_bounds(const LinearOperator<T, B>& A, const Vector<T, B>& w, int steps,
                                 std::uint64_t seed) {
  const auto [smallest, upper] = estimate_symmetric_bounds(A, w, steps, seed);
  const double rounding = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (smallest < -rounding * upper)  // singular matrices have one of 0
    throw Error(ErrorCode::bad_input,
                fmt::format("eigenvalue bounds: {} is not positive definite, scaled to a diagonal "
                            "of 1 it has an eigenvalue of at most {:.3g}",
                            A.name(), smallest));
  return {std::max(smallest, 0.0), upper};
}

#define TANSOLVE_INSTANTIATE(T, B)                                                                 \
  template EigenvalueBounds estimate_symmetric_bounds(const LinearOperator<T, B>&,                 \
                                                      const Vector<T, B>&, int, std::uint64_t);    \
  template EigenvalueBounds estimate_bounds(const LinearOperator<T, B>&, const Vector<T, B>&, int, \
                                            std::uint64_t);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
