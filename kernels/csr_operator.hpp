// SPDX-License-Identifier: BSD-3-Clause
// The uncompressed twin of the compressed operator: a CSR matrix as it is.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <vector>

namespace tansolve {

/// A CSR matrix as an operator. Refers to the matrix, which must outlive it. Each row is summed in
/// the order of its columns, every product rounded before it is added: on the host, all formats
/// give the same bits. Provides the transposed product (serial on the host) and the diagonal.
template <class T, class B>
class CsrOperator final : public LinearOperator<T, B> {
 public:
  CsrOperator(Context<B>& context, const Csr<T>& matrix);
  std::string name() const override { return "csr"; }
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;
  void apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const override;
  void apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const override;
  void apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const override;
  void diagonal_impl(Span<T, B> d) const override;

 private:
  const Csr<T>* matrix_;
  std::vector<std::int64_t>
      parts_;  ///< first rows of the parts with about equal numbers of nonzeros
};

}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/csr_operator.hpp>
#endif
