// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about blocks of vectors.
#pragma once

#include <cstdint>

namespace tansolve::reference {

// Formulas: kernels/block.hpp. T is double or float.

template <class T>
void gram(std::int64_t n, std::int64_t j, const T* X, std::int64_t k, const T* Y, double* G);
template <class T>
void combine(std::int64_t n, std::int64_t j, const T* X, const T* C, T b, std::int64_t k, T* Y);

}  // namespace tansolve::reference
