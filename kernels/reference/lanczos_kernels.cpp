// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of Lanczos methods, one loop a function.
#include <tansolve/kernels/reference/lanczos_kernels.hpp>

#include <cmath>

namespace tansolve::reference {

template <class T>
void lanczos_step(std::int64_t n, T alpha, T beta, const T* p, const T* u, T* u_old) {
  for (std::int64_t i = 0; i < n; ++i) u_old[i] = p[i] - alpha * u[i] - beta * u_old[i];
}

template <class T>
void divide(std::int64_t n, T a, T* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = a == 0 || !std::isfinite(a) ? T(0) : x[i] / a;
}

template <class T>
void minres_step(std::int64_t n, const detail::MinresScalars<T>& s, const T* v, const T* d,
                 T* d_old, T* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    d_old[i] = (v[i] - s.delta * d[i] - s.epsilon * d_old[i]) / s.gamma;
    x[i] += s.phi * d_old[i];
  }
}

#define TANSOLVE_INSTANTIATE(T)                                                                    \
  template void lanczos_step(std::int64_t, T, T, const T*, const T*, T*);                          \
  template void divide(std::int64_t, T, T*);                                                       \
  template void minres_step(std::int64_t, const detail::MinresScalars<T>&, const T*, const T*, T*, \
                            T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
