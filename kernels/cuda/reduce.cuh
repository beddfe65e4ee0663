// SPDX-License-Identifier: BSD-3-Clause
// Sums over a grid in a fixed order, finished by the last block to arrive.
#pragma once

#include <tansolve/kernels/cuda/runtime.cuh>

namespace tansolve::detail {

/// `count` sums side by side.
template <int count>
struct Sums {
  double of[count] = {};
};

/// The sums of a block of `threads`, whole warps, in thread 0. The order is fixed.
template <int threads, int count>
__device__ Sums<count> block_sums(Sums<count> sums) {
  __shared__ double warps[count][threads / 32];
#pragma unroll
  for (int s = 0; s < count; ++s) {
    for (int offset = 16; offset > 0; offset /= 2)
      sums.of[s] += __shfl_down_sync(~0u, sums.of[s], offset);
    if (threadIdx.x % 32 == 0) warps[s][threadIdx.x / 32] = sums.of[s];
  }
  __syncthreads();
#pragma unroll
  for (int s = 0; s < count; ++s) {
    constexpr int n = threads / 32;
    if (threadIdx.x < 32) {
      double sum = threadIdx.x < n ? warps[s][threadIdx.x] : 0.0;
      for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
      sums.of[s] = sum;
    }
  }
  __syncthreads();
  return sums;
}

/// Adds up the sums of all blocks of the grid. Thread 0 of the last block to arrive calls
/// finish(total); whichever block that is, it adds the others' in the order of their numbers.
template <int threads, int count, class Finish>
__device__ void grid_sums(const Sums<count>& of_thread, double* partials, unsigned* ticket,
                          Finish finish) {
  __shared__ bool last;
  const Sums<count> of_block = block_sums<threads>(of_thread);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int s = 0; s < count; ++s) partials[s * gridDim.x + blockIdx.x] = of_block.of[s];
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // and 0 again after the last
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  Sums<count> total;
#pragma unroll
  for (int s = 0; s < count; ++s)
    for (unsigned b = threadIdx.x; b < gridDim.x; b += threads)
      total.of[s] += __ldcg(partials + s * gridDim.x + b);
  total = block_sums<threads>(total);
  if (threadIdx.x == 0) finish(total);
}

}  // namespace tansolve::detail
