// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of IDR(s), one loop a vector.
#include <tansolve/kernels/reference/idr_kernels.hpp>

namespace tansolve::reference {

template <class T>
void idr_rest(std::int64_t n, int k, int s, const double* c, const T* const* g, const T* r, T* v) {
  for (std::int64_t i = 0; i < n; ++i) v[i] = r[i];
  for (int j = k; j < s; ++j)
    for (std::int64_t i = 0; i < n; ++i) v[i] = v[i] - static_cast<T>(c[j]) * g[j][i];
}

template <class T>
void idr_direction(std::int64_t n, int k, int s, double omega, const double* c, const T* z,
                   T* const* u) {
  for (std::int64_t i = 0; i < n; ++i)
    u[k][i] = static_cast<T>(omega) * z[i] + static_cast<T>(c[k]) * u[k][i];
  for (int j = k + 1; j < s; ++j)
    for (std::int64_t i = 0; i < n; ++i) u[k][i] = u[k][i] + static_cast<T>(c[j]) * u[j][i];
}

template <class T>
void idr_step(std::int64_t n, int k, const double* a, double beta, double sigma, T* const* g,
              T* const* u, T* x, T* r) {
  for (int j = 0; j < k; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      g[k][i] = g[k][i] - static_cast<T>(a[j]) * g[j][i];
      u[k][i] = u[k][i] - static_cast<T>(a[j]) * u[j][i];
    }
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] + static_cast<T>(sigma * beta) * u[k][i];
  for (std::int64_t i = 0; i < n; ++i) r[i] = r[i] - static_cast<T>(beta) * g[k][i];
}

template <class T>
void idr_last_step(std::int64_t n, double omega, double sigma, const T* y, const T* t, T* x, T* r) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] + static_cast<T>(sigma * omega) * y[i];
  for (std::int64_t i = 0; i < n; ++i) r[i] = r[i] - static_cast<T>(omega) * t[i];
}

#define TANSOLVE_INSTANTIATE(T)                                                                    \
  template void idr_rest(std::int64_t, int, int, const double*, const T* const*, const T*, T*);    \
  template void idr_direction(std::int64_t, int, int, double, const double*, const T*, T* const*); \
  template void idr_step(std::int64_t, int, const double*, double, double, T* const*, T* const*,   \
                         T*, T*);                                                                  \
  template void idr_last_step(std::int64_t, double, double, const T*, const T*, T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
