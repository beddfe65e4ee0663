// SPDX-License-Identifier: BSD-3-Clause
// Singular systems with a known null space, such as Neumann problems: project and solve.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <vector>

namespace tansolve {

/// An orthonormal basis Z of the null space of a symmetric operator. With P = I - Z Z',
///
///     const NullSpace<double, B> Z(context, n);           // constant vectors
///     const Projected<double, B> PA(A, Z), PM(jacobi, Z);
///     Z.project(b);                                       // the part of b that A can reach
///     cg(PA, b, x, {.preconditioner = &PM});
///
/// solves A x = P b: a least-squares solution of A x = b, of least norm if the guess is 0.
/// Projecting M keeps directions apart from Z, projecting A keeps rounding from bringing Z back.
/// An A that is not symmetric has two null spaces: b takes the one of A', PA too, PM that of A.
template <class T, class B>
class NullSpace {
 public:
  /// The constant vectors of n elements: of Neumann problems, and Laplacians of connected graphs.
  NullSpace(Context<B>& context, std::int64_t n);
  /// Spanned by `vectors`, which are made orthonormal. Throws Error(invalid_argument) where there
  /// is none, their sizes differ, or one depends on those before it or is not finite.
  NullSpace(Context<B>& context, std::vector<Vector<T, B>> vectors);

  std::int64_t size() const { return vectors_.front().size(); }

  /// x -= Z Z'x. Passes over memory: 5 a vector of Z, whose product with x the host reads.
  void project(Span<T, B> x) const;

 private:
  Context<B>* context_;
  std::vector<Vector<T, B>> vectors_;
  mutable Scalar<T, B> product_;
};

/// y = (I - Z Z') A x. Refers to both, which must outlive it.
template <class T, class B>
class Projected final : public LinearOperator<T, B> {
 public:
  /// Throws Error(invalid_argument) unless A has as many rows as Z has elements.
  Projected(const LinearOperator<T, B>& A, const NullSpace<T, B>& Z);
  std::string name() const override { return A_->name() + ", projected"; }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;
  void apply_block_impl(std::int64_t columns, Span<const T, B> X, Span<T, B> Y) const override;

 private:
  const LinearOperator<T, B>* A_;
  const NullSpace<T, B>* Z_;
};

}  // namespace tansolve
