// SPDX-License-Identifier: BSD-3-Clause
// A CSR matrix as an operator on a GPU: the plain truth there.
#pragma once

#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/cuda/context.hpp>

#include <memory>

namespace tansolve {

namespace detail {

/// The arrays of a CSR matrix in device memory.
template <class T>
struct DeviceCsr {
  DeviceCsr(Context<Cuda>& context, const Csr<T>& matrix);

  Vector<std::int64_t, Cuda> offsets;
  Vector<std::int32_t, Cuda> columns;
  Vector<T, Cuda> values;
};

}  // namespace detail

/// A CSR matrix as an operator on a GPU: one thread a row, summed in the order of its columns,
/// every product rounded before it is added: the bits of the host. A yardstick for correctness on
/// matrices too large to be checked on the host; for speed there is VendorOperator. Copies the
/// matrix; refers to the host's for the transposed product, whose copy is made on first use, and
/// the diagonal.
template <class T>
class CsrOperator<T, Cuda> final : public LinearOperator<T, Cuda> {
 public:
  /// Throws Error: out_of_memory, device.
  CsrOperator(Context<Cuda>& context, const Csr<T>& matrix);
  std::string name() const override { return "csr"; }
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;
  void apply_impl(T alpha, Span<const T, Cuda> x, T beta, Span<T, Cuda> y) const override;
  void apply_transposed_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;
  void diagonal_impl(Span<T, Cuda> d) const override;

 private:
  const Csr<T>* matrix_;
  detail::DeviceCsr<T> device_;
  mutable std::unique_ptr<detail::DeviceCsr<T>> transposed_;
};

}  // namespace tansolve
