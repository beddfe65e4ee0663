// SPDX-License-Identifier: BSD-3-Clause
// Where the sums of a lane's row go.
#pragma once

#include <tansolve/kernels/cuda/product_vectors.hpp>

#include <cstdint>

namespace tansolve::detail {

/// Ends a row: writes its sums, those of the columns that there are, and adds to xy.
template <class T, int columns>
__device__ void put_sums(const ProductVectors<T>& vectors, std::uint32_t row,
                         const T (&sums)[columns], double& xy) {
  if (columns > 1 || vectors.plain) {
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (columns == 1 || c < vectors.columns) vectors.y[c][row] = sums[c];
    return;
  }
  T& y = vectors.y[0][row];
  const T scaled = vectors.alpha * sums[0];
  const T result = vectors.beta == 0 ? scaled : scaled + vectors.beta * y;
  y = result;
  if (vectors.xy != nullptr)
    xy += static_cast<double>(vectors.x[0][row]) * static_cast<double>(result);
}

}  // namespace tansolve::detail
