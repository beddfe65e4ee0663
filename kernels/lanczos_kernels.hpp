// SPDX-License-Identifier: BSD-3-Clause
// The kernels of Lanczos methods over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/lanczos.hpp>

namespace tansolve::detail {

// Formulas: kernels/lanczos.hpp. T is double or float.
#define TANSOLVE_DECLARE_LANCZOS_KERNELS(B)                                                    \
  template <class T>                                                                           \
  void lanczos_step(Context<B>& context, std::int64_t n, const T* alpha, const T* beta,        \
                    const T* p, const T* u, T* u_old, T* norm);                                \
  template <class T>                                                                           \
  void divide(Context<B>& context, std::int64_t n, const T* a, T* x);                          \
  template <class T>                                                                           \
  void minres_step(Context<B>& context, std::int64_t n, const MinresScalars<T>& s, const T* v, \
                   const T* d, T* d_old, T* x, T* norm);
TANSOLVE_DECLARE_LANCZOS_KERNELS(Host)
TANSOLVE_DECLARE_LANCZOS_KERNELS(Checked)
TANSOLVE_DECLARE_LANCZOS_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_LANCZOS_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(B, T)                                              \
  template void lanczos_step(Context<B>&, std::int64_t, const T*, const T*, const T*, const T*, \
                             T*, T*);                                                           \
  template void divide(Context<B>&, std::int64_t, const T*, T*);                                \
  template void minres_step(Context<B>&, std::int64_t, const MinresScalars<T>&, const T*,       \
                            const T*, T*, T*, T*);

}  // namespace tansolve::detail
