// SPDX-License-Identifier: BSD-3-Clause
// Random vectors on the GPU. Compiled without contraction to FMA: they have the bits of the host.
#include <tansolve/kernels/cuda/tiles.cuh>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/kernels/random_vector_kernels.hpp>

namespace tansolve::detail {
namespace {

template <class T>
__global__ void __launch_bounds__(tile_threads)
    random_kernel(std::int64_t n, std::uint64_t state, T* __restrict__ x) {
  T element[per_thread];
  for_each_element(
      n, [&](std::int64_t i, int u) { element[u] = static_cast<T>(random_element(state, i)); },
      [&](std::int64_t i, int u) { x[i] = element[u]; });
}

}  // namespace

template <class T>
void fill_random(Context<Cuda>& context, std::int64_t n, std::uint64_t state, T* x) {
  random_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, state, x);
  check_launch("fill_random");
}

template void fill_random(Context<Cuda>&, std::int64_t, std::uint64_t, double*);
template void fill_random(Context<Cuda>&, std::int64_t, std::uint64_t, float*);

}  // namespace tansolve::detail
