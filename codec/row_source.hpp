// SPDX-License-Identifier: BSD-3-Clause
// A matrix as blocks of rows that can be read again and again: what the encoder reads.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tansolve {

/// Neighbouring rows of a matrix. Rows keep their numbers in the matrix. Refers to arrays of
/// others.
template <class T>
class RowBlock {
 public:
  /// The rows from `begin` on, offsets.size() - 1 of them; the first entry of the arrays is number
  /// offsets[0] of the matrix.
  RowBlock(std::int64_t begin, std::span<const std::int64_t> offsets, const std::int32_t* columns,
           const T* values)
      : begin_(begin), offsets_(offsets), columns_(columns), values_(values) {}

  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return begin_ + std::ssize(offsets_) - 1; }
  std::int64_t nnz() const { return offsets_.back() - offsets_.front(); }
  std::int64_t row_nnz(std::int64_t row) const {
    return offsets_[row - begin_ + 1] - offsets_[row - begin_];
  }
  const std::int32_t* columns(std::int64_t row) const { return columns_ + first_of(row); }
  const T* values(std::int64_t row) const { return values_ + first_of(row); }
  /// Of all its rows.
  std::span<const T> values() const { return {values_, static_cast<std::size_t>(nnz())}; }

 private:
  std::int64_t first_of(std::int64_t row) const {
    return offsets_[row - begin_] - offsets_.front();
  }

  std::int64_t begin_;
  std::span<const std::int64_t> offsets_;
  const std::int32_t* columns_;
  const T* values_;
};

/// What a block refers to where its source does not hold the rows; one a thread.
template <class T>
struct RowBuffer {
  std::vector<std::int32_t> columns;
  std::vector<T> values;
};

/// A matrix whose row lengths are known and whose rows can be had block by block, by several
/// threads, as often as need be: the encoder samples some and goes over all a few times.
template <class T>
class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual std::int64_t cols() const = 0;
  /// rows() + 1, from 0 on: row i holds the entries offsets()[i] to offsets()[i + 1].
  virtual std::span<const std::int64_t> offsets() const = 0;
  /// The rows [begin, end); `buffer` must live as long as the block.
  virtual RowBlock<T> block(std::int64_t begin, std::int64_t end, RowBuffer<T>& buffer) const = 0;

  std::int64_t rows() const { return std::ssize(offsets()) - 1; }
  std::int64_t nnz() const { return offsets().back(); }
  std::int64_t row_nnz(std::int64_t row) const { return offsets()[row + 1] - offsets()[row]; }
};

/// A matrix in memory, which must outlive it. Nothing is copied.
template <class T>
class CsrRows final : public RowSource<T> {
 public:
  explicit CsrRows(const Csr<T>& matrix) : matrix_(matrix) {}

  std::int64_t cols() const override { return matrix_.cols(); }
  std::span<const std::int64_t> offsets() const override { return matrix_.offsets(); }
  RowBlock<T> block(std::int64_t begin, std::int64_t end, RowBuffer<T>&) const override {
    const auto offsets = matrix_.offsets().subspan(begin, end - begin + 1);
    return {begin, offsets, matrix_.columns().data() + offsets[0],
            matrix_.values().data() + offsets[0]};
  }

 private:
  const Csr<T>& matrix_;
};

/// A matrix that is nowhere as a whole: derive from it and write read().
template <class T>
class StreamedRows : public RowSource<T> {
 public:
  /// Takes rows + 1 offsets. Throws Error(invalid_argument) where they do not begin with 0 or do
  /// decrease, and for dimensions beyond those of Csr.
  StreamedRows(std::int64_t cols, std::vector<std::int64_t> offsets);

  std::int64_t cols() const final { return cols_; }
  std::span<const std::int64_t> offsets() const final { return offsets_; }
  /// Throws what read() does, and Error(bad_input) for a row whose columns do not increase within
  /// the matrix.
  RowBlock<T> block(std::int64_t begin, std::int64_t end, RowBuffer<T>& buffer) const final;

 private:
  /// Writes the entries of the rows [begin, end), each row's by increasing column. Called by
  /// several threads at a time; must give the same at each call.
  virtual void read(std::int64_t begin, std::int64_t end, std::int32_t* columns,
                    T* values) const = 0;

  std::int64_t cols_;
  std::vector<std::int64_t> offsets_;
};

namespace detail {

using RowRange = std::pair<std::int64_t, std::int64_t>;

/// Ranges of rows of about `per_range` nonzeros each, at every `stride`-th multiple of it; with
/// stride 1 all rows that hold any.
std::vector<RowRange> row_ranges(std::span<const std::int64_t> offsets, std::int64_t per_range,
                                 std::int64_t stride = 1);

}  // namespace detail
}  // namespace tansolve
