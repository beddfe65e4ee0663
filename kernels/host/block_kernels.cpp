// SPDX-License-Identifier: BSD-3-Clause
// Blocks of vectors on the host: OpenMP over chunks, and within them pieces that stay in L1.
#include <tansolve/kernels/block_kernels.hpp>
#include <tansolve/kernels/host/chunks.hpp>

#include <algorithm>
#include <array>

namespace tansolve::detail {
namespace {

constexpr std::int64_t tile = gram_tile;
using TileSums = std::array<double, tile * tile>;

/// The sums of x_a y_c over first <= i < last for a tile of columns, of which the missing ones
/// repeat the last: element i goes to lane (i - first) mod 4, and the lanes are added in pairs.
template <class T>
TileSums tile_sums(const std::array<const T*, tile>& x, const std::array<const T*, tile>& y,
                   std::int64_t first, std::int64_t last) {
  constexpr std::int64_t lanes = 4;
  double sum[tile][tile][lanes] = {};
  const auto add = [&](std::int64_t i, std::int64_t lane) {
    for (std::int64_t a = 0; a < tile; ++a)
      for (std::int64_t c = 0; c < tile; ++c)
        sum[a][c][lane] += static_cast<double>(x[a][i]) * static_cast<double>(y[c][i]);
  };
  std::int64_t i = first;
  for (; i + lanes <= last; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) add(i + lane, lane);
  for (std::int64_t lane = 0; i + lane < last; ++lane) add(i + lane, lane);
  TileSums sums;
  for (std::int64_t a = 0; a < tile; ++a)
    for (std::int64_t c = 0; c < tile; ++c)
      sums[a + c * tile] = (sum[a][c][0] + sum[a][c][1]) + (sum[a][c][2] + sum[a][c][3]);
  return sums;
}

template <class T>
std::array<const T*, tile> columns(const T* X, std::int64_t n, std::int64_t first,
                                   std::int64_t count) {
  std::array<const T*, tile> result;
  for (std::int64_t a = 0; a < tile; ++a) result[a] = X + std::min(first + a, count - 1) * n;
  return result;
}

}  // namespace

template <class T>
void gram(Context<Host>& context, std::int64_t n, std::int64_t j, const T* X, std::int64_t k,
          const T* Y, double* G) {
  const Chunks chunks(n);
  std::array<TileSums, Chunks::max_count> partial;  // 128 KiB
  for (std::int64_t c0 = 0; c0 < k; c0 += tile)
    for (std::int64_t a0 = 0; a0 < j; a0 += tile) {
      const auto x = columns(X, n, a0, j), y = columns(Y, n, c0, k);
#pragma omp parallel for schedule(static) \
    num_threads(context.threads()) if (chunks.count >= parallel_chunks)
      for (std::int64_t p = 0; p < chunks.count; ++p)
        partial[p] = tile_sums<T>(x, y, chunks.first(p), chunks.last(p));
      for (std::int64_t c = c0; c < std::min(c0 + tile, k); ++c)
        for (std::int64_t a = a0; a < std::min(a0 + tile, j); ++a) {
          double sum = 0;
          for (std::int64_t p = 0; p < chunks.count; ++p)
            sum += partial[p][a - a0 + (c - c0) * tile];
          G[a + c * j] = sum;
        }
    }
}

template <class T>
void combine(Context<Host>& context, std::int64_t n, std::int64_t j, const T* X, const T* C, T b,
             std::int64_t k, T* Y) {
  constexpr std::int64_t piece = 256;  // 2 KiB of each column
  for_chunks(context, n, [=](std::int64_t begin, std::int64_t end) {
    T sum[piece];
    for (std::int64_t first = begin; first < end; first += piece) {
      const std::int64_t count = std::min(piece, end - first);
      for (std::int64_t c = 0; c < k; ++c) {
        std::fill_n(sum, count, T(0));
        for (std::int64_t a = 0; a < j; ++a) {
          const T factor = C[a + c * j];
          const T* x = X + a * n + first;
          for (std::int64_t i = 0; i < count; ++i) sum[i] += factor * x[i];
        }
        T* y = Y + c * n + first;
        for (std::int64_t i = 0; i < count; ++i) y[i] = b == 0 ? sum[i] : sum[i] + b * y[i];
      }
    }
  });
}

TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Host, double)
TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Host, float)

}  // namespace tansolve::detail
