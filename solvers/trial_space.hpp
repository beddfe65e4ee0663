// SPDX-License-Identifier: BSD-3-Clause
// The space that LOBPCG minimises over: approximations, directions and preconditioned residuals.
#pragma once

#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/lobpcg.hpp>

#include <cmath>
#include <cstdint>
#include <span>

namespace tansolve::detail {

/// What became of a vector that was to join a space.
enum class Added { good, dependent, indefinite, not_finite };

/// V = (X P W), V'BV = I and T = V'AV: X the approximations, P where they came from, W new
/// directions. T of X and P follows from the T before; each w costs a product.
template <class T, class B>
class TrialSpace {
 public:
  TrialSpace(const LinearOperator<T, B>& A, const LobpcgOperators<T, B>& operators, Which which,
             LobpcgWorkspace<T, B>& work);

  /// Takes w, which is overwritten, into the space.
  Added add(Span<T, B> w);
  /// The best Ritz vectors become X; P the parts of those that are `active` outside of X as it was
  /// before, made orthogonal to X.
  void rotate(std::span<const std::int64_t> active);

  /// x = x_i, lambda = x'A x, r = A x - lambda B x, and the residual ||r|| / ||x||.
  EigenPair measure(std::int64_t i, Span<T, B> x, Span<T, B> r);

  /// |A| + |lambda| |B|, by the products so far.
  double scale(double lambda) const {
    return mass_ == nullptr ? norm_ : norm_ + std::abs(lambda) * mass_norm_;
  }
  Span<T, B> vector(std::int64_t i) { return work_->vectors_.vector(i); }

 private:
  double& t(std::int64_t i, std::int64_t j) { return work_->T_[j * most_ + i]; }
  double norm_of(Span<const T, B> x);
  Added orthogonalise(Span<T, B> w);  // and stores it

  const LinearOperator<T, B>*A_, *mass_;
  Which which_;
  LobpcgWorkspace<T, B>* work_;
  std::int64_t most_;  // vectors of V
  std::int64_t cols_ = 0, approximations_ = 0;
  double norm_ = 0, mass_norm_ = 0;
};

}  // namespace tansolve::detail
