// SPDX-License-Identifier: BSD-3-Clause
// Products with diagonal blocks on the host backends: OpenMP over blocks.
#include <tansolve/kernels/block_diagonal.hpp>
#include <tansolve/kernels/contract.hpp>

#include <algorithm>
#include <array>

namespace tansolve {
namespace {

/// Column by column, which adds to each row in the order of its columns.
template <class E, class T>
void block_product(const DiagonalBlock& block, const E* elements, const T* x, T* y) {
  std::array<T, most_block_rows> sums;
  std::fill_n(sums.begin(), block.size, T(0));
  for (int j = 0; j < block.size; ++j)
    for (int i = 0; i < block.size; ++i)
      sums[i] += static_cast<T>(elements[j * block.size + i]) * x[j];
  std::copy_n(sums.begin(), block.size, y);
}

}  // namespace

template <class T, class B>
void BlockDiagonal<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  detail::count(this->context(), x.size() + y.size());
  const DiagonalBlocks<T>& X = *blocks_;
  const T* from = x.data();
  T* to = y.data();
  const auto count = std::ssize(X.blocks);
  constexpr std::int64_t worthwhile = 16384;  // rows, below which starting threads costs more
  const bool parallel = this->rows() >= worthwhile;
#pragma omp parallel for schedule(static) num_threads(this->context().threads()) if (parallel)
  for (std::int64_t b = 0; b < count; ++b) {
    const DiagonalBlock& block = X.blocks[b];
    if (block.low)
      block_product(block, X.low.data() + block.offset, from + block.first, to + block.first);
    else
      block_product(block, X.values.data() + block.offset, from + block.first, to + block.first);
  }
}

template class BlockDiagonal<double, Host>;
template class BlockDiagonal<float, Host>;
template class BlockDiagonal<double, Checked>;
template class BlockDiagonal<float, Checked>;

}  // namespace tansolve
