// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of BiCGSTAB, one loop a function.
#include <tansolve/kernels/reference/bicgstab_kernels.hpp>

namespace tansolve::reference {

template <class T>
void bicgstab_half_step(std::int64_t n, double alpha, const T* v, T* r) {
  for (std::int64_t i = 0; i < n; ++i) r[i] = r[i] - static_cast<T>(alpha) * v[i];
}

template <class T>
void bicgstab_step(std::int64_t n, double alpha, double omega, T scale, const T* y, const T* z,
                   const T* t, T* x, T* r) {
  const T along_y = static_cast<T>(scale * alpha), along_z = static_cast<T>(scale * omega);
  for (std::int64_t i = 0; i < n; ++i) x[i] = along_y * y[i] + along_z * z[i] + x[i];
  for (std::int64_t i = 0; i < n; ++i) r[i] = r[i] - static_cast<T>(omega) * t[i];
}

template <class T>
void bicgstab_direction(std::int64_t n, double beta, double omega, const T* r, const T* v, T* p) {
  const T along_v = static_cast<T>(-beta * omega), along_p = static_cast<T>(beta);
  for (std::int64_t i = 0; i < n; ++i) p[i] = r[i] + along_v * v[i] + along_p * p[i];
}

#define TANSOLVE_INSTANTIATE(T)                                                                  \
  template void bicgstab_half_step(std::int64_t, double, const T*, T*);                          \
  template void bicgstab_step(std::int64_t, double, double, T, const T*, const T*, const T*, T*, \
                              T*);                                                               \
  template void bicgstab_direction(std::int64_t, double, double, const T*, const T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
