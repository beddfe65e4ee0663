// SPDX-License-Identifier: BSD-3-Clause
// A basis on the suspicious backend: the serial reference.
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/reference/basis_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <unistd.h>

namespace tansolve::detail {

std::int64_t basis_partials(const Context<Checked>&, std::int64_t) {
  return 0;
}

std::int64_t available_memory(const Context<Checked>&) {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

template <class T, class S>
void basis_store(Context<Checked>&, std::int64_t n, const T* norm, T* w, S* v) {
  reference::basis_store(n, *norm, w, v);
}

template <class T, class S>
void basis_project(Context<Checked>&, const BasisView<S>& V, const T* w, T* h, double*) {
  reference::basis_project(V, w, h);
}

template <class T, class S>
void basis_subtract_project(Context<Checked>&, const BasisView<S>& V, const T* h, T* w, T* g,
                            double*) {
  reference::basis_subtract(V, h, w);
  reference::basis_project(V, w, g);
}

template <class T, class S>
void basis_subtract(Context<Checked>&, const BasisView<S>& V, const T* h, T* w, T* norm) {
  reference::basis_subtract(V, h, w);
  *norm = reference::norm2(V.n, w);
}

template <class T, class S>
bool basis_subtract_again(Context<Checked>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                          T* norm, double* partials) {
  const bool again = *norm < reference::norm2(V.k, h);
  reference::fill(V.k, T(0), g);
  if (!again) return false;
  basis_project(context, V, w, g, partials);
  basis_subtract(context, V, g, w, norm);
  return true;
}

template <class T, class S>
void basis_combine(Context<Checked>&, const BasisView<S>& V, const T* y, T* x) {
  reference::basis_combine(V, y, x);
}

template <class T, class S>
void basis_rotate(Context<Checked>&, const BasisView<S>& V, std::int64_t k, const T* Q, double*) {
  reference::basis_rotate(V, k, Q);
}

#define TANSOLVE_INSTANTIATE(T, S) TANSOLVE_INSTANTIATE_BASIS_KERNELS(Checked, T, S)
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
