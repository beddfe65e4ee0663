// SPDX-License-Identifier: BSD-3-Clause
// The coefficients of the polynomials, and their recurrence.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/polynomial_step.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/polynomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve {
namespace {

void require(bool condition, const std::string& name, const std::string& what) {
  if (!condition) throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", name, what));
}

template <class T, class B>
std::vector<T> host_diagonal(const LinearOperator<T, B>& A) {
  Vector<T, B> device(A.context(), A.rows());
  A.diagonal(device);
  std::vector<T> d(A.rows());
  copy_to_host<T>(A.context(), device, d);
  return d;
}

}  // namespace

template <class T, class B>
Polynomial<T, B>::Polynomial(const LinearOperator<T, B>& A, std::string name, int degree)
    : LinearOperator<T, B>(A.context(), A.rows(), A.cols()),
      A_(&A),
      name_(std::move(name)),
      inverse_(A.context(), A.rows()),
      other_(A.context(), A.rows()),
      Az_(A.context(), A.rows()) {
  detail::require_square(name_, A.name(), A);
  require(degree >= 0, name_, fmt::format("degree {}, it must be at least 0", degree));
}

template <class T, class B>
EigenvalueBounds Polynomial<T, B>::estimate(const std::vector<T>& diagonal, int steps,
                                            std::uint64_t seed) {
  require(steps >= 1, name_, fmt::format("{} Lanczos steps, at least 1 is needed", steps));
  std::vector<T> roots(diagonal.size());
  std::ranges::transform(diagonal, roots.begin(), [](T d) { return 1 / std::sqrt(d); });
  copy_from_host(this->context(), roots, inverse_.span());
  return estimate_bounds(*A_, inverse_, steps, seed);
}

template <class T, class B>
void Polynomial<T, B>::set_inverse(const std::vector<T>& diagonal, double a) {
  std::vector<T> scaled(diagonal.size());
  std::ranges::transform(diagonal, scaled.begin(), [&](T d) { return static_cast<T>(a) / d; });
  copy_from_host(this->context(), scaled, inverse_.span());
}

// With the interval's centre theta and half its width delta: sigma = theta / delta and
// rho_k = C_k(sigma) / C_(k+1)(sigma), C_k the Chebyshev polynomials.
template <class T, class B>
Polynomial<T, B>::Polynomial(const LinearOperator<T, B>& A, const Chebyshev& options)
    : Polynomial(A, "chebyshev", options.degree) {
  const std::vector<T> d = host_diagonal(A);
  detail::require_diagonal<T>(name_, d, detail::not_positive, detail::is_positive<T>);
  if (d.empty()) return;
  if (options.bounds) {
    bounds_ = *options.bounds;
  } else {
    bounds_ = estimate(d, options.lanczos_steps, options.seed);
    const double least = bounds_.upper / std::pow(options.degree + 1.0, 2);
    bounds_.lower = std::min(std::max(bounds_.lower, least), bounds_.upper / 2);
  }
  require(0 < bounds_.lower && bounds_.lower < bounds_.upper && std::isfinite(bounds_.upper), name_,
          fmt::format("bounds {} and {}, they must be 0 < lower < upper", bounds_.lower,
                      bounds_.upper));
  const double theta = (bounds_.upper + bounds_.lower) / 2;
  const double delta = (bounds_.upper - bounds_.lower) / 2;
  const double sigma = theta / delta;
  double rho = 1 / sigma;
  for (int k = 0; k < options.degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    steps_.push_back({static_cast<T>(2 * next / delta * theta), static_cast<T>(1 + next * rho),
                      static_cast<T>(-next * rho)});
    rho = next;
  }
  if (!steps_.empty()) steps_.front().c = 0;  // z_(-1) = 0
  set_inverse(d, 1 / theta);
}

template <class T, class B>
Polynomial<T, B>::Polynomial(const LinearOperator<T, B>& A, const Neumann& options)
    : Polynomial(A, "neumann", options.degree) {
  const std::vector<T> d = host_diagonal(A);
  if (options.damping)
    detail::require_diagonal<T>(name_, d, detail::without_inverse, detail::has_inverse<T>);
  else
    detail::require_diagonal<T>(name_, d, detail::not_positive, detail::is_positive<T>);
  if (d.empty()) return;
  if (!options.damping) bounds_ = estimate(d, options.lanczos_steps, options.seed);
  const double omega = options.damping.value_or(std::min(1.0, 2 / bounds_.upper));
  require(omega > 0 && std::isfinite(omega), name_,
          fmt::format("damping {}, it must be positive", omega));
  steps_.assign(options.degree, {T(1), T(1), T(0)});
  set_inverse(d, omega);
}

template <class T, class B>
void Polynomial<T, B>::apply_impl(Span<const T, B> r, Span<T, B> z) const {
  Context<B>& context = this->context();
  Span<T, B> now = z, before = other_;
  if (steps_.size() % 2 == 1) std::swap(now, before);  // so that the last is z
  multiply(context, inverse_, r, now);
  for (const auto& [a, b, c] : steps_) {
    A_->apply(now, Az_);
    polynomial_step(context, a, inverse_, r, Az_, b, now, c, before);
    std::swap(now, before);
  }
}

#define TANSOLVE_INSTANTIATE(T, B) template class Polynomial<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
