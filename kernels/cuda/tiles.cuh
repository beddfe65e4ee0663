// SPDX-License-Identifier: BSD-3-Clause
// Elementwise kernels over tiles: several elements of a thread are in flight at once.
#pragma once

#include <tansolve/kernels/cuda/reduce.cuh>

#include <algorithm>
#include <cstdint>

namespace tansolve::detail {

inline constexpr int tile_threads = 256;
inline constexpr int per_thread = 4;  // elements in flight a thread
inline constexpr int tile_size = tile_threads * per_thread;

/// The blocks of a kernel over n elements, a function of n alone.
inline int tile_blocks(std::int64_t n) {
  return static_cast<int>(
      std::clamp<std::int64_t>((n + tile_size - 1) / tile_size, 1, reduction_blocks));
}

/// Calls load(i, u) for the elements i of this thread in a tile, then store(i, u) for all of them.
template <class Load, class Store>
__device__ void for_each_element(std::int64_t n, Load load, Store store) {
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile_size + threadIdx.x; first < n;
       first += std::int64_t{gridDim.x} * tile_size) {
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * tile_threads; i < n) load(i, u);
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * tile_threads; i < n) store(i, u);
  }
}

}  // namespace tansolve::detail
