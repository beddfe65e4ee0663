// SPDX-License-Identifier: BSD-3-Clause
// The scalar recurrences of MINRES, which kernels advance and the host reads.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace tansolve {

/// How a run of MINRES ended.
enum class MinresEnd : std::int64_t {
  none,
  met,         ///< the recurrence's residual meets the tolerance
  singular,    ///< A is, up to rounding on the Krylov space; or r is orthogonal to its range
  not_finite,  ///< a product with A or the preconditioner M
  overflow,    ///< of the step
  indefinite,  ///< M is
  // What only the host finds:
  drifted,  ///< the recurrence's residual no longer is the true one
  blind,    ///< r'Mr = 0
  stopped   ///< for a reason that does not depend on the method
};

/// min ||beta_1 e_1 - T_k y||, T_k tridiagonal with alpha on and beta beside its diagonal, kept as
/// R y = (phi_1, ..., phi_k) by reflections (c s; s -c). R has three diagonals.
struct MinresState {
  double gamma = 0, delta = 0, epsilon = 0;  ///< the last column of R, from the diagonal up
  double phi = 0, phi_bar = 0;               ///< phi_k, and the norm of what is left
  double c = -1, s = 0;                      ///< the last reflection
  double delta_bar = 0, epsilon_next = 0;    ///< what is known of the next column
  double largest = 0;                        ///< entry of T_k
  double d_norm = 0, v_norm = 0;             ///< of the last direction, and of the first v
  MinresEnd end = MinresEnd::none;
};

namespace detail {

/// The state with column k taken, or with an `end` where no step is possible or would help. `beta`,
/// the next one, is below 0 where M is indefinite; r_norm is the length of the step for phi = 1. T
/// is the value type of the vectors.
template <class T>
constexpr MinresState advanced(const MinresState& now, double alpha, double beta, double r_norm) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  const auto finite = [](auto a) { return a - a == 0; };
  const auto size = [](double a) { return a < 0 ? -a : a; };
  MinresState next = now;
  const auto ended = [&](MinresEnd end) {
    next = now;
    next.end = end;
    return next;
  };
  if (!finite(alpha) || !finite(beta)) return ended(MinresEnd::not_finite);
  if (beta < -std::sqrt(eps) * now.largest) return ended(MinresEnd::indefinite);
  if (beta < 0) beta = 0;  // of no vector, up to rounding
  if (next.v_norm == 0) next.v_norm = now.d_norm * now.gamma;
  // The last step's rounding, of about the size of A times the step's, is near the residual's.
  if (eps * now.largest * size(now.phi) * now.d_norm > 1e-3 * now.phi_bar * next.v_norm)
    return ended(MinresEnd::singular);

  if (size(alpha) > next.largest) next.largest = size(alpha);
  if (beta > next.largest) next.largest = beta;
  next.delta = now.c * now.delta_bar + now.s * alpha;
  const double gamma_bar = now.s * now.delta_bar - now.c * alpha;
  next.epsilon = now.epsilon_next;
  next.epsilon_next = now.s * beta;
  next.delta_bar = -now.c * beta;
  next.gamma = std::hypot(gamma_bar, beta);
  if (next.gamma <= 16 * eps * next.largest) return ended(MinresEnd::singular);
  // ||A r|| / ||r||; what Lanczos vectors have lost in orthogonality leaves more than a few eps.
  const double normal = std::hypot(gamma_bar, next.delta_bar);
  if (normal <= std::sqrt(eps * std::sqrt(eps)) * next.largest) return ended(MinresEnd::singular);
  next.c = gamma_bar / next.gamma;
  next.s = beta / next.gamma;
  next.phi = next.c * now.phi_bar;
  next.phi_bar = next.s * now.phi_bar;
  if (!finite(static_cast<T>(r_norm * next.phi) / static_cast<T>(next.gamma)))
    return ended(MinresEnd::overflow);
  return next;
}

}  // namespace detail
}  // namespace tansolve
