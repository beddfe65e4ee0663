// SPDX-License-Identifier: BSD-3-Clause
// How one warp multiplies rows that are numbers of patterns.
//
// A lane takes several rows, as a rule of the same base pattern: each entry is then looked up once
// for all of them. Where 32 lanes have the same base, too, a look-up is one access for the whole
// warp. What remains is to read x: these loads bound the kernel.
#pragma once

#include <tansolve/kernels/cuda/row_agent.cuh>

#include <cstdint>

namespace tansolve::detail {

/// Rows a lane, `stride` apart. `finite`: no value is infinite or NaN.
template <class T, int rows, int stride, bool finite, bool shared, int columns = 1>
class PatternAgent : public RowAgent<T, shared, columns> {
  using Base = RowAgent<T, shared, columns>;
  using Base::all;
  using Base::lane_;
  using Base::matrix_;
  using Base::vectors_;
  static constexpr int unroll = rows * columns >= 4 ? 2 : 8 / (rows * columns);
  static constexpr int groups_side_by_side = stride / 32;

 public:
  using Base::Base;
  static constexpr int threads = 512;

  /// Groups come in sets that cover neighbouring rows.
  static __device__ std::uint32_t groups(const ArrayMatrixView<T>& matrix) {
    constexpr std::uint32_t of_set = 32 * rows * groups_side_by_side;
    return (matrix.rows + of_set - 1) / of_set * groups_side_by_side;
  }

  __device__ void run(std::uint32_t group, std::uint32_t) {
    const std::uint32_t first_row =
        group / groups_side_by_side * (32 * rows * groups_side_by_side) +
        group % groups_side_by_side * 32 + lane_;
    std::uint32_t numbers[rows];
    this->template load_numbers<rows, stride>(first_row, matrix_.rows - 1, numbers);
    const auto* patterns = this->template table<PatternInfo>(0);
    Row of[rows];
    bool same = true;
#pragma unroll
    for (int t = 0; t < rows; ++t) {
      const int4 info = *reinterpret_cast<const int4*>(patterns + numbers[t]);
      const bool there = first_row + t * stride < matrix_.rows;
      of[t] = {static_cast<std::uint32_t>(info.x), static_cast<std::uint32_t>(info.y),
               there ? static_cast<std::uint32_t>(info.z) : 0, static_cast<std::uint32_t>(info.w)};
      same = same && of[t].first == of[0].first;
    }
    const T* x[columns];
    this->point(first_row, x);
    T sums[rows][columns] = {};
    if (rows == 1 || __all_sync(all, same)) {
      add<rows>(of, first_row, 0, x, sums);
    } else {
#pragma unroll
      for (int t = 0; t < rows; ++t) add<1>(of + t, first_row, t, x, sums + t);
    }
#pragma unroll
    for (int t = 0; t < rows; ++t)
      if (first_row + t * stride < matrix_.rows)
        put_sums(vectors_, first_row + t * stride, sums[t], this->xy_);
  }

 private:
  struct Row {
    std::uint32_t first, length, mask, masks;
  };

  struct Entry {
    T value;
    std::int32_t offset;
  };
  static __device__ Entry entry(const PatternEntry<T>* from) {
    if constexpr (sizeof(T) == 8) {
      const int4 both = *reinterpret_cast<const int4*>(from);
      return {__hiloint2double(both.y, both.x), both.z};
    } else {
      const int2 both = *reinterpret_cast<const int2*>(from);
      return {__int_as_float(both.x), both.y};
    }
  }

  /// Adds the products of `count` rows of the same base, the lane's rows `first` and those after.
  template <int count>
  __device__ void add(const Row* of, std::uint32_t first_row, int first, const T* const* x,
                      T (*sums)[columns]) const {
    const PatternEntry<T>* entries =
        this->template table<PatternEntry<T>>(matrix_.entries_at) + of[0].first;
    const std::uint32_t longest = __reduce_max_sync(all, of[0].length);
    std::uint32_t mask[count];
#pragma unroll
    for (int t = 0; t < count; ++t) mask[t] = of[t].mask;
    for (std::uint32_t k = 0;;) {
      const std::uint32_t end = min(longest, k + 32);
      for (; k < end; k += unroll, entries += unroll) {
        T value[unroll], read[unroll][count][columns];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
          const Entry entry = this->entry(entries + u);
          value[u] = entry.value;
#pragma unroll
          for (int t = 0; t < count; ++t) {
#pragma unroll
            for (int c = 0; c < columns; ++c) read[u][t][c] = 0;
            if (mask[t] >> u & 1)
#pragma unroll
              for (int c = 0; c < columns; ++c)
                read[u][t][c] = __ldg(x[c] + entry.offset + (first + t) * stride);
          }
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u)
#pragma unroll
          for (int t = 0; t < count; ++t)
            if (finite || (mask[t] >> u & 1))
#pragma unroll
              for (int c = 0; c < columns; ++c) sums[t][c] += value[u] * read[u][t][c];
#pragma unroll
        for (int t = 0; t < count; ++t) mask[t] >>= unroll;
      }
      if (k >= longest) return;
      const auto* masks = this->template table<std::uint32_t>(matrix_.masks_at);
#pragma unroll
      for (int t = 0; t < count; ++t)
        mask[t] = k < of[t].length && first_row + (first + t) * stride < matrix_.rows
                      ? masks[of[t].masks + k / 32]
                      : 0;
    }
  }
};

}  // namespace tansolve::detail
