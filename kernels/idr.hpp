// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of IDR(s).
#pragma once

#include <tansolve/kernels/idr_state.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <span>

namespace tansolve {

// The rules of kernels/primitives.hpp hold. Functions take their coefficients from the state and
// advance it; once it has an end, they change nothing: steps may be issued beyond the last that is
// wanted. k is the number of a step in its cycle, 0 <= k < s.

/// What IDR(s) works with: P orthonormal, G = A U, of 1 <= s <= IdrState::most vectors each.
template <class T, class B>
struct IdrSpace {
  Span<IdrState, B> state;  ///< one element
  std::span<const Span<T, B>> p, g, u;
};

/// The first cycle: f = P'r. Passes over memory: s + 1.
template <class T, class B>
void idr_begin(Context<B>& context, const IdrSpace<T, B>& space, In<T, B> r);

/// v = r - (g_k c_k + ... + g_(s-1) c_(s-1)), orthogonal to P up to rounding. Passes: s - k + 2.
template <class T, class B>
void idr_rest(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, In<T, B> r,
              Span<T, B> v);

/// u_k = omega z + u_k c_k + ... + u_(s-1) c_(s-1), with z = M v. Passes: s - k + 2.
template <class T, class B>
void idr_direction(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, In<T, B> z);

/// Both for M = 1, without v. Passes: 2 (s - k) + 2.
template <class T, class B>
void idr_rest_direction(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k,
                        In<T, B> r);

/// What P'g_k and ||g_k|| make of the state, where g_k = A u_k. Passes: s + 1.
template <class T, class B>
void idr_image(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k);

/// g_k and u_k less their parts along the g_i and u_i of i < k, then x += sigma beta u_k,
/// r -= beta g_k, and ||r||. Passes: 2 k + 8.
template <class T, class B>
void idr_step(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, Span<T, B> x,
              Span<T, B> r);

/// x += sigma omega y, r -= omega t, ||r||, and the next cycle's f = P'r; t = A y, rt = r't. y may
/// be r. Passes: s + 6, or s + 5 where it is.
template <class T, class B>
void idr_last_step(Context<B>& context, const IdrSpace<T, B>& space, const Scalar<T, B>& rt,
                   const Scalar<T, B>& t_norm, In<T, B> y, In<T, B> t, Span<T, B> x, Span<T, B> r);

}  // namespace tansolve
