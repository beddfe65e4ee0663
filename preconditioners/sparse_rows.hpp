// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices computed row by row on threads: products, and whatever else sums rows of others.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tansolve::detail {

/// A sparse row that is being summed up: a dense index of the columns that it has so far.
class RowSum {
 public:
  explicit RowSum(std::int64_t cols) : at_(cols, -1) {}

  void add(std::int32_t column, double value) {
    if (at_[column] >= 0) {
      values_[at_[column]] += value;
      return;
    }
    at_[column] = static_cast<std::int32_t>(columns_.size());
    columns_.push_back(column);
    values_.push_back(value);
  }
  /// factor times a row of B.
  void add(double factor, const Csr<double>& B, std::int64_t row) {
    for (std::int64_t k = B.offsets()[row]; k < B.offsets()[row + 1]; ++k)
      add(B.columns()[k], factor * B.values()[k]);
  }
  template <class Function>
  void transform(const Function& of_value) {
    std::ranges::transform(values_, values_.begin(), of_value);
  }
  /// Appends the row, its columns sorted, and begins with an empty one. Returns its length.
  std::int64_t move_to(std::vector<std::int32_t>& columns, std::vector<double>& values) {
    order_ = columns_;
    std::ranges::sort(order_);
    for (const std::int32_t column : order_) {
      columns.push_back(column);
      values.push_back(values_[std::exchange(at_[column], -1)]);
    }
    columns_.clear();
    values_.clear();
    return std::ssize(order_);
  }

 private:
  std::vector<std::int32_t> at_;  ///< of a column in columns_, or -1
  std::vector<std::int32_t> columns_, order_;
  std::vector<double> values_;
};

/// Where [0, count) is cut into tasks: so few that the dense indices of RowSum cost little, so many
/// that threads stay busy. Depends on `count` alone.
class Ranges {
 public:
  explicit Ranges(std::int64_t count)
      : count_(count), length_(std::max<std::int64_t>(512, (count + 127) / 128)) {}
  std::int64_t number() const { return (count_ + length_ - 1) / length_; }
  std::int64_t first(std::int64_t range) const { return range * length_; }
  std::int64_t last(std::int64_t range) const { return std::min(first(range + 1), count_); }

 private:
  std::int64_t count_, length_;
};

/// Calls each(i) for every i in [0, count), in any order, on `threads` threads (0: as many as
/// OpenMP would start).
template <class Each>
void parallel_each(int threads, std::int64_t count, const Each& each) {
  const Ranges ranges(count);
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i) each(i);
  });
}

/// The rows x cols matrix whose row i is what sum_row(i, row) adds up. Rows are summed
/// independently of each other, so that the bits do not depend on `threads`. Holds the result twice
/// at the end, and up to `threads` indices of 4 bytes a column.
Csr<double> rows_in_parallel(int threads, std::int64_t rows, std::int64_t cols,
                             const std::function<void(std::int64_t i, RowSum& row)>& sum_row);

/// A B by Gustavson's method: each row is summed in the order of A's columns.
///
/// Source: Gustavson, ACM TOMS 4 (1978).
Csr<double> product(const Csr<double>& A, const Csr<double>& B, int threads);

}  // namespace tansolve::detail
