// SPDX-License-Identifier: BSD-3-Clause
// The vector work of least-squares methods on the suspicious backend: the serial reference.
#include <tansolve/kernels/bidiagonal_kernels.hpp>
#include <tansolve/kernels/reference/bidiagonal_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

namespace tansolve::detail {

template <class T>
void bidiagonal_step(Context<Checked>&, std::int64_t n, const T* a, const T* p, T* u, T* norm) {
  reference::bidiagonal_step(n, *a, p, u);
  *norm = reference::norm2(n, u);
}

template <class T>
void lsqr_step(Context<Checked>&, std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x,
               T* norm) {
  reference::lsqr_step(n, s, v, w, x);
  *norm = reference::norm2(n, w);
}

template <class T>
void lsmr_step(Context<Checked>&, std::int64_t n, const LsmrScalars<T>& s, T* v, T* h, T* hbar,
               T* x) {
  reference::lsmr_step(n, s, v, h, hbar, x);
}

TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Checked, float)

}  // namespace tansolve::detail
