// SPDX-License-Identifier: BSD-3-Clause
// The plain CSR product, one thread a row, compiled without contraction to FMA.
#include <tansolve/kernels/cuda/csr_kernels.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

namespace tansolve::detail {
namespace {

template <class T>
__global__ void csr_kernel(std::int64_t rows, const std::int64_t* offsets,
                           const std::int32_t* columns, const T* values, T alpha, const T* x,
                           T beta, T* y) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[row];
}

}  // namespace

template <class T>
void csr_apply(Context<Cuda>& context, std::int64_t rows, const std::int64_t* offsets,
               const std::int32_t* columns, const T* values, T alpha, const T* x, T beta, T* y) {
  if (rows == 0) return;
  constexpr int threads = 128;
  const auto blocks = static_cast<unsigned>((rows + threads - 1) / threads);
  csr_kernel<<<blocks, threads, 0, context.stream()>>>(rows, offsets, columns, values, alpha, x,
                                                       beta, y);
  check_launch("the csr product");
}

#define TANSOLVE_INSTANTIATE(T)                                                                   \
  template void csr_apply(Context<Cuda>&, std::int64_t, const std::int64_t*, const std::int32_t*, \
                          const T*, T, const T*, T, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
