// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of methods on the symmetric Lanczos process.
#pragma once

#include <tansolve/kernels/minres_state.hpp>
#include <tansolve/kernels/primitives.hpp>

namespace tansolve {

// The rules of kernels/primitives.hpp hold.

/// u_old = p - alpha u - beta u_old and norm = ||u_old||, as norm2 has it: with p = A u the next
/// Lanczos vector before it is normalised. Passes over memory: 4.
template <class T, class B>
void lanczos_step(Context<B>& context, const Scalar<T, B>& alpha, const Scalar<T, B>& beta,
                  In<T, B> p, In<T, B> u, Span<T, B> u_old, Scalar<T, B>& norm);

/// x = x / a; where a is 0 or not finite, x = 0. Passes: 2.
template <class T, class B>
void divide(Context<B>& context, const Scalar<T, B>& a, Span<T, B> x);

/// A step of MINRES. It is wanted while the state has no end and the residual,
/// r_norm phi_bar ||q||, is above `enough`.
template <class T, class B>
struct MinresStep {
  Span<const MinresState, B> now;  ///< the state before, one element
  Span<MinresState, B> next;       ///< the state after it
  const Scalar<T, B>& alpha;
  const Scalar<T, B>& beta;    ///< ||u|| of the next Lanczos vector; u'Mu if there is an M
  const Scalar<T, B>* q_norm;  ///< ||q||, if there is an M; else null, and ||q|| = 1
  double r_norm, enough;
};

/// Advances the state, and if the step is wanted and possible,
/// d_old = (v - delta d - epsilon d_old) / gamma, the next direction, x += r_norm phi d_old and
/// next.d_norm = ||d_old||, as norm2 has it. Else d_old and x keep their values, and the next state
/// is the one before with its end. u_norm = ||u||, or (u'Mu)^(1/2). Passes: 6.
template <class T, class B>
void minres_step(Context<B>& context, const MinresStep<T, B>& step, In<T, B> v, In<T, B> d,
                 Span<T, B> d_old, Span<T, B> x, Scalar<T, B>& u_norm);

/// q = s q - c u and norm = ||q||, as norm2 has it: r = phi_bar q. Passes: 3.
template <class T, class B>
void minres_residual(Context<B>& context, std::type_identity_t<Span<const MinresState, B>> state,
                     In<T, B> u, Span<T, B> q, Scalar<T, B>& norm);

}  // namespace tansolve
