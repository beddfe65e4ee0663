// SPDX-License-Identifier: BSD-3-Clause
// The vector work of Lanczos methods on the suspicious backend: the serial reference.
#include <tansolve/kernels/lanczos_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>
#include <tansolve/kernels/reference/lanczos_kernels.hpp>

namespace tansolve::detail {

template <class T>
void lanczos_step(Context<Checked>&, std::int64_t n, const T* alpha, const T* beta, const T* p,
                  const T* u, T* u_old, T* norm) {
  reference::lanczos_step(n, *alpha, *beta, p, u, u_old);
  *norm = reference::norm2(n, u_old);
}

template <class T>
void divide(Context<Checked>&, std::int64_t n, const T* a, T* x) {
  reference::divide(n, *a, x);
}

template <class T>
void minres_step(Context<Checked>&, std::int64_t n, const MinresScalars<T>& s, const T* v,
                 const T* d, T* d_old, T* x, T* norm) {
  reference::minres_step(n, s, v, d, d_old, x);
  *norm = reference::norm2(n, d_old);
}

TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Checked, float)

}  // namespace tansolve::detail
