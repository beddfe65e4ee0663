// SPDX-License-Identifier: BSD-3-Clause
// CSR-dtANS: a compressed sparse matrix, ready to be decoded inside a product.
#pragma once

#include <tansolve/codec/arrays.hpp>
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dtans/table.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/plan.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tansolve {

/// A coding table and what its symbols stand for: a delta, a value or both, by the plan's coding.
/// An escape is the last symbol and has no entry in deltas or values.
template <class T>
struct SymbolTable {
  CodingTable code;
  std::vector<std::uint32_t> deltas;
  std::vector<T> values;
};

/// A number for each row, in the fewest bytes that hold them: 0 where all are alike.
class RowNumbers {
 public:
  RowNumbers() = default;
  /// Takes numbers below 2^32.
  explicit RowNumbers(std::span<const std::uint32_t> numbers);
  /// The lengths of rows that begin at these offsets.
  static RowNumbers lengths(std::span<const std::int64_t> offsets);
  /// From stored bytes; throws Error(bad_input) unless width is 0, 1, 2 or 4 and bytes has rows *
  /// width.
  RowNumbers(std::int64_t rows, int width, std::uint32_t constant, std::vector<std::uint8_t> bytes);

  std::uint32_t operator[](std::int64_t row) const {
    const std::uint8_t* at = bytes_.data() + row * width_;
    switch (width_) {
      case 0:
        return constant_;
      case 1:
        return at[0];
      case 2:
        return at[0] | std::uint32_t{at[1]} << 8;
      default:
        return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
               std::uint32_t{at[3]} << 24;
    }
  }
  int width() const { return width_; }
  std::uint32_t constant() const { return constant_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  int width_ = 0;
  std::uint32_t constant_ = 0;
  std::vector<std::uint8_t> bytes_;
};

/// The members of a compressed matrix; FORMAT.md gives their meaning byte by byte.
template <class T>
struct CompressedParts {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  Plan plan;
  std::vector<SymbolTable<T>> tables;  ///< traits(plan.coding).tables of them, none when nnz = 0
  RowNumbers row_lengths;  ///< of coded rows, in entries; of codings with patterns those of rows
  /// slices + 1, in words; without streams in entries a lane; codings with patterns alone: none
  std::vector<std::uint64_t> slice_offsets;
  std::vector<std::uint32_t> words;  ///< streams; without them the fields of values
  ArrayParts<T> arrays;              ///< without streams
};

/// Bytes by part; their sum is what a product keeps in memory besides a stated constant.
struct StorageBytes {
  std::int64_t symbols = 0;      ///< tables: deltas, values and slot counts; patterns; dictionaries
  std::int64_t payload = 0;      ///< the streams, or the fields and exceptions
  std::int64_t row_lengths = 0;  ///< or their patterns, and their order
  std::int64_t offsets = 0;      ///< of the slices
  std::int64_t total() const { return symbols + payload + row_lengths + offsets; }
};

template <class T>
class CompressedMatrix;

namespace detail {

/// The encoder's way past validation: it has just proved what validation would.
struct Trusted {
  template <class T>
  static CompressedMatrix<T> matrix(CompressedParts<T> parts);
  /// Of a matrix that stays one whatever is done to them.
  template <class T>
  static CompressedParts<T>& parts(CompressedMatrix<T>& matrix);
};

/// CompressedMatrix::row_offsets.
template <class T>
std::vector<std::int64_t> row_offsets(const CompressedParts<T>& parts);

}  // namespace detail

/// An immutable compressed matrix. Whoever holds one may decode it without checks: every way to
/// make one proves that its streams stay inside their slices and yield a valid CSR matrix.
template <class T>
class CompressedMatrix {
 public:
  /// Takes parts from anywhere and validates them by decoding everything (on `threads` threads, 0:
  /// as many as OpenMP would start), which `progress` follows. Throws Error(bad_input) naming the
  /// part, slice or row.
  explicit CompressedMatrix(CompressedParts<T> parts, int threads = 0,
                            const Progress& progress = {});

  std::int64_t rows() const { return parts_.rows; }
  std::int64_t cols() const { return parts_.cols; }
  std::int64_t nnz() const { return parts_.nnz; }
  const Plan& plan() const { return parts_.plan; }
  const CompressedParts<T>& parts() const { return parts_; }

  /// Slices of streams or fields.
  std::int64_t slices() const { return std::ssize(parts_.slice_offsets) - 1; }
  std::span<const std::uint32_t> slice_words(std::int64_t slice) const {
    return std::span(parts_.words)
        .subspan(parts_.slice_offsets[slice],
                 parts_.slice_offsets[slice + 1] - parts_.slice_offsets[slice]);
  }
  /// Segments of each lane of a slice.
  std::array<std::int64_t, warp_size> lane_segments(std::int64_t slice) const;
  StorageBytes storage() const;
  /// As of CSR: rows() + 1 of them.
  std::vector<std::int64_t> row_offsets() const { return detail::row_offsets(parts_); }

  /// Calls visit(row, position in the row, column, value) for every nonzero, by the reference
  /// decoder: the nonzeros of a row in their order, the rows of a slice interleaved, slices on
  /// `threads` threads.
  using Visit = std::function<void(std::int64_t, std::uint32_t, std::uint32_t, T)>;
  void for_each_nonzero(const Visit& visit, int threads = 0) const;

  /// What was encoded, bit for bit, by the reference decoder.
  Csr<T> decode(int threads = 0) const;

 private:
  friend struct detail::Trusted;
  CompressedMatrix() = default;

  CompressedParts<T> parts_;
};

template <class T>
CompressedMatrix<T> detail::Trusted::matrix(CompressedParts<T> parts) {
  CompressedMatrix<T> trusted;
  trusted.parts_ = std::move(parts);
  return trusted;
}

template <class T>
CompressedParts<T>& detail::Trusted::parts(CompressedMatrix<T>& matrix) {
  return matrix.parts_;
}

}  // namespace tansolve
