// SPDX-License-Identifier: BSD-3-Clause
// Orthogonalisation, projection and rotation of LOBPCG's space.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/solvers/trial_space.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tansolve::detail {
namespace {

double inner(std::int64_t n, const double* x, const double* y) {
  return std::inner_product(x, x + n, y, 0.0);
}

/// z = T y, from the upper triangle.
void symmetric_product(std::int64_t n, const double* T, std::int64_t stride, const double* y,
                       double* z) {
  std::fill_n(z, n, 0.0);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) {
      z[i] += T[j * stride + i] * y[j];
      z[j] += T[j * stride + i] * y[i];
    }
    z[j] += T[j * stride + j] * y[j];
  }
}

/// y less its parts along the `count` orthonormal vectors Q of n coefficients each, twice; then of
/// norm 1. False: nothing is left but rounding.
bool orthonormalise(std::int64_t n, std::int64_t count, const double* Q, double* y) {
  const auto norm = [&] { return std::sqrt(inner(n, y, y)); };
  const double before = norm();
  for (int pass = 0; pass < 2; ++pass)
    for (std::int64_t j = 0; j < count; ++j) {
      const double* q = Q + j * n;
      const double h = inner(n, q, y);
      for (std::int64_t i = 0; i < n; ++i) y[i] -= h * q[i];
    }
  const double after = norm();
  if (!(after > 64 * std::numeric_limits<double>::epsilon() * std::max(before, 1e-8))) return false;
  for (std::int64_t i = 0; i < n; ++i) y[i] /= after;
  return true;
}

}  // namespace

template <class T, class B>
TrialSpace<T, B>::TrialSpace(const LinearOperator<T, B>& A, const LobpcgOperators<T, B>& operators,
                             Which which, LobpcgWorkspace<T, B>& work)
    : A_(&A), mass_(operators.mass), which_(which), work_(&work), most_(work.V_.count()) {}

template <class T, class B>
double TrialSpace<T, B>::norm_of(Span<const T, B> x) {
  norm2(A_->context(), x, work_->vectors_.scalar(0));
  return read(A_->context(), work_->vectors_.scalar(0));
}

template <class T, class B>
Added TrialSpace<T, B>::orthogonalise(Span<T, B> w) {
  const Span<T, B> h = work_->columns_.span().subspan(0, cols_),
                   g = work_->columns_.span().subspan(most_, cols_), Bw = vector(2);
  Scalar<T, B>& norm = work_->vectors_.scalar(1);
  Basis<T, B>& V = work_->V_;
  double before = 1, after = 0;
  if (mass_ == nullptr) {
    V.project(w, h);
    V.subtract_project(h, w, g);
    V.subtract(g, w, norm);
    after = read(A_->context(), norm);
  }
  for (int pass = 0; mass_ != nullptr && pass < 3; ++pass) {
    mass_->apply_dot(w, Bw, norm);
    const double square = read(A_->context(), norm);
    if (pass < 2 && square <= 0) return Added::indefinite;  // later it may be rounding
    (pass == 0 ? before : after) = std::sqrt(square);
    if (pass == 2) break;
    if (pass == 0) mass_norm_ = std::max(mass_norm_, norm_of(Bw));
    V.project(Bw, h);
    V.subtract(h, w, norm);
  }
  if (std::isnan(before) || (std::isnan(after) && mass_ == nullptr)) return Added::not_finite;
  if (!(after > 64 * std::numeric_limits<T>::epsilon() * before)) return Added::dependent;
  write(A_->context(), static_cast<T>(after), norm);
  V.store(cols_, norm, w);
  return Added::good;
}

template <class T, class B>
Added TrialSpace<T, B>::add(Span<T, B> w) {
  const double size = norm_of(w);
  if (!std::isfinite(size)) return Added::not_finite;
  if (size == 0) return Added::dependent;
  divide(A_->context(), work_->vectors_.scalar(0), w);
  const Added added = orthogonalise(w);
  if (added != Added::good) return added;
  const Span<T, B> Aw = vector(3), h = work_->columns_.span().subspan(0, cols_ + 1);
  const double w_norm = norm_of(w);
  A_->apply(w, Aw);
  const double Aw_norm = norm_of(Aw);
  if (!std::isfinite(Aw_norm)) return Added::not_finite;
  norm_ = std::max(norm_, Aw_norm / w_norm);
  work_->V_.project(Aw, h);
  copy_to_host<T>(A_->context(), h, std::span(work_->seen_).first(cols_ + 1));
  std::copy_n(work_->seen_.begin(), cols_ + 1, &t(0, cols_));
  ++cols_;
  return Added::good;
}

template <class T, class B>
void TrialSpace<T, B>::rotate(std::span<const std::int64_t> active) {
  const std::int64_t n = cols_, k = work_->block_;
  std::vector<double>&Q = work_->coefficients_, &next = work_->next_;
  work_->eigen_.solve(n, &t(0, 0), most_);
  for (std::int64_t i = 0; i < k; ++i)
    std::copy_n(work_->eigen_.vector(which_ == Which::smallest ? i : n - 1 - i), n, &Q[i * n]);
  std::int64_t kept = k;
  for (const std::int64_t i : active) {
    std::fill_n(&Q[kept * n], approximations_, 0.0);
    std::copy(&Q[i * n] + approximations_, &Q[i * n] + n, &Q[kept * n] + approximations_);
    kept += orthonormalise(n, kept, Q.data(), &Q[kept * n]);
  }
  for (std::int64_t j = 0; j < k; ++j) {
    std::fill_n(&next[j * most_], j, 0.0);
    next[j * most_ + j] = work_->eigen_.value(which_ == Which::smallest ? j : n - 1 - j);
  }
  for (std::int64_t j = k; j < kept; ++j) {
    double* z = &next[(most_ - 1) * most_];  // T q_j, in a column that is not used
    symmetric_product(n, work_->T_.data(), most_, &Q[j * n], z);
    for (std::int64_t i = 0; i <= j; ++i) next[j * most_ + i] = inner(n, &Q[i * n], z);
  }
  std::copy_n(next.begin(), most_ * kept, work_->T_.begin());
  std::transform(Q.begin(), Q.begin() + n * kept, work_->seen_.begin(),
                 [](double q) { return static_cast<T>(q); });
  const Span<T, B> device_Q = work_->Q_.span().subspan(0, n * kept);
  copy_from_host<T>(A_->context(), std::span<const T>(work_->seen_).first(n * kept), device_Q);
  work_->V_.rotate(0, n, device_Q);
  cols_ = kept;
  approximations_ = k;
}

template <class T, class B>
EigenPair TrialSpace<T, B>::measure(std::int64_t i, Span<T, B> x, Span<T, B> r) {
  Scalar<T, B>& scalar = work_->vectors_.scalar(1);
  std::fill_n(work_->seen_.begin(), i + 1, T(0));
  work_->seen_[i] = 1;
  const Span<T, B> unit = work_->Q_.span().subspan(0, i + 1);
  copy_from_host<T>(A_->context(), std::span<const T>(work_->seen_).first(i + 1), unit);
  work_->V_.combine(unit, x);
  A_->apply_dot(x, r, scalar);
  const T lambda = read(A_->context(), scalar);
  t(i, i) = lambda;
  if (mass_ != nullptr) mass_->apply(x, vector(2));
  axpby(A_->context(), -lambda, mass_ != nullptr ? vector(2) : x, 1, r);
  return {lambda, norm_of(r) / norm_of(x), false};
}

#define TANSOLVE_INSTANTIATE(T, B) template class TrialSpace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
