// SPDX-License-Identifier: BSD-3-Clause
// The launch of the product that decodes on the fly.
#pragma once

#include <tansolve/codec/plan.hpp>
#include <tansolve/kernels/cuda/device_matrix.hpp>
#include <tansolve/kernels/cuda/product_vectors.hpp>

namespace tansolve::detail {

/// The product; beta = 0 overwrites, xy is for square matrices. Several columns need alpha = 1,
/// beta = 0 and no xy. Asynchronous, allocates nothing, the same bits every time on the same GPU.
template <class T>
void fused_product(Context<Cuda>& context, const Plan& plan, const DeviceMatrixView<T>& matrix,
                   const ProductVectors<T>& vectors);

}  // namespace tansolve::detail
