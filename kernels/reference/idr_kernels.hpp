// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of IDR(s).
#pragma once

#include <cstdint>

namespace tansolve::reference {

// Formulas: kernels/idr.hpp, with coefficients in place of a state; sums are left to dot and norm2.
// Terms are added in the order of their numbers. T is double or float.

template <class T>
void idr_rest(std::int64_t n, int k, int s, const double* c, const T* const* g, const T* r, T* v);
template <class T>
void idr_direction(std::int64_t n, int k, int s, double omega, const double* c, const T* z,
                   T* const* u);
template <class T>
void idr_step(std::int64_t n, int k, const double* a, double beta, double sigma, T* const* g,
              T* const* u, T* x, T* r);
template <class T>
void idr_last_step(std::int64_t n, double omega, double sigma, const T* y, const T* t, T* x, T* r);

}  // namespace tansolve::reference
