// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of BiCGSTAB.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve {

// The rules of kernels/primitives.hpp hold.

/// xy = x'y and y_norm = ||y||, each as dot and norm2 have it. Passes over memory: 2.
template <class T, class B>
void dot_and_norm(Context<B>& context, In<T, B> x, In<T, B> y, Scalar<T, B>& xy,
                  Scalar<T, B>& y_norm);

/// A step of BiCGSTAB, in two halves: s = r - alpha v with alpha = rho / r0_v, then r = s - omega t
/// with omega = st / t_norm^2, 0 for t = 0, and x along both. It is wanted where r_norm is finite
/// and above `enough`, and rho, finite, above its rounding errors, epsilon r0_norm r_norm. Of a
/// wanted step, a half is possible where its numbers, alpha or omega, and that times scale are
/// finite, and r0_v is above its rounding errors, epsilon r0_norm v_norm.
template <class T, class B>
struct BicgstabStep {
  const Scalar<T, B>& r0_norm;  ///< ||r0||, the residual that the run began with
  const Scalar<T, B>& rho;      ///< r0'r before the step
  const Scalar<T, B>& r_norm;   ///< ||r||, likewise
  const Scalar<T, B>& r0_v;     ///< r0'v
  const Scalar<T, B>& v_norm;   ///< ||v||
  const Scalar<T, B>& st;       ///< s't
  const Scalar<T, B>& t_norm;   ///< ||t||
  std::type_identity_t<T> scale, enough;
};

/// r -= alpha v, which makes s of r, if the step is wanted and this half possible. Passes: 3.
template <class T, class B>
void bicgstab_half_step(Context<B>& context, const BicgstabStep<T, B>& step, In<T, B> v,
                        Span<T, B> r);

/// x += scale (alpha y + omega z), r -= omega t, rho_next = r0'r and r_norm_next = ||r||, if the
/// step is wanted and possible; rho_next becomes 0 where omega is, since no direction follows. Else
/// x and r keep their values, and the two become NaN, or rho and r_norm where the step was not
/// wanted: steps may be issued beyond the last that is, and change nothing. z may be r. Passes: 8,
/// or 7 where it is.
template <class T, class B>
void bicgstab_step(Context<B>& context, const BicgstabStep<T, B>& step, In<T, B> y, In<T, B> z,
                   In<T, B> t, In<T, B> r0, Span<T, B> x, Span<T, B> r, Scalar<T, B>& rho_next,
                   Scalar<T, B>& r_norm_next);

/// p = r + beta (p - omega v) with beta = (rho_next / rho) (alpha / omega), if a step is wanted
/// after this one. Passes: 4.
template <class T, class B>
void bicgstab_direction(Context<B>& context, const BicgstabStep<T, B>& step,
                        const Scalar<T, B>& rho_next, const Scalar<T, B>& r_norm_next, In<T, B> r,
                        In<T, B> v, Span<T, B> p);

}  // namespace tansolve
