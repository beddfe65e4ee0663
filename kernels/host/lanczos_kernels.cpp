// SPDX-License-Identifier: BSD-3-Clause
// The vector work of Lanczos methods on the host: OpenMP over chunks.
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>
#include <tansolve/kernels/host/take_root.hpp>
#include <tansolve/kernels/lanczos_kernels.hpp>

#include <cmath>

namespace tansolve::detail {

template <class T>
void lanczos_step(Context<Host>& context, std::int64_t n, const T* alpha, const T* beta, const T* p,
                  const T* u, T* u_old, T* norm) {
  const T a = *alpha, b = *beta;
  const double sum = sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) u_old[i] = p[i] - a * u[i] - b * u_old[i];
    return chunk_dot(u_old, u_old, first, last);
  });
  take_root(context, sum, n, u_old, norm);
}

template <class T>
void divide(Context<Host>& context, std::int64_t n, const T* a, T* x) {
  const T divisor = *a;
  const bool possible = divisor != 0 && std::isfinite(divisor);
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) x[i] = possible ? x[i] / divisor : T(0);
  });
}

template <class T>
void minres_step(Context<Host>& context, std::int64_t n, const MinresPointers<T>& step, const T* v,
                 const T* d, T* d_old, T* x, T* u_norm) {
  const MinresState state = step.advance();
  *u_norm = step.divisor();
  *step.next = state;
  if (state.end != MinresEnd::none) return;
  const MinresScalars<T> s = step.scalars(state);
  const double sum = sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const T next = (v[i] - s.delta * d[i] - s.epsilon * d_old[i]) / s.gamma;
      d_old[i] = next;
      x[i] += s.phi * next;
    }
    return chunk_dot(d_old, d_old, first, last);
  });
  T norm;
  take_root(context, sum, n, d_old, &norm);
  step.next->d_norm = norm;
}

template <class T>
void minres_residual(Context<Host>& context, std::int64_t n, const MinresState* state, const T* u,
                     T* q, T* norm) {
  const T along_u = static_cast<T>(-state->c), along_q = static_cast<T>(state->s);
  const double sum = sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) q[i] = along_u * u[i] + along_q * q[i];
    return chunk_dot(q, q, first, last);
  });
  take_root(context, sum, n, q, norm);
}

TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Host, double)
TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Host, float)

}  // namespace tansolve::detail
