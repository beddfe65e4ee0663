// SPDX-License-Identifier: BSD-3-Clause
// The kernels of least-squares methods over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/bidiagonal.hpp>

namespace tansolve::detail {

// Formulas: kernels/bidiagonal.hpp. T is double or float.
#define TANSOLVE_DECLARE_BIDIAGONAL_KERNELS(B)                                                   \
  template <class T>                                                                             \
  void bidiagonal_step(Context<B>& context, std::int64_t n, const T* a, const T* p, T* u,        \
                       T* norm);                                                                 \
  template <class T>                                                                             \
  void lsqr_step(Context<B>& context, std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x, \
                 T* norm);                                                                       \
  template <class T>                                                                             \
  void lsmr_step(Context<B>& context, std::int64_t n, const LsmrScalars<T>& s, T* v, T* h,       \
                 T* hbar, T* x);
TANSOLVE_DECLARE_BIDIAGONAL_KERNELS(Host)
TANSOLVE_DECLARE_BIDIAGONAL_KERNELS(Checked)
TANSOLVE_DECLARE_BIDIAGONAL_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_BIDIAGONAL_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(B, T)                                        \
  template void bidiagonal_step(Context<B>&, std::int64_t, const T*, const T*, T*, T*);      \
  template void lsqr_step(Context<B>&, std::int64_t, const LsqrScalars<T>&, T*, T*, T*, T*); \
  template void lsmr_step(Context<B>&, std::int64_t, const LsmrScalars<T>&, T*, T*, T*, T*);

}  // namespace tansolve::detail
