// SPDX-License-Identifier: BSD-3-Clause
// The products without streams for float.
#include <tansolve/kernels/cuda/array_product.cuh>

namespace tansolve::detail {

template void array_product(Context<Cuda>&, Coding, const ArrayMatrixView<float>&, float,
                            const float*, float, float*, float*);

}  // namespace tansolve::detail
