// SPDX-License-Identifier: BSD-3-Clause
// What the agents of matrices without streams share: arguments, tables, the numbers of rows,
// results.
#pragma once

#include <tansolve/kernels/cuda/array_matrix.hpp>
#include <tansolve/kernels/cuda/row_sums.cuh>

#include <cstdint>

namespace tansolve::detail {

template <class T>
struct ArrayArguments {
  ArrayMatrixView<T> matrix;
  ProductVectors<T> vectors;
};

/// The tables, in shared memory.
extern __shared__ __align__(16) std::byte shared_tables[];

/// What both agents do with rows. Their `threads` are those of a block: neighbouring rows share
/// what they read of x in the L1 cache, the more the larger the block; the sizes are the best of
/// 256 to 1024 on an H200.
template <class T, bool shared, int columns>
class RowAgent {
 public:
  /// Threads of a multiprocessor that registers must leave room for: 64 of them a thread, and 128
  /// where there are several columns. More are not used, fewer do not hide latencies.
  static constexpr int resident_threads = columns == 1 ? 1024 : 512;

  explicit __device__ RowAgent(const ArrayArguments<T>& arguments)
      : matrix_(arguments.matrix), vectors_(arguments.vectors), lane_(threadIdx.x % 32) {}

  /// Asks for what comes first of a group, where that pays, so that it is there in its turn.
  __device__ void prepare(std::uint32_t) {}

  __device__ double xy() const { return xy_; }

 protected:
  static constexpr unsigned all = 0xffffffff;

  template <class E>
  __device__ const E* table(int at) const {
    return reinterpret_cast<const E*>((shared ? shared_tables : matrix_.tables) + at);
  }

  /// The numbers of rows row, row + stride, ..., of those beyond the last that of the last.
  template <int count, int stride>
  __device__ void load_numbers(std::uint32_t row, std::uint32_t last,
                               std::uint32_t (&numbers)[count]) const {
    const auto load = [&](const auto* from) {
#pragma unroll
      for (int t = 0; t < count; ++t) numbers[t] = __ldg(from + min(row + t * stride, last));
    };
    switch (matrix_.number_width) {
      case 0:
#pragma unroll
        for (int t = 0; t < count; ++t) numbers[t] = matrix_.constant_number;
        return;
      case 1:
        return load(matrix_.numbers);
      case 2:
        return load(reinterpret_cast<const unsigned short*>(matrix_.numbers));
      default:
        return load(reinterpret_cast<const std::uint32_t*>(matrix_.numbers));
    }
  }

  /// Where x begins if it is counted from `first`, by column.
  __device__ void point(std::uint32_t first, const T* (&x)[columns]) const {
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      x[c] = vectors_.x[c] + first;
      asm("" : "+l"(x[c]));  // else its sum with offsets is taken apart, at five instructions
    }
  }

  const ArrayMatrixView<T>& matrix_;
  const ProductVectors<T>& vectors_;
  const std::uint32_t lane_;
  double xy_ = 0;
};

}  // namespace tansolve::detail
