// SPDX-License-Identifier: BSD-3-Clause
// A v = lambda D v with a diagonal D as a standard problem.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <string>

namespace tansolve {

/// D^(-1/2) A D^(-1/2): its eigenvalues are those of A v = lambda D v, its eigenvectors D^(1/2) v.
/// A residual of its pairs, of u of norm 1, is that of A v - lambda D v in the norm of D^(-1): an
/// eigenvalue lies within it. A must outlive it. Allocates 3 vectors when it is made. Throws
/// Error(invalid_argument) for a D of another size, and where elements are not positive and finite:
/// how many, the first row.
template <class T, class B>
class MassScaled : public LinearOperator<T, B> {
 public:
  MassScaled(const LinearOperator<T, B>& A, Span<const T, B> D);

  std::string name() const override { return A_->name() + ", scaled by the mass"; }

  /// v = D^(-1/2) u in place, for vectors of n elements one after another; then v'D v = 1 for u of
  /// norm 1.
  void recover(Span<T, B> vectors) const;

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;

 private:
  const LinearOperator<T, B>* A_;
  Vector<T, B> scale_;          // D^(-1/2)
  mutable Vector<T, B> s_, t_;  // D^(-1/2) x and its product
};

}  // namespace tansolve
