// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts of the vector work of BiCGSTAB.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/bicgstab_kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/same_size.hpp>

#include <fmt/format.h>

namespace tansolve {

template <class T, class B>
void dot_and_norm(Context<B>& context, In<T, B> x, In<T, B> y, Scalar<T, B>& xy,
                  Scalar<T, B>& y_norm) {
  if (x.size() != y.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("dot_and_norm: vectors of {} and of {} elements, they must have the "
                            "same size",
                            x.size(), y.size()));
  detail::count(context, 2 * x.size(), 2);
  detail::dot_and_norm(context, x.size(), x.data(), y.data(), xy.data(), y_norm.data());
}

template <class T, class B>
void bicgstab_half_step(Context<B>& context, const BicgstabStep<T, B>& step, In<T, B> v,
                        Span<T, B> r) {
  detail::require_same_size<T, B>("bicgstab_half_step", r, {v});
  detail::count(context, 3 * r.size());
  detail::bicgstab_half_step(context, r.size(), detail::BicgstabPointers<T>(step), v.data(),
                             r.data());
}

template <class T, class B>
void bicgstab_step(Context<B>& context, const BicgstabStep<T, B>& step, In<T, B> y, In<T, B> z,
                   In<T, B> t, In<T, B> r0, Span<T, B> x, Span<T, B> r, Scalar<T, B>& rho_next,
                   Scalar<T, B>& r_norm_next) {
  const bool along_r = z.data() == r.data();
  detail::require_same_size<T, B>("bicgstab_step", x, {y, z, t, r0, r});
  detail::require_same_size<T, B>("bicgstab_step", r, {y, t, r0});
  if (!along_r) detail::require_same_size<T, B>("bicgstab_step", r, {z});
  detail::count(context, (along_r ? 7 : 8) * r.size(), 2);
  detail::bicgstab_step(context, r.size(), detail::BicgstabPointers<T>(step), y.data(),
                        along_r ? nullptr : z.data(), t.data(), r0.data(), x.data(), r.data(),
                        rho_next.data(), r_norm_next.data());
}

template <class T, class B>
void bicgstab_direction(Context<B>& context, const BicgstabStep<T, B>& step,
                        const Scalar<T, B>& rho_next, const Scalar<T, B>& r_norm_next, In<T, B> r,
                        In<T, B> v, Span<T, B> p) {
  detail::require_same_size<T, B>("bicgstab_direction", p, {r, v});
  detail::count(context, 4 * p.size());
  detail::bicgstab_direction(context, p.size(), detail::BicgstabPointers<T>(step), rho_next.data(),
                             r_norm_next.data(), r.data(), v.data(), p.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template void dot_and_norm(Context<B>&, Span<const T, B>, Span<const T, B>, Scalar<T, B>&,    \
                             Scalar<T, B>&);                                                    \
  template void bicgstab_half_step(Context<B>&, const BicgstabStep<T, B>&, Span<const T, B>,    \
                                   Span<T, B>);                                                 \
  template void bicgstab_step(Context<B>&, const BicgstabStep<T, B>&, Span<const T, B>,         \
                              Span<const T, B>, Span<const T, B>, Span<const T, B>, Span<T, B>, \
                              Span<T, B>, Scalar<T, B>&, Scalar<T, B>&);                        \
  template void bicgstab_direction(Context<B>&, const BicgstabStep<T, B>&, const Scalar<T, B>&, \
                                   const Scalar<T, B>&, Span<const T, B>, Span<const T, B>,     \
                                   Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
