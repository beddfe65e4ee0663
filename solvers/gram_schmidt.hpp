// SPDX-License-Identifier: BSD-3-Clause
// How a new vector of a Krylov basis is made orthogonal to those before it.
#pragma once

#include <tansolve/kernels/basis.hpp>

namespace tansolve {

/// When classical Gram-Schmidt is done twice.
enum class Reorthogonalize {
  always,  ///< for each vector
  needed   ///< where the first pass has left less than 1/sqrt(2) of the vector
};

namespace detail {

/// w less its part V h along the k vectors of the basis before it, h in two parts, h and g, and the
/// norm of what is left. Passes over memory: 3 k + 5; with `needed` 2 k + 3 without a second pass,
/// else 4 k + 6.
template <class T, class B>
void orthogonalize(Basis<T, B>& V, Reorthogonalize when, Span<T, B> w, Span<T, B> h, Span<T, B> g,
                   Scalar<T, B>& norm) {
  V.project(w, h);
  if (when == Reorthogonalize::always) {
    V.subtract_project(h, w, g);
    V.subtract(g, w, norm);
  } else {
    V.subtract(h, w, norm);
    V.subtract_again(h, w, g, norm);
  }
}

}  // namespace detail
}  // namespace tansolve
