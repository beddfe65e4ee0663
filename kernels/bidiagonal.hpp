// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of least-squares methods on the Golub-Kahan process.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve {

// The rules of kernels/primitives.hpp hold.

/// u = p - a u and norm = ||u||, as norm2 has it: with p = A v, or p = A'v for the other side, the
/// next vector before it is normalised. Passes over memory: 3.
template <class T, class B>
void bidiagonal_step(Context<B>& context, const Scalar<T, B>& a, In<T, B> p, Span<T, B> u,
                     Scalar<T, B>& norm);

/// The numbers of a step of LSQR.
template <class T>
struct LsqrScalars {
  T alpha;      ///< the norm of v; where it is 0 or not finite, v becomes 0
  T step;       ///< phi / rho
  T direction;  ///< theta / rho
};

/// v = v / alpha, x += step w, then w = v - direction w and norm = ||w||, as norm2 has it.
/// Passes: 6.
template <class T, class B>
void lsqr_step(Context<B>& context, const std::type_identity_t<LsqrScalars<T>>& s, Span<T, B> v,
               Span<T, B> w, Span<T, B> x, Scalar<T, B>& norm);

/// The numbers of a step of LSMR.
template <class T>
struct LsmrScalars {
  T alpha;      ///< the norm of v; where it is 0 or not finite, v becomes 0
  T hbar;       ///< what of the last hbar the next one loses
  T step;       ///< zeta / (rho rhobar)
  T direction;  ///< theta / rho
};

/// hbar = h - s.hbar hbar, x += step hbar, v = v / alpha, then h = v - direction h. Passes: 8.
template <class T, class B>
void lsmr_step(Context<B>& context, const std::type_identity_t<LsmrScalars<T>>& s, Span<T, B> v,
               Span<T, B> h, Span<T, B> hbar, Span<T, B> x);

}  // namespace tansolve
