// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the diagonal as a preconditioner.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

namespace tansolve {

/// z_i = r_i / d_i for the diagonal d of a square operator, 3 passes over memory. Holds 1/d: n
/// elements, beside a copy on the host while it is built.
///
/// Throws Error(bad_input), with their count and the first row, for diagonal elements that are
/// zero, absent, not finite, or so small that 1/d_i is not. Negative ones are accepted, since
/// methods for nonsymmetric systems can use them; those that need a positive definite
/// preconditioner end with the status indefinite_preconditioner when they meet a direction in which
/// it is not.
template <class T, class B>
class Jacobi final : public LinearOperator<T, B> {
 public:
  /// From A.diagonal; throws Error(not_supported) where A has none, invalid_argument unless square.
  Jacobi(Context<B>& context, const LinearOperator<T, B>& A);
  /// From the diagonal itself.
  Jacobi(Context<B>& context, Span<const T, B> diagonal);

  std::string name() const override { return "jacobi"; }
  bool capturable() const override { return true; }
  std::int64_t bytes() const { return this->rows() * static_cast<std::int64_t>(sizeof(T)); }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;
  void apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const override;
  void diagonal_impl(Span<T, B> d) const override;

 private:
  void invert();

  Vector<T, B> inverse_;
};

}  // namespace tansolve
