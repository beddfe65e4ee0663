// SPDX-License-Identifier: BSD-3-Clause
// Dense blocks on the diagonal as an operator.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <cstdint>
#include <vector>

namespace tansolve {

/// Where a block lies on the diagonal, and its elements, which are stored by columns, in memory.
struct DiagonalBlock {
  std::int64_t offset;  ///< of the first element, in `low` or `values`
  std::int32_t first;   ///< row and column
  std::int16_t size;    ///< rows and columns, from 1 to most_block_rows
  bool low;             ///< elements are in `low`
};
inline constexpr int most_block_rows = 64;

/// Square blocks, one after another from row 0 on.
template <class T>
struct DiagonalBlocks {
  std::vector<DiagonalBlock> blocks;
  std::vector<T> values;
  std::vector<float> low;

  std::int64_t rows() const {
    return blocks.empty() ? 0 : std::int64_t{blocks.back().first} + blocks.back().size;
  }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(blocks.size() * sizeof(DiagonalBlock) +
                                     values.size() * sizeof(T) + low.size() * sizeof(float));
  }
};

/// y = X x for blocks X, each row summed in the order of its columns in T. Refers to the blocks,
/// which must outlive it.
template <class T, class B>
class BlockDiagonal final : public LinearOperator<T, B> {
 public:
  BlockDiagonal(Context<B>& context, const DiagonalBlocks<T>& blocks)
      : LinearOperator<T, B>(context, blocks.rows(), blocks.rows()), blocks_(&blocks) {}
  std::string name() const override { return "block diagonal"; }
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;

 private:
  const DiagonalBlocks<T>* blocks_;
};

}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/block_diagonal.hpp>
#endif
