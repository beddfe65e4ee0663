// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of Lanczos methods.
#pragma once

#include <tansolve/kernels/lanczos_kernels.hpp>

namespace tansolve::reference {

// Formulas: kernels/lanczos.hpp; the norm is left to norm2. T is double or float.

template <class T>
void lanczos_step(std::int64_t n, T alpha, T beta, const T* p, const T* u, T* u_old);
template <class T>
void divide(std::int64_t n, T a, T* x);
template <class T>
void minres_step(std::int64_t n, const detail::MinresScalars<T>& s, const T* v, const T* d,
                 T* d_old, T* x);

}  // namespace tansolve::reference
