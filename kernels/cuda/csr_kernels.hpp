// SPDX-License-Identifier: BSD-3-Clause
// The launch of the plain CSR product.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>

#include <cstdint>

namespace tansolve::detail {

/// y = alpha A x + beta y from device arrays; beta = 0 overwrites y.
template <class T>
void csr_apply(Context<Cuda>& context, std::int64_t rows, const std::int64_t* offsets,
               const std::int32_t* columns, const T* values, T alpha, const T* x, T beta, T* y);

}  // namespace tansolve::detail
