// SPDX-License-Identifier: BSD-3-Clause
// The products without streams for double.
#include <tansolve/kernels/cuda/array_product.cuh>

namespace tansolve::detail {

template void array_product(Context<Cuda>&, Coding, const ArrayMatrixView<double>&,
                            const ProductVectors<double>&);

}  // namespace tansolve::detail
