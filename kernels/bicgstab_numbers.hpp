// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a step of BiCGSTAB where they are at hand: what kernels and the host decide by.
#pragma once

#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/cg_pointers.hpp>

#include <limits>

namespace tansolve::detail {

/// BicgstabStep by value. T is double or float; sums and quotients are taken in double.
template <class T>
struct BicgstabNumbers {
  T r0_norm = 0, rho = 0, r_norm = 0, r0_v = 0, v_norm = 0, st = 0, t_norm = 0;
  T scale = 1, enough = 0;

  constexpr double alpha() const { return static_cast<double>(rho) / r0_v; }
  constexpr double omega() const {
    return t_norm > 0 ? st / static_cast<double>(t_norm) / t_norm : 0;
  }
  constexpr bool wanted() const {
    return is_finite(r_norm) && r_norm > enough && is_finite(rho) && above_rounding(rho, r_norm);
  }
  constexpr bool half_taken() const {
    return wanted() && is_finite(r0_v) && is_finite(v_norm) && is_finite(length(alpha())) &&
           above_rounding(r0_v, v_norm);
  }
  constexpr bool taken() const {
    return half_taken() && is_finite(st) && is_finite(t_norm) && is_finite(length(omega()));
  }
  /// What follows the number `before` where the step is not taken.
  constexpr T not_taken(T before) const {
    return wanted() ? std::numeric_limits<T>::quiet_NaN() : before;
  }
  /// The step of x for one of r.
  constexpr T length(double step) const { return static_cast<T>(scale * step); }
  /// The numbers of the step after this one, as far as they tell whether it is wanted.
  constexpr BicgstabNumbers next(T rho_next, T r_norm_next) const {
    return {r0_norm, rho_next, r_norm_next, 0, 0, 0, 0, scale, enough};
  }
  /// beta, for the next rho.
  constexpr double beta(T rho_next) const {
    return static_cast<double>(rho_next) / rho * (alpha() / omega());
  }

 private:
  /// Of a product of r0 with a vector.
  constexpr bool above_rounding(double product, double norm) const {
    constexpr double epsilon = std::numeric_limits<T>::epsilon();
    return (product < 0 ? -product : product) > epsilon * r0_norm * norm;
  }
};

/// BicgstabStep with pointers into the memory of its backend.
template <class T>
struct BicgstabPointers {
  template <class B>
  explicit BicgstabPointers(const BicgstabStep<T, B>& step)
      : r0_norm(step.r0_norm.data()),
        rho(step.rho.data()),
        r_norm(step.r_norm.data()),
        r0_v(step.r0_v.data()),
        v_norm(step.v_norm.data()),
        st(step.st.data()),
        t_norm(step.t_norm.data()),
        scale(step.scale),
        enough(step.enough) {}
  /// The numbers for the first half, before those of the second are there; all of them.
  constexpr BicgstabNumbers<T> load_half() const {
    return {*r0_norm, *rho, *r_norm, *r0_v, *v_norm, 0, 0, scale, enough};
  }
  constexpr BicgstabNumbers<T> load() const {
    return {*r0_norm, *rho, *r_norm, *r0_v, *v_norm, *st, *t_norm, scale, enough};
  }

  const T *r0_norm, *rho, *r_norm, *r0_v, *v_norm, *st, *t_norm;
  T scale, enough;
};

}  // namespace tansolve::detail
