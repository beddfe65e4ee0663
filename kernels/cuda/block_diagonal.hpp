// SPDX-License-Identifier: BSD-3-Clause
// Dense blocks on the diagonal as an operator on a GPU.
#pragma once

#include <tansolve/kernels/block_diagonal.hpp>
#include <tansolve/kernels/cuda/context.hpp>

namespace tansolve {

/// The blocks as an operator on a GPU: one thread a row, the threads of a block reading its columns
/// side by side; the bits of the host. Copies the blocks, and the block of each row.
template <class T>
class BlockDiagonal<T, Cuda> final : public LinearOperator<T, Cuda> {
 public:
  /// Throws Error: out_of_memory, device.
  BlockDiagonal(Context<Cuda>& context, const DiagonalBlocks<T>& blocks);
  std::string name() const override { return "block diagonal"; }
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;

 private:
  Vector<DiagonalBlock, Cuda> blocks_;
  Vector<std::int32_t, Cuda> block_of_row_;
  Vector<T, Cuda> values_;
  Vector<float, Cuda> low_;
};

namespace detail {

/// y = X x from device arrays.
template <class T>
void block_diagonal_apply(Context<Cuda>& context, std::int64_t rows,
                          const std::int32_t* block_of_row, const DiagonalBlock* blocks,
                          const T* values, const float* low, const T* x, T* y);

}  // namespace detail
}  // namespace tansolve
