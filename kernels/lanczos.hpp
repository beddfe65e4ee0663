// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of methods on the symmetric Lanczos process.
#pragma once

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

/// The numbers of a step of MINRES.
template <class T>
struct MinresScalars {
  T gamma, delta, epsilon;  ///< a column of R: its diagonal, not 0, and the two above
  T phi;                    ///< the length of the step
};

/// d_old = (v - delta d - epsilon d_old) / gamma, the next direction, x += phi d_old and
/// norm = ||d_old||, as norm2 has it. Passes: 6.
template <class T, class B>
void minres_step(Context<B>& context, const std::type_identity_t<MinresScalars<T>>& s, In<T, B> v,
                 In<T, B> d, Span<T, B> d_old, Span<T, B> x, Scalar<T, B>& norm);

}  // namespace tansolve
