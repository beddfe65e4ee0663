// SPDX-License-Identifier: BSD-3-Clause
// Copies diagonal blocks to the GPU.
#include <tansolve/kernels/cuda/block_diagonal.hpp>
#include <tansolve/kernels/cuda/kernels.hpp>

#include <span>

namespace tansolve {
namespace {

std::vector<std::int32_t> blocks_of_rows(std::span<const DiagonalBlock> blocks) {
  std::vector<std::int32_t> rows;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    rows.insert(rows.end(), blocks[b].size, static_cast<std::int32_t>(b));
  return rows;
}

template <class E>
Vector<E, Cuda> sent(Context<Cuda>& context, const std::vector<E>& elements) {
  Vector<E, Cuda> copy(context, std::ssize(elements));
  detail::transfer(context, elements.data(), copy.span().data(), elements.size() * sizeof(E));
  return copy;
}

}  // namespace

template <class T>
BlockDiagonal<T, Cuda>::BlockDiagonal(Context<Cuda>& context, const DiagonalBlocks<T>& blocks)
    : LinearOperator<T, Cuda>(context, blocks.rows(), blocks.rows()),
      blocks_(sent(context, blocks.blocks)),
      block_of_row_(sent(context, blocks_of_rows(blocks.blocks))),
      values_(sent(context, blocks.values)),
      low_(sent(context, blocks.low)) {}

template <class T>
void BlockDiagonal<T, Cuda>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  detail::block_diagonal_apply(this->context(), this->rows(), block_of_row_.span().data(),
                               blocks_.span().data(), values_.span().data(), low_.span().data(),
                               x.data(), y.data());
}

template class BlockDiagonal<double, Cuda>;
template class BlockDiagonal<float, Cuda>;

}  // namespace tansolve
