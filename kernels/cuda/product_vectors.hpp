// SPDX-License-Identifier: BSD-3-Clause
// The vectors that a product's kernel reads and writes.
#pragma once

#include <cstdint>

namespace tansolve::detail {

/// Columns that one decoding serves at most: what of their sums fits into registers.
inline constexpr int most_block_columns = 8;

/// y_c = alpha A x_c + beta y_c for every column c < columns and, unless it is null, xy = x_0'y_0.
template <class T>
struct ProductVectors {
  const T* x[most_block_columns];
  T* y[most_block_columns];
  int columns;
  T alpha;
  T beta;
  T* xy;
  bool plain;  ///< alpha = 1, beta = 0, no xy

  static ProductVectors one(T alpha, const T* x, T beta, T* y, T* xy) {
    return {{x}, {y}, 1, alpha, beta, xy, alpha == T(1) && beta == T(0) && xy == nullptr};
  }
  /// Columns x_stride and y_stride apart. Kernels read as many as they are made for: column 0 again
  /// for those that there are not.
  static ProductVectors block(int columns, const T* x, std::int64_t x_stride, T* y,
                              std::int64_t y_stride) {
    ProductVectors vectors = {{}, {}, columns, T(1), T(0), nullptr, true};
    for (int c = 0; c < most_block_columns; ++c) {
      vectors.x[c] = c < columns ? x + c * x_stride : x;
      vectors.y[c] = c < columns ? y + c * y_stride : nullptr;
    }
    return vectors;
  }
};

}  // namespace tansolve::detail
