// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about the vector work of BiCGSTAB.
#pragma once

#include <cstdint>

namespace tansolve::reference {

// Formulas: kernels/bicgstab.hpp, for steps that are taken; the sums are left to dot and norm2, and
// z may be r. T is double or float.

template <class T>
void bicgstab_half_step(std::int64_t n, double alpha, const T* v, T* r);
template <class T>
void bicgstab_step(std::int64_t n, double alpha, double omega, T scale, const T* y, const T* z,
                   const T* t, T* x, T* r);
template <class T>
void bicgstab_direction(std::int64_t n, double beta, double omega, const T* r, const T* v, T* p);

}  // namespace tansolve::reference
