// SPDX-License-Identifier: BSD-3-Clause
// The fused vector work of polynomials in a matrix.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve {

/// z_old_i = a d_i (r_i - w_i) + b z_i + c z_old_i; c = 0 overwrites z_old, whatever it held. With
/// w = A z a step of a three-term recurrence for D^-1 A. Passes over memory: 6 (5 where c = 0). The
/// rules of kernels/primitives.hpp hold.
template <class T, class B>
void polynomial_step(Context<B>& context, std::type_identity_t<T> a, In<T, B> d, In<T, B> r,
                     In<T, B> w, std::type_identity_t<T> b, In<T, B> z, std::type_identity_t<T> c,
                     Span<T, B> z_old);

}  // namespace tansolve
