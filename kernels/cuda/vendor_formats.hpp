// SPDX-License-Identifier: BSD-3-Clause
// From CSR to the arrays of cuSPARSE's formats, on the host.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tansolve::detail {

/// The row of each nonzero.
template <class Index, class T>
std::vector<Index> row_indices(const Csr<T>& matrix) {
  std::vector<Index> rows(matrix.nnz());
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    std::fill(rows.begin() + matrix.offsets()[i], rows.begin() + matrix.offsets()[i + 1],
              static_cast<Index>(i));
  return rows;
}

inline constexpr std::int64_t sell_slice = 32;  ///< rows

/// Where the slices of SELL begin: one more than there are. The last is padded to whole rows, too.
template <class T>
std::vector<std::int64_t> sell_offsets(const Csr<T>& matrix) {
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t first = 0; first < matrix.rows(); first += sell_slice) {
    std::int64_t longest = 0;
    for (std::int64_t i = first; i < std::min(first + sell_slice, matrix.rows()); ++i)
      longest = std::max(longest, matrix.row_nnz(i));
    offsets.push_back(offsets.back() + longest * sell_slice);
  }
  return offsets;
}

/// Spreads what CSR has an element of per nonzero over the slices: entry k of row j of a slice is
/// at the slice's offset + k sell_slice + j.
template <class E, class T, class Source>
std::vector<E> to_sell(const Csr<T>& matrix, const std::vector<std::int64_t>& offsets,
                       const Source& source, E padding) {
  std::vector<E> spread(offsets.back(), padding);
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    const std::int64_t first = offsets[i / sell_slice] + i % sell_slice;
    for (std::int64_t k = 0; k < matrix.row_nnz(i); ++k)
      spread[first + k * sell_slice] = static_cast<E>(source[matrix.offsets()[i] + k]);
  }
  return spread;
}

/// Calls visit(block row, its block columns in ascending order) for every block row.
template <class T, class Visit>
void for_each_block_row(const Csr<T>& matrix, std::int64_t block, Visit visit) {
  std::vector<std::int32_t> columns;
  for (std::int64_t b = 0; b < matrix.rows() / block; ++b) {
    columns.clear();
    const std::int64_t last = matrix.offsets()[(b + 1) * block];
    for (std::int64_t k = matrix.offsets()[b * block]; k < last; ++k) {
      const auto column = static_cast<std::int32_t>(matrix.columns()[k] / block);
      if (columns.empty() || columns.back() != column) columns.push_back(column);
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    visit(b, columns);
  }
}

/// The block x block blocks that hold any entry.
template <class T>
std::int64_t count_blocks(const Csr<T>& matrix, std::int64_t block) {
  std::int64_t count = 0;
  for_each_block_row(matrix, block,
                     [&](std::int64_t, const auto& columns) { count += std::ssize(columns); });
  return count;
}

/// Element (i, j) of block k is values[k block^2 + j block + i].
template <class T>
struct BsrArrays {
  std::vector<std::int32_t> offsets = {0};  ///< block rows + 1
  std::vector<std::int32_t> columns;        ///< of blocks
  std::vector<T> values;
};

/// `block` divides rows and columns; fewer than 2^31 entries lie in blocks that hold any.
template <class T>
BsrArrays<T> to_bsr(const Csr<T>& matrix, std::int64_t block) {
  BsrArrays<T> bsr;
  for_each_block_row(matrix, block, [&](std::int64_t b, const auto& columns) {
    const std::int64_t first = std::ssize(bsr.columns);
    bsr.columns.insert(bsr.columns.end(), columns.begin(), columns.end());
    bsr.offsets.push_back(static_cast<std::int32_t>(bsr.columns.size()));
    bsr.values.resize(bsr.columns.size() * block * block, T(0));
    for (std::int64_t i = 0; i < block; ++i) {
      const std::int64_t row = b * block + i;
      for (std::int64_t k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k) {
        const std::int64_t column = matrix.columns()[k];
        const auto at = std::ranges::lower_bound(columns, column / block) - columns.begin();
        bsr.values[((first + at) * block + column % block) * block + i] = matrix.values()[k];
      }
    }
  });
  return bsr;
}

}  // namespace tansolve::detail
