// SPDX-License-Identifier: BSD-3-Clause
// The launch of the step of a polynomial.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>

#include <cstdint>

namespace tansolve::detail {

/// Formula: kernels/polynomial_step.hpp, over device arrays of n elements.
template <class T>
void polynomial_step(Context<Cuda>& context, std::int64_t n, T a, const T* d, const T* r,
                     const T* w, T b, const T* z, T c, T* z_old);

}  // namespace tansolve::detail
