// SPDX-License-Identifier: BSD-3-Clause
// The step of a polynomial, one thread an element, compiled without contraction to FMA.
#include <tansolve/kernels/cuda/polynomial_step.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

namespace tansolve::detail {
namespace {

template <class T>
__global__ void polynomial_kernel(std::int64_t n, T a, const T* __restrict__ d,
                                  const T* __restrict__ r, const T* __restrict__ w, T b,
                                  const T* __restrict__ z, T c, T* __restrict__ z_old) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T next = a * (d[i] * (r[i] - w[i])) + b * z[i];
  z_old[i] = c == T(0) ? next : next + c * z_old[i];
}

}  // namespace

template <class T>
void polynomial_step(Context<Cuda>& context, std::int64_t n, T a, const T* d, const T* r,
                     const T* w, T b, const T* z, T c, T* z_old) {
  if (n == 0) return;
  constexpr int threads = 256;
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  polynomial_kernel<<<blocks, threads, 0, context.stream()>>>(n, a, d, r, w, b, z, c, z_old);
  check_launch("the step of a polynomial");
}

#define TANSOLVE_INSTANTIATE(T)                                                                   \
  template void polynomial_step(Context<Cuda>&, std::int64_t, T, const T*, const T*, const T*, T, \
                                const T*, T, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
