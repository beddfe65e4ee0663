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
void minres_step(Context<Checked>&, std::int64_t n, const MinresPointers<T>& step, const T* v,
                 const T* d, T* d_old, T* x, T* u_norm) {
  const MinresState state = step.advance();
  *u_norm = step.divisor();
  *step.next = state;
  if (state.end != MinresEnd::none) return;
  reference::minres_step(n, step.scalars(state), v, d, d_old, x);
  step.next->d_norm = reference::norm2(n, d_old);
}

template <class T>
void minres_residual(Context<Checked>&, std::int64_t n, const MinresState* state, const T* u, T* q,
                     T* norm) {
  reference::axpby(n, static_cast<T>(-state->c), u, static_cast<T>(state->s), q);
  *norm = reference::norm2(n, q);
}

TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Checked, float)

}  // namespace tansolve::detail
