// SPDX-License-Identifier: BSD-3-Clause
// The products without streams for float.
#include <tansolve/kernels/cuda/array_product.cuh>

namespace tansolve::detail {

template void array_product(Context<Cuda>&, Coding, const ArrayMatrixView<float>&,
                            const ProductVectors<float>&);

}  // namespace tansolve::detail
