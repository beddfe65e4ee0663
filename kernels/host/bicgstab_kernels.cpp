// SPDX-License-Identifier: BSD-3-Clause
// The vector work of BiCGSTAB on the host: OpenMP over chunks.
#include <tansolve/kernels/bicgstab_kernels.hpp>
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>
#include <tansolve/kernels/host/take_root.hpp>

namespace tansolve::detail {

template <class T>
void dot_and_norm(Context<Host>& context, std::int64_t n, const T* x, const T* y, T* xy,
                  T* y_norm) {
  const auto [product, square] = sum_chunks<2>(context, n, [=](auto first, auto last) {
    return std::array{chunk_dot(x, y, first, last), chunk_dot(y, y, first, last)};
  });
  *xy = static_cast<T>(product);
  take_root(context, square, n, y, y_norm);
}

template <class T>
void bicgstab_half_step(Context<Host>& context, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* v, T* r) {
  const BicgstabNumbers<T> s = step.load_half();
  if (!s.half_taken()) return;
  const T alpha = static_cast<T>(s.alpha());
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) r[i] -= alpha * v[i];
  });
}

template <class T>
void bicgstab_step(Context<Host>& context, std::int64_t n, const BicgstabPointers<T>& step,
                   const T* y, const T* z, const T* t, const T* r0, T* x, T* r, T* rho_next,
                   T* r_norm_next) {
  const BicgstabNumbers<T> s = step.load();
  *rho_next = s.not_taken(s.rho);
  *r_norm_next = s.not_taken(s.r_norm);
  if (!s.taken()) return;
  const T omega = static_cast<T>(s.omega());
  const T along_y = s.length(s.alpha()), along_z = s.length(s.omega());
  const T* other = z != nullptr ? z : r;
  const auto [product, square] = sum_chunks<2>(context, n, [=](auto first, auto last) {
    for (std::int64_t i = first; i < last; ++i) x[i] = along_y * y[i] + along_z * other[i] + x[i];
    for (std::int64_t i = first; i < last; ++i) r[i] -= omega * t[i];
    return std::array{chunk_dot(r0, r, first, last), chunk_dot(r, r, first, last)};
  });
  *rho_next = s.omega() == 0 ? T(0) : static_cast<T>(product);
  take_root(context, square, n, r, r_norm_next);
}

template <class T>
void bicgstab_direction(Context<Host>& context, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* rho_next, const T* r_norm_next, const T* r, const T* v, T* p) {
  const BicgstabNumbers<T> s = step.load();
  if (!s.next(*rho_next, *r_norm_next).wanted()) return;
  const double beta = s.beta(*rho_next);
  const T along_v = static_cast<T>(-beta * s.omega()), along_p = static_cast<T>(beta);
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) p[i] = r[i] + along_v * v[i] + along_p * p[i];
  });
}

TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Host, double)
TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Host, float)

}  // namespace tansolve::detail
