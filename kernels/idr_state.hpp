// SPDX-License-Identifier: BSD-3-Clause
// The small numbers of IDR(s), which kernels advance and the host reads.
#pragma once

#include <cstdint>
#include <limits>

namespace tansolve {

/// How a run of IDR(s) ended.
enum class IdrEnd : std::int64_t {
  none,
  met,        ///< the recurrence's residual meets the tolerance
  no_step,    ///< along g_k: p_k'g_k is 0 or something is not finite
  no_omega,   ///< nor along A M r
  not_finite  ///< the residual after a step
};

/// What the host reads of a run.
struct IdrSeen {
  static constexpr std::int64_t kept = 17;  ///< steps of the largest batch, a cycle of 17

  /// What the step was to divide by, the norm of the vector behind it, and the step of x.
  double divisor = 0, norm = 0, length = 0;
  IdrEnd end = IdrEnd::none;
  std::int64_t steps = 0;     ///< taken so far
  double r_norms[kept] = {};  ///< after step i in element i mod kept
};

/// The numbers of a run, of vectors P, G and U of s columns with G = A U and P'G lower triangular.
/// Steps 0 ... s - 1 of a cycle are along g_0, g_1, ..., and the last one along A M r.
struct IdrState {
  static constexpr int most = 16;  ///< columns

  IdrSeen seen;
  double sigma = 1, enough = 0;  ///< what x is a multiple of; the ||r|| that is small enough
  double r_norm = 0;
  double omega = 1;           ///< of the cycle before
  double beta = 0;            ///< the step along g_k
  double f[most] = {};        ///< P'r
  double c[most] = {};        ///< P'G c = f in rows and columns from the next step's on
  double a[most] = {};        ///< what g_k has along the g_i of i < k
  double m[most][most] = {};  ///< P'G
};

namespace detail {

// What follows is for T, the value type of the vectors. A state that has an end stays as it is.

/// c_first ... c_(last-1) with the rows and columns from `first` on of P'G c = h.
constexpr void idr_solve(const IdrState& state, int first, int last, const double* h, double* c) {
  for (int i = first; i < last; ++i) {
    c[i] = h[i];
    for (int j = first; j < i; ++j) c[i] -= state.m[i][j] * c[j];
    c[i] /= state.m[i][i];
  }
}

constexpr bool is_number(double a) {
  return a - a == 0;
}

constexpr void idr_stop(IdrState& state, IdrEnd end, double divisor, double norm, double length) {
  state.seen.end = end;
  state.seen.divisor = divisor;
  state.seen.norm = norm;
  state.seen.length = length;
}

/// A cycle begins with f = P'r.
constexpr void idr_cycle(IdrState& state, int s, const double* f) {
  for (int i = 0; i < s; ++i) state.f[i] = f[i];
  idr_solve(state, 0, s, state.f, state.c);
}

/// Takes h = P'A u_k and ||A u_k||: what is to be subtracted from A u_k, the step along the rest,
/// and c for the step after it. Below the rounding errors of its sum, p_k'g_k is as good as 0.
template <class T>
constexpr void idr_take_image(IdrState& state, int k, int s, const double* h, double norm) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  idr_solve(state, 0, k, h, state.a);
  for (int i = k; i < s; ++i) {
    state.m[i][k] = h[i];
    for (int j = 0; j < k; ++j) state.m[i][k] -= state.m[i][j] * state.a[j];
  }
  const double pg = state.m[k][k], size = pg < 0 ? -pg : pg;
  state.beta = state.f[k] / pg;
  const double length = static_cast<T>(state.sigma * state.beta);
  if (size <= eps * norm || !is_number(pg) || !is_number(norm) || !is_number(length))
    return idr_stop(state, IdrEnd::no_step, pg, norm, length);
  for (int i = k; i < s; ++i) state.f[i] -= state.beta * state.m[i][k];
  idr_solve(state, k + 1, s, state.f, state.c);
}

/// Takes ||r|| after a step.
constexpr void idr_stepped(IdrState& state, double r_norm) {
  if (!is_number(r_norm)) return idr_stop(state, IdrEnd::not_finite, 0, r_norm, 0);
  state.r_norm = r_norm;
  state.seen.r_norms[state.seen.steps++ % IdrSeen::kept] = r_norm;
  if (r_norm <= state.enough) state.seen.end = IdrEnd::met;
}

/// omega = r't / t't, enlarged where r and t are nearly orthogonal: a residual that grows somewhat
/// is better than directions that lose their accuracy (Sleijpen and van der Vorst, Numer.
/// Algorithms 10 (1995)).
constexpr double idr_omega(double rt, double t_norm, double r_norm) {
  constexpr double least_cosine = 0.7;
  const double cosine = rt / t_norm / r_norm, size = cosine < 0 ? -cosine : cosine;
  return rt / t_norm / t_norm * (size < least_cosine ? least_cosine / size : 1);
}

/// The last step of a cycle, along t = A M r.
template <class T>
struct IdrLastStep {
  constexpr IdrLastStep(const IdrState& state, double rt_value, double t_norm_value)
      : rt(rt_value),
        t_norm(t_norm_value),
        omega(idr_omega(rt, t_norm, state.r_norm)),
        length(static_cast<T>(state.sigma * omega)),
        possible(rt != 0 && is_number(rt) && is_number(t_norm) && is_number(length)) {}

  constexpr void refuse(IdrState& state) const {
    idr_stop(state, IdrEnd::no_omega, rt, t_norm, length);
  }
  /// Takes P'r and ||r|| after the step.
  constexpr void take(IdrState& state, int s, const double* f, double norm) const {
    state.omega = omega;
    idr_cycle(state, s, f);
    idr_stepped(state, norm);
  }

  double rt, t_norm, omega;
  T length;
  bool possible;
};

}  // namespace detail
}  // namespace tansolve
