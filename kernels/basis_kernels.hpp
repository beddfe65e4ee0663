// SPDX-License-Identifier: BSD-3-Clause
// The kernels of a basis over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/backend.hpp>
#include <tansolve/kernels/basis_view.hpp>

namespace tansolve::detail {

// Formulas: kernels/basis.hpp. T is double or float, S a storage type that is not wider. `partials`
// has basis_partials(context, n) elements for every vector of V, and one. basis_subtract_again
// returns whether it had to, where the host knows. available_memory is in bytes: what is left where
// the backend knows, else what there is at all.
#define TANSOLVE_DECLARE_BASIS_KERNELS(B)                                                         \
  std::int64_t basis_partials(const Context<B>& context, std::int64_t n);                         \
  std::int64_t available_memory(const Context<B>& context);                                       \
  template <class T, class S>                                                                     \
  void basis_store(Context<B>& context, std::int64_t n, const T* norm, T* w, S* v);               \
  template <class T, class S>                                                                     \
  void basis_project(Context<B>& context, const BasisView<S>& V, const T* w, T* h,                \
                     double* partials);                                                           \
  template <class T, class S>                                                                     \
  void basis_subtract_project(Context<B>& context, const BasisView<S>& V, const T* h, T* w, T* g, \
                              double* partials);                                                  \
  template <class T, class S>                                                                     \
  void basis_subtract(Context<B>& context, const BasisView<S>& V, const T* h, T* w, T* norm);     \
  template <class T, class S>                                                                     \
  bool basis_subtract_again(Context<B>& context, const BasisView<S>& V, const T* h, T* w, T* g,   \
                            T* norm, double* partials);                                           \
  template <class T, class S>                                                                     \
  void basis_combine(Context<B>& context, const BasisView<S>& V, const T* y, T* x);               \
  template <class T, class S>                                                                     \
  void basis_rotate(Context<B>& context, const BasisView<S>& V, std::int64_t k, const T* Q,       \
                    double* partials);
TANSOLVE_DECLARE_BASIS_KERNELS(Host)
TANSOLVE_DECLARE_BASIS_KERNELS(Checked)
TANSOLVE_DECLARE_BASIS_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_BASIS_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_BASIS_KERNELS(B, T, S)                                          \
  template void basis_store(Context<B>&, std::int64_t, const T*, T*, S*);                    \
  template void basis_project(Context<B>&, const BasisView<S>&, const T*, T*, double*);      \
  template void basis_subtract_project(Context<B>&, const BasisView<S>&, const T*, T*, T*,   \
                                       double*);                                             \
  template void basis_subtract(Context<B>&, const BasisView<S>&, const T*, T*, T*);          \
  template bool basis_subtract_again(Context<B>&, const BasisView<S>&, const T*, T*, T*, T*, \
                                     double*);                                               \
  template void basis_combine(Context<B>&, const BasisView<S>&, const T*, T*);               \
  template void basis_rotate(Context<B>&, const BasisView<S>&, std::int64_t, const T*, double*);

}  // namespace tansolve::detail
