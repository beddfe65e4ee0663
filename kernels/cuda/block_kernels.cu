// SPDX-License-Identifier: BSD-3-Clause
// Blocks of vectors on the GPU: a thread takes a row of a tile of columns. Compiled without
// contraction to FMA: elementwise results have the bits of the host.
#include <tansolve/kernels/block_kernels.hpp>
#include <tansolve/kernels/cuda/tiles.cuh>

#include <algorithm>

namespace tansolve::detail {
namespace {

constexpr int sums_count = gram_tile * gram_tile;

/// Blocks whose sums the context's scratch holds: a constant, so that the order of sums is one.
constexpr int gram_blocks = reduction_blocks * partials_per_block / sums_count;

/// The sums of a tile of at most gram_tile columns on either side.
template <class T>
__global__ void __launch_bounds__(tile_threads)
    gram_kernel(std::int64_t n, int rows, const T* __restrict__ X, int cols,
                const T* __restrict__ Y, double* __restrict__ G, std::int64_t leading,
                double* partials, unsigned* ticket) {
  Sums<sums_count> sums;
  for (std::int64_t i = std::int64_t{blockIdx.x} * tile_threads + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * tile_threads) {
    double x[gram_tile], y[gram_tile];
#pragma unroll
    for (int a = 0; a < gram_tile; ++a) x[a] = a < rows ? X[a * n + i] : T(0);
#pragma unroll
    for (int c = 0; c < gram_tile; ++c) y[c] = c < cols ? Y[c * n + i] : T(0);
#pragma unroll
    for (int c = 0; c < gram_tile; ++c)
#pragma unroll
      for (int a = 0; a < gram_tile; ++a)
        sums.of[a + c * gram_tile] = fma(x[a], y[c], sums.of[a + c * gram_tile]);
  }
  grid_sums<tile_threads>(sums, partials, ticket, [=](const Sums<sums_count>& total) {
    for (int c = 0; c < cols; ++c)
      for (int a = 0; a < rows; ++a) G[a + c * leading] = total.of[a + c * gram_tile];
  });
}

/// A tile of at most combine_tile columns of Y.
template <class T>
__global__ void __launch_bounds__(tile_threads)
    combine_kernel(std::int64_t n, std::int64_t j, const T* __restrict__ X, const T* __restrict__ C,
                   T b, int cols, T* __restrict__ Y) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * tile_threads + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * tile_threads) {
    T sum[combine_tile] = {};
    for (std::int64_t a = 0; a < j; ++a) {
      const T x = X[a * n + i];
#pragma unroll
      for (int c = 0; c < combine_tile; ++c)
        if (c < cols) sum[c] += C[a + c * j] * x;
    }
#pragma unroll
    for (int c = 0; c < combine_tile; ++c)
      if (c < cols) {
        T& y = Y[c * n + i];
        y = b == 0 ? sum[c] : sum[c] + b * y;
      }
  }
}

int blocks_of(std::int64_t n, int most) {
  return static_cast<int>(std::clamp<std::int64_t>((n + tile_threads - 1) / tile_threads, 1, most));
}

}  // namespace

template <class T>
void gram(Context<Cuda>& context, std::int64_t n, std::int64_t j, const T* X, std::int64_t k,
          const T* Y, double* G) {
  const auto& [partials, ticket, staging] = context.scratch();
  for (std::int64_t c = 0; c < k; c += gram_tile)
    for (std::int64_t a = 0; a < j; a += gram_tile)
      gram_kernel<<<blocks_of(n, gram_blocks), tile_threads, 0, context.stream()>>>(
          n, static_cast<int>(std::min(gram_tile, j - a)), X + a * n,
          static_cast<int>(std::min(gram_tile, k - c)), Y + c * n, G + a + c * j, j, partials,
          ticket);
  check_launch("gram");
}

template <class T>
void combine(Context<Cuda>& context, std::int64_t n, std::int64_t j, const T* X, const T* C, T b,
             std::int64_t k, T* Y) {
  for (std::int64_t c = 0; c < k; c += combine_tile)
    combine_kernel<<<blocks_of(n, 1 << 16), tile_threads, 0, context.stream()>>>(
        n, j, X, C + c * j, b, static_cast<int>(std::min(combine_tile, k - c)), Y + c * n);
  check_launch("combine");
}

TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Cuda, double)
TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Cuda, float)

}  // namespace tansolve::detail
