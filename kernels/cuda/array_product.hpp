// SPDX-License-Identifier: BSD-3-Clause
// The launches of the products without streams.
#pragma once

#include <tansolve/codec/plan.hpp>
#include <tansolve/kernels/cuda/array_matrix.hpp>
#include <tansolve/kernels/cuda/product_vectors.hpp>

namespace tansolve::detail {

/// As fused_product(), for the codings without streams. Pieces of long rows are added up in their
/// order by a second kernel.
template <class T>
void array_product(Context<Cuda>& context, Coding coding, const ArrayMatrixView<T>& matrix,
                   const ProductVectors<T>& vectors);

}  // namespace tansolve::detail
