// SPDX-License-Identifier: BSD-3-Clause
// Blocks of vectors on the suspicious backend: the serial reference.
#include <tansolve/kernels/block_kernels.hpp>
#include <tansolve/kernels/reference/block_kernels.hpp>

namespace tansolve::detail {

template <class T>
void gram(Context<Checked>&, std::int64_t n, std::int64_t j, const T* X, std::int64_t k, const T* Y,
          double* G) {
  reference::gram(n, j, X, k, Y, G);
}

template <class T>
void combine(Context<Checked>&, std::int64_t n, std::int64_t j, const T* X, const T* C, T b,
             std::int64_t k, T* Y) {
  reference::combine(n, j, X, C, b, k, Y);
}

TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_BLOCK_KERNELS(Checked, float)

}  // namespace tansolve::detail
