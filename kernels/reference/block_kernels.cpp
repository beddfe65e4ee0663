// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about blocks of vectors, three nested loops a function.
#include <tansolve/kernels/reference/block_kernels.hpp>

namespace tansolve::reference {

template <class T>
void gram(std::int64_t n, std::int64_t j, const T* X, std::int64_t k, const T* Y, double* G) {
  for (std::int64_t a = 0; a < j; ++a)
    for (std::int64_t c = 0; c < k; ++c) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(X[i + a * n]) * static_cast<double>(Y[i + c * n]);
      G[a + c * j] = sum;
    }
}

template <class T>
void combine(std::int64_t n, std::int64_t j, const T* X, const T* C, T b, std::int64_t k, T* Y) {
  for (std::int64_t c = 0; c < k; ++c)
    for (std::int64_t i = 0; i < n; ++i) {
      T sum = 0;
      for (std::int64_t a = 0; a < j; ++a) sum += C[a + c * j] * X[i + a * n];
      T& y = Y[i + c * n];
      y = b == 0 ? sum : sum + b * y;
    }
}

#define TANSOLVE_INSTANTIATE(T)                                                              \
  template void gram(std::int64_t, std::int64_t, const T*, std::int64_t, const T*, double*); \
  template void combine(std::int64_t, std::int64_t, const T*, const T*, T, std::int64_t, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
