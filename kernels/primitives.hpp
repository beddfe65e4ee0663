// SPDX-License-Identifier: BSD-3-Clause
// Everything that a solver does with vectors, on one page.
#pragma once

#include <tansolve/kernels/vector.hpp>

namespace tansolve {

// All vectors of a call have the same length n (else Error(invalid_argument)) and must not overlap
// unless they are the same view in an argument that is read and written. Scalars named as outputs are
// overwritten, whatever they held. Reductions add in an order that depends on n alone: the same input
// gives the same bits whatever the thread count. On devices all calls are asynchronous on the context's
// stream.

template <class T, class B>
void fill(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x);  ///< x_i = a

template <class T, class B>
void copy(Context<B>& context, Span<const std::type_identity_t<T>, B> x, Span<T, B> y);  ///< y = x

template <class T, class B>
void scale(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x);  ///< x = a x

/// y = a x + b y; b = 0 overwrites y, whatever it held.
template <class T, class B>
void axpby(Context<B>& context, std::type_identity_t<T> a, Span<const std::type_identity_t<T>, B> x,
           std::type_identity_t<T> b, Span<T, B> y);

/// z_i = x_i y_i
template <class T, class B>
void multiply(Context<B>& context, Span<const std::type_identity_t<T>, B> x,
              Span<const std::type_identity_t<T>, B> y, Span<T, B> z);

/// result = x'y
template <class T, class B>
void dot(Context<B>& context, Span<const std::type_identity_t<T>, B> x,
         Span<const std::type_identity_t<T>, B> y, Scalar<T, B>& result);

/// result = ||x||_2, without overflow or underflow of the squares.
template <class T, class B>
void norm2(Context<B>& context, Span<const std::type_identity_t<T>, B> x, Scalar<T, B>& result);

/// The step of conjugate gradients. If rho / pq is a finite number and pq > 0, then with
/// alpha = rho / pq: x += (scale alpha) p, r -= alpha q, rr = r'r. Otherwise x and r keep their values
/// and rr becomes NaN. Passes over memory: 6 (reads x, p, r, q; writes x, r).
template <class T, class B>
void cg_step(Context<B>& context, const Scalar<T, B>& rho, const Scalar<T, B>& pq,
             std::type_identity_t<T> scale, Span<const std::type_identity_t<T>, B> p,
             Span<const std::type_identity_t<T>, B> q, Span<T, B> x, Span<T, B> r, Scalar<T, B>& rr);

/// The next direction of conjugate gradients: p = z + (rho / rho_old) p. Passes over memory: 3.
template <class T, class B>
void cg_direction(Context<B>& context, const Scalar<T, B>& rho, const Scalar<T, B>& rho_old,
                  Span<const std::type_identity_t<T>, B> z, Span<T, B> p);

}  // namespace tansolve
