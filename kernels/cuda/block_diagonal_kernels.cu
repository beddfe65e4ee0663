// SPDX-License-Identifier: BSD-3-Clause
// Products with diagonal blocks, one thread a row, compiled without contraction to FMA.
#include <tansolve/kernels/cuda/block_diagonal.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

namespace tansolve::detail {
namespace {

template <class E, class T>
__device__ T row_sum(const E* column, int size, const T* x) {
  T sum = 0;
  for (int j = 0; j < size; ++j, column += size) sum += static_cast<T>(*column) * x[j];
  return sum;
}

template <class T>
__global__ void block_diagonal_kernel(std::int64_t rows,
                                      const std::int32_t* __restrict__ block_of_row,
                                      const DiagonalBlock* __restrict__ blocks,
                                      const T* __restrict__ values, const float* __restrict__ low,
                                      const T* __restrict__ x, T* __restrict__ y) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const DiagonalBlock block = blocks[block_of_row[row]];
  const std::int64_t at = block.offset + row - block.first;
  y[row] = block.low ? row_sum(low + at, block.size, x + block.first)
                     : row_sum(values + at, block.size, x + block.first);
}

}  // namespace

template <class T>
void block_diagonal_apply(Context<Cuda>& context, std::int64_t rows,
                          const std::int32_t* block_of_row, const DiagonalBlock* blocks,
                          const T* values, const float* low, const T* x, T* y) {
  if (rows == 0) return;
  constexpr int threads = 128;
  const auto grid = static_cast<unsigned>((rows + threads - 1) / threads);
  block_diagonal_kernel<<<grid, threads, 0, context.stream()>>>(rows, block_of_row, blocks, values,
                                                                low, x, y);
  check_launch("the product with diagonal blocks");
}

#define TANSOLVE_INSTANTIATE(T)                                                         \
  template void block_diagonal_apply(Context<Cuda>&, std::int64_t, const std::int32_t*, \
                                     const DiagonalBlock*, const T*, const float*, const T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
