// SPDX-License-Identifier: BSD-3-Clause
// The launch of the product that decodes on the fly.
#pragma once

#include <tansolve/codec/plan.hpp>
#include <tansolve/kernels/cuda/device_matrix.hpp>

namespace tansolve::detail {

/// y = alpha A x + beta y; beta = 0 overwrites. With xy also xy = x'y, for square matrices.
/// Asynchronous, allocates nothing, the same bits every time on the same GPU.
template <class T>
void fused_product(Context<Cuda>& context, const Plan& plan, const DeviceMatrixView<T>& matrix,
                   T alpha, const T* x, T beta, T* y, T* xy);

}  // namespace tansolve::detail
