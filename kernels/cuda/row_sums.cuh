// SPDX-License-Identifier: BSD-3-Clause
// Where the sums of a lane's row go.
#pragma once

#include <tansolve/kernels/cuda/product_vectors.hpp>

#include <cstdint>

namespace tansolve::detail {

/// Writes the sum of a row, and adds to xy.
template <class T>
__device__ void put_sum(const ProductVectors<T>& vectors, int column, std::uint32_t row, T sum,
                        double& xy) {
  T& y = vectors.y[column][row];
  if (vectors.plain) {
    y = sum;
    return;
  }
  const T scaled = vectors.alpha * sum;
  const T result = vectors.beta == 0 ? scaled : scaled + vectors.beta * y;
  y = result;
  if (vectors.xy != nullptr)
    xy += static_cast<double>(vectors.x[0][row]) * static_cast<double>(result);
}

/// Ends a row: writes its sums, those of the columns that there are, and adds to xy.
template <class T, int columns>
__device__ void put_sums(const ProductVectors<T>& vectors, std::uint32_t row,
                         const T (&sums)[columns], double& xy) {
  if constexpr (columns == 1) {
    put_sum(vectors, 0, row, sums[0], xy);
  } else {
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (c < vectors.columns) vectors.y[c][row] = sums[c];
  }
}

}  // namespace tansolve::detail
