// SPDX-License-Identifier: BSD-3-Clause
// The vector work of BiCGSTAB on the suspicious backend: the serial reference.
#include <tansolve/kernels/bicgstab_kernels.hpp>
#include <tansolve/kernels/reference/bicgstab_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

namespace tansolve::detail {

template <class T>
void dot_and_norm(Context<Checked>&, std::int64_t n, const T* x, const T* y, T* xy, T* y_norm) {
  *xy = reference::dot(n, x, y);
  *y_norm = reference::norm2(n, y);
}

template <class T>
void bicgstab_half_step(Context<Checked>&, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* v, T* r) {
  const BicgstabNumbers<T> s = step.load_half();
  if (s.half_taken()) reference::bicgstab_half_step(n, s.alpha(), v, r);
}

template <class T>
void bicgstab_step(Context<Checked>&, std::int64_t n, const BicgstabPointers<T>& step, const T* y,
                   const T* z, const T* t, const T* r0, T* x, T* r, T* rho_next, T* r_norm_next) {
  const BicgstabNumbers<T> s = step.load();
  *rho_next = s.not_taken(s.rho);
  *r_norm_next = s.not_taken(s.r_norm);
  if (!s.taken()) return;
  reference::bicgstab_step(n, s.alpha(), s.omega(), s.scale, y, z != nullptr ? z : r, t, x, r);
  *rho_next = s.omega() == 0 ? T(0) : reference::dot(n, r0, r);
  *r_norm_next = reference::norm2(n, r);
}

template <class T>
void bicgstab_direction(Context<Checked>&, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* rho_next, const T* r_norm_next, const T* r, const T* v, T* p) {
  const BicgstabNumbers<T> s = step.load();
  if (s.next(*rho_next, *r_norm_next).wanted())
    reference::bicgstab_direction(n, s.beta(*rho_next), s.omega(), r, v, p);
}

TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Checked, float)

}  // namespace tansolve::detail
