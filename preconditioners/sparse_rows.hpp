// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices computed row by row on threads: products, transposes, whatever else sums rows of
// others. No result depends on the number of threads.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tansolve::detail {

/// Where [0, count) is cut into tasks: so few that the dense indices of RowSum cost little, so many
/// that threads stay busy. Depends on `count` alone.
class Ranges {
 public:
  explicit Ranges(std::int64_t count)
      : count_(count), length_(std::max<std::int64_t>(512, (count + 127) / 128)) {}
  std::int64_t number() const { return (count_ + length_ - 1) / length_; }
  std::int64_t first(std::int64_t range) const { return range * length_; }
  std::int64_t last(std::int64_t range) const { return std::min(first(range + 1), count_); }
  std::int64_t of(std::int64_t i) const { return i / length_; }

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

/// Consecutive rows.
struct Rows {
  std::vector<std::int64_t> begins = {0};
  std::vector<std::int32_t> columns = {};
  std::vector<double> values = {};
};

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
  /// factor times a row.
  void add(double factor, std::span<const std::int32_t> columns, const double* values) {
    for (std::size_t k = 0; k < columns.size(); ++k) add(columns[k], factor * values[k]);
  }
  void add(double factor, const Csr<double>& B, std::int64_t row) {
    const std::int64_t first = B.offsets()[row];
    add(factor, B.columns().subspan(first, B.offsets()[row + 1] - first),
        B.values().data() + first);
  }
  template <class Function>
  void transform(const Function& of_value) {
    std::ranges::transform(values_, values_.begin(), of_value);
  }
  /// Appends the row, its columns as they came or sorted, and begins with an empty one.
  void move_to(Rows& rows, bool sorted) {
    if (sorted) std::ranges::sort(columns_);
    for (const std::int32_t column : columns_) {
      rows.columns.push_back(column);
      rows.values.push_back(values_[std::exchange(at_[column], -1)]);
    }
    rows.begins.push_back(std::ssize(rows.columns));
    columns_.clear();
    values_.clear();
  }

 private:
  std::vector<std::int32_t> at_;  ///< of a column in values_, or -1
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
};

/// The rows x cols matrix whose row i is what sum_row(i, row) adds up, in the pieces in which
/// threads summed them. While that is done each holds an index of 4 bytes a column.
class SummedRows {
 public:
  using SumRow = std::function<void(std::int64_t i, RowSum& row)>;

  SummedRows(int threads, std::int64_t rows, std::int64_t cols, bool sorted, const SumRow& sum_row);

  /// Adds factor times row i to another one.
  void add_to(RowSum& sum, double factor, std::int64_t i) const {
    const std::int64_t range = ranges_.of(i), row = i - ranges_.first(range);
    const Rows& piece = pieces_[range];
    const std::int64_t first = piece.begins[row];
    sum.add(factor, std::span(piece.columns).subspan(first, piece.begins[row + 1] - first),
            piece.values.data() + first);
  }
  /// Put together; leaves nothing here.
  Csr<double> to_csr() &&;

 private:
  int threads_;
  std::int64_t rows_, cols_;
  Ranges ranges_;
  std::vector<Rows> pieces_;
};

/// R A P, for A as symmetric as R = P' says up to rounding. Sums rows of A P, which is held as a
/// whole, in the order of A's columns, and those of the result in the order of R's.
///
/// Source: Gustavson, ACM TOMS 4 (1978).
Csr<double> triple_product(const Csr<double>& R, const Csr<double>& A, const Csr<double>& P,
                           int threads);

/// Items dealt out to buckets, those of each in their order: a counting sort. Holds up to 16 counts
/// of 8 bytes a bucket.
class Dealing {
 public:
  /// each(i, visit) calls visit(bucket) for every item of source i < sources.
  template <class Each>
  Dealing(int threads, std::int64_t sources, std::int64_t buckets, const Each& each)
      : threads_(threads),
        sources_(sources),
        next_(std::clamp<std::int64_t>(sources / 4096, 1, 16)),
        begins_(buckets + 1) {
    for_sources([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
      std::vector<std::int64_t>& count = next_[chunk];
      count.assign(begins_.size() - 1, 0);
      for (std::int64_t i = first; i < last; ++i)
        each(i, [&](std::int64_t bucket) { ++count[bucket]; });
    });
    prepare();
  }

  /// Where the buckets begin, and the last one ends.
  const std::vector<std::int64_t>& begins() const { return begins_; }

  /// each(i, next) calls next(bucket) for the same items in the same order, and is told the place
  /// of each. To be called once.
  template <class Each>
  void deal(const Each& each) {
    for_sources([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
      std::vector<std::int64_t>& next = next_[chunk];
      for (std::int64_t i = first; i < last; ++i)
        each(i, [&](std::int64_t bucket) { return next[bucket]++; });
    });
  }

 private:
  template <class Work>
  void for_sources(const Work& work) {
    const auto chunks = std::ssize(next_);
    parallel_tasks(threads_, chunks, [&](std::int64_t chunk) {
      work(chunk, chunk * sources_ / chunks, (chunk + 1) * sources_ / chunks);
    });
  }
  void prepare();

  int threads_;
  std::int64_t sources_;
  std::vector<std::vector<std::int64_t>> next_;  ///< of a chunk of the sources, in each bucket
  std::vector<std::int64_t> begins_;
};

/// The transposed matrix, as tansolve::transpose gives it.
Csr<double> transposed(const Csr<double>& A, int threads);

}  // namespace tansolve::detail
