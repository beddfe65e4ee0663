// SPDX-License-Identifier: BSD-3-Clause
// The fused product for float.
#include <tansolve/kernels/cuda/fused_product.cuh>

namespace tansolve::detail {

template void fused_product(Context<Cuda>&, const Plan&, const DeviceMatrixView<float>&, float,
                            const float*, float, float*, float*);

}  // namespace tansolve::detail
