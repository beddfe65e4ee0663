// SPDX-License-Identifier: BSD-3-Clause
// Rows that repeat an earlier one: what was counted or encoded for that one serves them too.
//
// The interior rows of a stencil repeat the row before, those of a finite-element matrix of u
// unknowns a point the row u before, shifted by as much as the rows are apart. Comparing two rows
// takes a tenth of the time of counting or encoding one.
#pragma once

#include <tansolve/codec/row_source.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace tansolve::detail {

/// Whether two rows of a block, of as many entries, have the same columns relative to the row.
template <class T>
bool same_offsets(const RowBlock<T>& rows, std::int64_t row, std::int64_t earlier) {
  const std::int32_t *columns = rows.columns(row), *earlier_columns = rows.columns(earlier);
  const auto shift = static_cast<std::uint32_t>(row - earlier);
  std::uint32_t differences = 0;
  for (std::int64_t k = 0; k < rows.row_nnz(row); ++k)
    differences |=
        (static_cast<std::uint32_t>(columns[k]) - static_cast<std::uint32_t>(earlier_columns[k])) ^
        shift;
  return differences == 0;
}

/// Whether two rows of a block have the same deltas and values, bit for bit.
template <class T>
bool same_pairs(const RowBlock<T>& rows, std::int64_t row, std::int64_t earlier) {
  const std::int64_t length = rows.row_nnz(row);
  return rows.row_nnz(earlier) == length &&
         (length == 0 ||
          std::memcmp(rows.values(row), rows.values(earlier), length * sizeof(T)) == 0) &&
         same_offsets(rows, row, earlier);
}

/// The distance in rows at which most of the nonzeros of a sample of rows are repeated; 0 where
/// even those are so few that comparing rows would not pay.
template <class T>
std::int64_t repeat_distance(const RowSource<T>& source) {
  constexpr std::int64_t longest = 8, sample = 512;
  // An odd stride does not keep step with grids, whose sides are powers of two more often than not.
  const std::int64_t stride = source.rows() / sample | 1;
  std::int64_t all = 0;
  std::array<std::int64_t, longest + 1> repeated{};
  RowBuffer<T> buffer;
  for (std::int64_t row = longest; row < source.rows(); row += stride) {
    const RowBlock<T> rows = source.block(row - longest, row + 1, buffer);
    all += rows.row_nnz(row);
    for (std::int64_t distance = 1; distance <= longest; ++distance)
      if (same_pairs(rows, row, row - distance)) repeated[distance] += rows.row_nnz(row);
  }
  const auto best = std::ranges::max_element(repeated);
  return *best > all / 8 ? best - repeated.begin() : 0;
}

}  // namespace tansolve::detail
