// SPDX-License-Identifier: BSD-3-Clause
// A compressed matrix as an operator on a GPU.
#pragma once

#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/cuda/array_matrix.hpp>
#include <tansolve/kernels/cuda/device_matrix.hpp>
#include <tansolve/kernels/cuda/product_vectors.hpp>

#include <memory>

namespace tansolve {

/// A CSR-dtANS matrix as an operator on a GPU. Copies the matrix there: its container's bytes and
/// at most DeviceMatrix::extra_bytes more. Refers to the host's matrix for the diagonal, which is
/// decoded there; it must outlive the operator. Each row is summed in the order of its columns with
/// fused multiply-adds, hence the same bits at each call, and those of the host up to rounding.
template <class T>
class CompressedOperator<T, Cuda> final : public LinearOperator<T, Cuda> {
 public:
  /// Waits for the copy. Throws Error: out_of_memory, device.
  CompressedOperator(Context<Cuda>& context, const CompressedMatrix<T>& matrix);

  std::string name() const override { return "dtans"; }
  bool capturable() const override { return true; }
  const CompressedMatrix<T>& matrix() const { return *matrix_; }
  /// To be called after update_values() on the matrix, until which products are with the old
  /// values: lets the device's copy go and makes another, whose addresses are others: what was
  /// recorded with the old one must not be replayed. Waits. Throws as the constructor does; then
  /// products throw Error(device) until it succeeds.
  void refresh();
  std::int64_t device_bytes() const {
    return (streams_ != nullptr ? streams_->bytes() : 0) +
           (arrays_ != nullptr ? arrays_->bytes() : 0);
  }

 protected:
  void apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;
  void apply_impl(T alpha, Span<const T, Cuda> x, T beta, Span<T, Cuda> y) const override;
  void apply_dot_impl(Span<const T, Cuda> x, Span<T, Cuda> y, Scalar<T, Cuda>& xy) const override;
  /// Decodes once for every eight columns.
  void apply_block_impl(std::int64_t columns, Span<const T, Cuda> X,
                        Span<T, Cuda> Y) const override;
  void diagonal_impl(Span<T, Cuda> d) const override;

 private:
  void product(const detail::ProductVectors<T>& vectors) const;

  const CompressedMatrix<T>* matrix_;
  Plan plan_;  ///< of the device's copy: update_values() may change the matrix's
  std::unique_ptr<detail::DeviceMatrix<T>> streams_;  ///< one of them, by the coding
  std::unique_ptr<detail::ArrayMatrix<T>> arrays_;
};

}  // namespace tansolve
