// SPDX-License-Identifier: BSD-3-Clause
// Products of several vectors at once with several others, or with a small matrix.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve {

// The rules of kernels/primitives.hpp hold. X and Y are blocks of j and k columns, one after
// another, of n elements each; small matrices are stored by columns, too. A wrong size is
// Error(invalid_argument). A block that is only read may share columns with another.

/// G = X'Y, j x k: sums in double, kept as such; callers name T. Passes over memory: j ceil(k / 4)
/// + k ceil(j / 4).
template <class T, class B>
void gram(Context<B>& context, std::int64_t j, In<T, B> X, std::int64_t k, In<T, B> Y,
          Span<double, B> G);

/// Y = X C + b Y, C being j x k; b = 0 overwrites Y, whatever it held. The sum over X is made in
/// the order of its columns. Passes: j ceil(k / 8) + 2 k, or j ceil(k / 8) + k where b = 0.
template <class T, class B>
void combine(Context<B>& context, std::int64_t j, In<T, B> X, In<T, B> C, std::type_identity_t<T> b,
             std::int64_t k, Span<T, B> Y);

}  // namespace tansolve
