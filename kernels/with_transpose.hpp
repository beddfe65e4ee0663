// SPDX-License-Identifier: BSD-3-Clause
// A matrix together with its transpose, each an operator of its own.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

namespace tansolve {

/// An operator A whose transposed product is the product of another one, A':
///
///     const auto matrix = compress(csr), transposed = compress(transpose(csr));
///     const CompressedOperator<double, B> A(context, matrix), At(context, transposed);
///     lsqr(WithTranspose<double, B>(A, At), b, x);
///
/// A product in the order of the rows is as fast in either direction and has the same bits in every
/// run, where one that scatters along the columns of A has neither; it costs the bytes of A'.
/// Refers to both, which must outlive it; their own counts of products go on, too.
/// Whether A' is the transpose of A, lsqr and lsmr probe.
template <class T, class B>
class WithTranspose final : public LinearOperator<T, B> {
 public:
  /// Throws Error(invalid_argument) unless `transpose` has the shape of A' and the context of A.
  WithTranspose(const LinearOperator<T, B>& A, const LinearOperator<T, B>& transpose);
  std::string name() const override { return A_->name(); }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;
  void apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const override;
  void apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const override;
  void apply_block_impl(std::int64_t columns, Span<const T, B> X, Span<T, B> Y) const override;
  void apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const override;
  void diagonal_impl(Span<T, B> d) const override;

 private:
  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* transpose_;
};

}  // namespace tansolve
