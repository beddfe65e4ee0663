// SPDX-License-Identifier: BSD-3-Clause
// The Krylov space that Lanczos methods for eigenvalues grow, restart and lock vectors in.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/solvers/chebyshev_filter.hpp>
#include <tansolve/solvers/eigen_options.hpp>
#include <tansolve/solvers/eigen_report.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tansolve::detail {

/// Steps that a device carries out between two looks of the host; Checked plays one. A block's
/// vectors are overwritten by later steps and therefore looked after one by one.
template <class B>
constexpr std::int64_t krylov_look(std::int64_t block) {
  return std::is_same_v<B, Host> || block > 1 ? 1 : 6;
}

/// Scalars of one of them: h of both passes of Gram-Schmidt, and a norm.
constexpr std::int64_t krylov_column(std::int64_t ncv, std::int64_t block) {
  return 2 * (ncv + block) + 1;
}

/// An approximate eigenpair within the space: its value, and its residual as the space knows it.
struct RitzPair {
  double value;        ///< of A, also where the space is one of p(A)
  double residual;     ///< of A as the space knows it: of p(A), not until it is measured
  double image;        ///< p(value)
  std::int64_t index;  ///< among the locked vectors, or the eigenvectors of T
  bool locked;
};

/// V orthonormal with A V_j = V_(j+p) T: T of (j + p) x j is symmetric in its first j rows, and
/// the p rows below couple V_j to the rest, the last block of V. The first l vectors may be locked:
/// eigenvectors up to their known residuals, which the others are kept orthogonal to, as if A were
/// projected. A column of T comes from Gram-Schmidt against all vectors before, done twice.
///
/// Where a step leaves no new vector up to rounding, V_j (or a part of it) is invariant: a random
/// vector takes its place, uncoupled.
template <class T, class B>
class KrylovSpace {
 public:
  KrylovSpace(const LinearOperator<T, B>& A, const EigenOptions<T>& options,
              LanczosWorkspace<T, B>& work);

  std::int64_t cols() const { return cols_; }      ///< j
  std::int64_t locked() const { return locked_; }  ///< l
  double norm() const { return norm_; }            ///< the largest magnitude of a Ritz value so far

  /// From now on a space of F = p(A), beside the locked.
  void follow(const LinearOperator<T, B>& F, const SpectralMap& p);

  /// The last block anew: random vectors, behind those that are locked.
  void begin();

  /// Steps up to `last` columns or to the next look of the host. False: something is not finite.
  /// A step: 1 product, 3 (j + p) + 8 passes over vectors. Where p > 1, p products at once, and 2 p
  /// passes more where `last` leaves room for fewer.
  bool grow(std::int64_t last);

  /// The eigenpairs of T, best first. Of pairs whose values differ by less than `margin`, locked
  /// ones are the better ones.
  void project(double margin);
  const std::vector<RitzPair>& pairs() const { return pairs_; }
  /// The value and the residual as they were measured.
  void set(std::int64_t i, const EigenPair& measured) {
    pairs_[i].value = measured.value;
    pairs_[i].residual = measured.residual;
  }

  /// Keeps, beside the locked, the best `keep` others and the last block. Passes: those of a
  /// rotation.
  void restart(std::int64_t keep);

  /// Keeps the best pairs, locked with the values and residuals that were measured.
  void lock(std::span<const EigenPair> measured);

  /// A vector that is free between calls of grow.
  Span<T, B> spare() { return recent(block_); }

  /// x = V q, of norm 1.
  void form(const RitzPair& pair, Span<T, B> x);

 private:
  double& t(std::int64_t i, std::int64_t j) { return work_->matrix_[j * stride_ + i]; }
  Span<T, B> recent(std::int64_t i) {
    const std::int64_t at = (head_ + i) % (2 * block_), n = A_->rows();
    return work_->blocks_.vector(at / block_).subspan(at % block_ * n, n);
  }
  Span<T, B> scalars(std::int64_t step, std::int64_t first, std::int64_t count) {
    return work_->columns_.span().subspan(step * krylov_column(ncv_, block_) + first, count);
  }
  bool grow_block(std::int64_t last);
  void step(std::int64_t j, std::int64_t s);
  void align();
  enum class Column { good, invariant, not_finite };
  Column append(std::int64_t j, const T* column);
  void place_random(std::int64_t i, Span<T, B> w);
  void coupling(std::int64_t i, double* rows) const;
  RitzPair active_pair(std::int64_t i);
  void upload(std::int64_t count);

  const LinearOperator<T, B>* A_;
  LanczosWorkspace<T, B>* work_;
  Which which_;
  std::uint64_t seed_;
  std::int64_t ncv_, block_, stride_;
  std::int64_t cols_ = 0, locked_ = 0;
  std::int64_t head_ = 0;        // where v_cols lies in the two blocks of recent vectors
  double norm_ = 0, scale_ = 0;  // scale: the largest norm of a column of T
  SpectralMap map_;
  std::vector<EigenPair> found_;  // the locked
  std::vector<RitzPair> pairs_;
};

}  // namespace tansolve::detail
