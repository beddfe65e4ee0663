// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices in compressed sparse row form: the one form that everything reads from or into.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace tansolve {

/// What to do with two entries at the same (row, column).
enum class Duplicates { refuse, sum };

/// One nonzero of a matrix given as triplets; zero-based.
template <class T>
struct Triplet {
  std::int64_t row;
  std::int64_t col;
  T value;
};

/// A rows x cols sparse matrix, immutable. Row i holds the entries k in [offsets[i], offsets[i+1])
/// with strictly increasing columns[k]; explicit zeros are kept. T is double or float, the
/// dimensions are at most 2^31 - 1, the number of entries is limited by memory alone.
///
/// Every way to make one validates, in O(nnz), and throws Error: invalid_argument for dimensions or
/// arrays that do not fit each other, bad_input (naming row and column) for columns out of range
/// and refused duplicates. Rows whose columns are not sorted are sorted (stably, so that duplicates
/// are summed in the order given).
template <class T>
class Csr {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);

 public:
  /// The 0 x 0 matrix.
  Csr() = default;

  /// Takes arrays of rows + 1, nnz and nnz elements.
  Csr(std::int64_t rows, std::int64_t cols, std::vector<std::int64_t> offsets,
      std::vector<std::int32_t> columns, std::vector<T> values,
      Duplicates duplicates = Duplicates::refuse);

  /// Copies raw arrays of rows + 1, offsets[rows] and offsets[rows] elements; Offset is
  /// std::int32_t or std::int64_t. The arrays may start at any offsets[0]; columns are zero-based.
  template <class Offset>
  static Csr from_arrays(std::int64_t rows, std::int64_t cols, const Offset* offsets,
                         const std::int32_t* columns, const T* values,
                         Duplicates duplicates = Duplicates::refuse);

  /// Entries in any order; duplicates are summed in the order given unless refused.
  static Csr from_triplets(std::int64_t rows, std::int64_t cols,
                           std::span<const Triplet<T>> triplets,
                           Duplicates duplicates = Duplicates::sum);

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t nnz() const { return static_cast<std::int64_t>(columns_.size()); }
  std::span<const std::int64_t> offsets() const { return offsets_; }
  std::span<const std::int32_t> columns() const { return columns_; }
  std::span<const T> values() const { return values_; }
  std::int64_t row_nnz(std::int64_t row) const { return offsets_[row + 1] - offsets_[row]; }

 private:
  void validate(Duplicates duplicates);

  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int32_t> columns_;
  std::vector<T> values_;
};

/// The same matrix with its values rounded to U.
template <class U, class T>
Csr<U> convert(const Csr<T>& matrix);

/// The cols x rows transposed matrix.
template <class T>
Csr<T> transpose(const Csr<T>& matrix);

/// Whether the pattern and the values are symmetric, exactly (-0 equals 0, NaN equals nothing).
template <class T>
bool is_symmetric(const Csr<T>& matrix);

/// Bytes of the standard formats in device memory: 64-bit offsets only where nnz needs them.
struct StandardBytes {
  std::int64_t csr;   ///< offsets, 4-byte columns, values
  std::int64_t coo;   ///< 4-byte rows and columns, values
  std::int64_t sell;  ///< SELL with slices of 32 rows: padded columns and values, slice offsets
};
template <class T>
StandardBytes standard_bytes(const Csr<T>& matrix);
/// The same from rows + 1 offsets and the bytes of a value.
StandardBytes standard_bytes(std::span<const std::int64_t> offsets, std::int64_t value_bytes);

}  // namespace tansolve
