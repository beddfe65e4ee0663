// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of least-squares methods, one loop a function.
#include <tansolve/kernels/reference/bidiagonal_kernels.hpp>

#include <cmath>

namespace tansolve::reference {

template <class T>
void bidiagonal_step(std::int64_t n, T a, const T* p, T* u) {
  for (std::int64_t i = 0; i < n; ++i) u[i] = p[i] - a * u[i];
}

template <class T>
void lsqr_step(std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    v[i] = s.alpha == 0 || !std::isfinite(s.alpha) ? T(0) : v[i] / s.alpha;
    x[i] += s.step * w[i];
    w[i] = v[i] - s.direction * w[i];
  }
}

template <class T>
void lsmr_step(std::int64_t n, const LsmrScalars<T>& s, T* v, T* h, T* hbar, T* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    hbar[i] = h[i] - s.hbar * hbar[i];
    x[i] += s.step * hbar[i];
    v[i] = s.alpha == 0 || !std::isfinite(s.alpha) ? T(0) : v[i] / s.alpha;
    h[i] = v[i] - s.direction * h[i];
  }
}

#define TANSOLVE_INSTANTIATE(T)                                             \
  template void bidiagonal_step(std::int64_t, T, const T*, T*);             \
  template void lsqr_step(std::int64_t, const LsqrScalars<T>&, T*, T*, T*); \
  template void lsmr_step(std::int64_t, const LsmrScalars<T>&, T*, T*, T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
