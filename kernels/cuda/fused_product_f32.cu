// SPDX-License-Identifier: BSD-3-Clause
// The fused product for float.
#include <tansolve/kernels/cuda/fused_product.cuh>

namespace tansolve::detail {

template void fused_product(Context<Cuda>&, const Plan&, const DeviceMatrixView<float>&,
                            const ProductVectors<float>&);

}  // namespace tansolve::detail
