// SPDX-License-Identifier: BSD-3-Clause
// A step of conjugate gradients as kernels take it.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve::detail {

/// CgStep with pointers into the memory of its backend.
template <class T>
struct CgPointers {
  template <class B>
  explicit CgPointers(const CgStep<T, B>& step)
      : rho(step.rho.data()),
        pq(step.pq.data()),
        rr(step.rr.data()),
        scale(step.scale),
        enough(step.enough) {}

  const T *rho, *pq, *rr;
  T scale, enough;
};

/// Ratio, likewise.
template <class T>
struct RatioPointers {
  template <class B>
  explicit RatioPointers(const Ratio<T, B>& ratio)
      : over(ratio.over.data()), under(ratio.under.data()), factor(ratio.factor) {}
  constexpr T value() const { return factor * *over / *under; }

  const T *over, *under;
  T factor;
};

template <class T>
constexpr bool is_finite(T a) {
  return a - a == T(0);  // std::isfinite is no constexpr, which kernels need
}

template <class T>
constexpr bool step_wanted(T rr, T enough) {
  return rr > enough && is_finite(rr);
}

template <class T>
constexpr bool step_taken(T rho, T pq, T rr, T scale, T enough) {
  const T alpha = rho / pq;
  return step_wanted(rr, enough) && rho > T(0) && pq > T(0) && is_finite(rho) && is_finite(pq) &&
         is_finite(alpha) && is_finite(scale * alpha);
}

}  // namespace tansolve::detail
