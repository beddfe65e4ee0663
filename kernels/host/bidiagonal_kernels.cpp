// SPDX-License-Identifier: BSD-3-Clause
// The vector work of least-squares methods on the host: OpenMP over chunks.
#include <tansolve/kernels/bidiagonal_kernels.hpp>
#include <tansolve/kernels/host/take_root.hpp>

#include <cmath>

namespace tansolve::detail {

template <class T>
void bidiagonal_step(Context<Host>& context, std::int64_t n, const T* a, const T* p, T* u,
                     T* norm) {
  const T factor = *a;
  const double sum = sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) u[i] = p[i] - factor * u[i];
    return chunk_dot(u, u, first, last);
  });
  take_root(context, sum, n, u, norm);
}

template <class T>
void lsqr_step(Context<Host>& context, std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x,
               T* norm) {
  const bool possible = s.alpha != 0 && std::isfinite(s.alpha);
  const double sum = sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      v[i] = possible ? v[i] / s.alpha : T(0);
      x[i] += s.step * w[i];
      w[i] = v[i] - s.direction * w[i];
    }
    return chunk_dot(w, w, first, last);
  });
  take_root(context, sum, n, w, norm);
}

template <class T>
void lsmr_step(Context<Host>& context, std::int64_t n, const LsmrScalars<T>& s, T* v, T* h, T* hbar,
               T* x) {
  const bool possible = s.alpha != 0 && std::isfinite(s.alpha);
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      hbar[i] = h[i] - s.hbar * hbar[i];
      x[i] += s.step * hbar[i];
      v[i] = possible ? v[i] / s.alpha : T(0);
      h[i] = v[i] - s.direction * h[i];
    }
  });
}

TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Host, double)
TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Host, float)

}  // namespace tansolve::detail
