// SPDX-License-Identifier: BSD-3-Clause
// Why BiCGSTAB cannot go on.
#pragma once

#include <tansolve/kernels/bicgstab_numbers.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace tansolve::detail {

/// Why the step alpha = r0'r / r0'v along p cannot be taken, if it cannot; `step` is that of x.
/// Below the rounding errors of its sum, r0'v is as good as 0.
template <class T>
std::optional<Breakdown> no_alpha(double r0_v, double r0_norm, double v_norm, double step) {
  if (std::abs(r0_v) <= std::numeric_limits<T>::epsilon() * r0_norm * v_norm)
    return {
        {Status::breakdown, fmt::format("r0'A M p = {:g}, where ||r0|| = {:g} and ||A M p|| = {:g}",
                                        r0_v, r0_norm, v_norm)}};
  if (std::isfinite(r0_v) && std::isfinite(v_norm) && std::isfinite(step)) return {};
  return {{Status::not_finite, fmt::format("r0'A M p = {:g}, ||A M p|| = {:g}", r0_v, v_norm)}};
}

/// The same of omega = s't / t't.
inline std::optional<Breakdown> no_omega(double st, double t_norm, double step) {
  if (std::isfinite(st) && std::isfinite(t_norm) && std::isfinite(step)) return {};
  return {
      {Status::not_finite,
       fmt::format("omega = s't / ||t||^2 with t = A M s, s't = {:g}, ||t|| = {:g}", st, t_norm)}};
}

/// Why there is no next direction, if there is none; r0'r is as good as 0 below its rounding
/// errors.
template <class T>
std::optional<Breakdown> no_direction(double rho, double r0_norm, double r_norm, double omega) {
  if (!std::isfinite(rho) || !std::isfinite(r_norm))
    return {{Status::not_finite, fmt::format("r0'r = {:g}, ||r|| = {:g}", rho, r_norm)}};
  if (omega == 0) return {{Status::breakdown, "omega = 0: s'A M s = 0"}};
  if (std::abs(rho) > std::numeric_limits<T>::epsilon() * r0_norm * r_norm) return {};
  return {{Status::breakdown,
           fmt::format("r0'r = {:g}, where ||r0|| = {:g} and ||r|| = {:g}", rho, r0_norm, r_norm)}};
}

/// Why no step follows the one of `now`, which left `next`.
template <class T>
std::optional<Breakdown> why_no_step(const BicgstabNumbers<T>& now,
                                     const BicgstabNumbers<T>& next) {
  const double omega = now.omega();
  if (auto broken = no_alpha<T>(now.r0_v, now.r0_norm, now.v_norm, now.length(now.alpha())))
    return broken;
  if (auto broken = no_omega(now.st, now.t_norm, now.length(omega))) return broken;
  return no_direction<T>(next.rho, next.r0_norm, next.r_norm, omega);
}

}  // namespace tansolve::detail
