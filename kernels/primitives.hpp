// SPDX-License-Identifier: BSD-3-Clause
// Everything that a solver does with vectors, on one page.
#pragma once

#include <tansolve/kernels/vector.hpp>

namespace tansolve {

/// A vector that is only read. T comes from the other arguments, so that vectors and views of
/// non-const elements convert.
template <class T, class B>
using In = std::type_identity_t<Span<const T, B>>;

// All vectors of a call have the same length n, and a vector that is written overlaps no other
// vector of the call, else Error(invalid_argument); vectors that are only read may overlap. Scalars
// named as outputs are overwritten, whatever they held, and differ from the call's other scalars.
// Sums are kept in double and added in an order that depends on n alone: the same input gives the
// same bits whatever the thread count. Nothing allocates. On devices all calls are asynchronous on
// the context's stream.

template <class T, class B>
void fill(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x);  ///< x_i = a

template <class T, class B>
void copy(Context<B>& context, In<T, B> x, Span<T, B> y);  ///< y = x

template <class T, class B>
void scale(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x);  ///< x = a x

/// y = a x + b y; b = 0 overwrites y, whatever it held.
template <class T, class B>
void axpby(Context<B>& context, std::type_identity_t<T> a, In<T, B> x, std::type_identity_t<T> b,
           Span<T, B> y);

/// z = a x + b y + c z; c = 0 overwrites z, whatever it held.
template <class T, class B>
void axpbypcz(Context<B>& context, std::type_identity_t<T> a, In<T, B> x, std::type_identity_t<T> b,
              In<T, B> y, std::type_identity_t<T> c, Span<T, B> z);

/// y = a x, multiplied in the type of x and rounded to that of y.
template <class T, class U, class B>
void convert(Context<B>& context, T a, In<T, B> x, Span<U, B> y);

/// z_i = x_i y_i
template <class T, class B>
void multiply(Context<B>& context, In<T, B> x, In<T, B> y, Span<T, B> z);

/// result = x'y
template <class T, class B>
void dot(Context<B>& context, In<T, B> x, In<T, B> y, Scalar<T, B>& result);

/// result = ||x||_2, without overflow or underflow of the squares.
template <class T, class B>
void norm2(Context<B>& context, In<T, B> x, Scalar<T, B>& result);

/// A step of conjugate gradients along p, of length scale alpha for x and alpha for r, where
/// alpha = rho / pq. It is wanted where rr is finite and above `enough`, and taken where besides
/// rho and pq are positive and finite, and alpha and scale alpha finite.
template <class T, class B>
struct CgStep {
  const Scalar<T, B>& rho;  ///< r'z
  const Scalar<T, B>& pq;   ///< p'q
  const Scalar<T, B>& rr;   ///< r'r before the step; may be rho
  std::type_identity_t<T> scale, enough;
};

/// r -= alpha q and rr_next = r'r, if the step is taken. Else r keeps its values, and rr_next
/// becomes NaN, or rr where the step was not wanted: steps may be issued beyond the last that is,
/// and change nothing. Passes over memory: 3.
template <class T, class B>
void cg_residual(Context<B>& context, const CgStep<T, B>& step, In<T, B> q, Span<T, B> r,
                 Scalar<T, B>& rr_next);

/// The number factor * over / under.
template <class T, class B>
struct Ratio {
  const Scalar<T, B>& over;
  const Scalar<T, B>& under;
  std::type_identity_t<T> factor = 1;
};

/// x += (scale alpha) p for the last step, if it was taken, while p is read for the next direction,
/// p = z + beta p. Where rr, that after the step, is not finite, both keep their values.
/// Passes over memory: 5 (reads x, p, z; writes x, p).
template <class T, class B>
void cg_direction(Context<B>& context, const CgStep<T, B>& step,
                  const std::type_identity_t<Ratio<T, B>>& beta, const Scalar<T, B>& rr, In<T, B> z,
                  Span<T, B> p, Span<T, B> x);

}  // namespace tansolve
