// SPDX-License-Identifier: BSD-3-Clause
// The kernels of BiCGSTAB over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/bicgstab_numbers.hpp>

namespace tansolve::detail {

// Formulas: kernels/bicgstab.hpp. T is double or float; z is null where it is r.
#define TANSOLVE_DECLARE_BICGSTAB_KERNELS(B)                                                    \
  template <class T>                                                                            \
  void dot_and_norm(Context<B>& context, std::int64_t n, const T* x, const T* y, T* xy,         \
                    T* y_norm);                                                                 \
  template <class T>                                                                            \
  void bicgstab_half_step(Context<B>& context, std::int64_t n, const BicgstabPointers<T>& step, \
                          const T* v, T* r);                                                    \
  template <class T>                                                                            \
  void bicgstab_step(Context<B>& context, std::int64_t n, const BicgstabPointers<T>& step,      \
                     const T* y, const T* z, const T* t, const T* r0, T* x, T* r, T* rho_next,  \
                     T* r_norm_next);                                                           \
  template <class T>                                                                            \
  void bicgstab_direction(Context<B>& context, std::int64_t n, const BicgstabPointers<T>& step, \
                          const T* rho_next, const T* r_norm_next, const T* r, const T* v, T* p);
TANSOLVE_DECLARE_BICGSTAB_KERNELS(Host)
TANSOLVE_DECLARE_BICGSTAB_KERNELS(Checked)
TANSOLVE_DECLARE_BICGSTAB_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_BICGSTAB_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(B, T)                                            \
  template void dot_and_norm(Context<B>&, std::int64_t, const T*, const T*, T*, T*);           \
  template void bicgstab_half_step(Context<B>&, std::int64_t, const BicgstabPointers<T>&,      \
                                   const T*, T*);                                              \
  template void bicgstab_step(Context<B>&, std::int64_t, const BicgstabPointers<T>&, const T*, \
                              const T*, const T*, const T*, T*, T*, T*, T*);                   \
  template void bicgstab_direction(Context<B>&, std::int64_t, const BicgstabPointers<T>&,      \
                                   const T*, const T*, const T*, const T*, T*);

}  // namespace tansolve::detail
