// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of least-squares methods.
#pragma once

#include <tansolve/kernels/bidiagonal.hpp>

namespace tansolve::reference {

// Formulas: kernels/bidiagonal.hpp; norms are left to norm2. T is double or float.

template <class T>
void bidiagonal_step(std::int64_t n, T a, const T* p, T* u);
template <class T>
void lsqr_step(std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x);
template <class T>
void lsmr_step(std::int64_t n, const LsmrScalars<T>& s, T* v, T* h, T* hbar, T* x);

}  // namespace tansolve::reference
