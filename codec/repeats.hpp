// SPDX-License-Identifier: BSD-3-Clause
// Rows that repeat an earlier one: what was counted or encoded for that one serves them too.
//
// The interior rows of a stencil repeat the row before, those of a finite-element matrix of u
// unknowns a point the row u before, shifted by as much as the rows are apart. Comparing two rows
// takes a tenth of the time of counting or encoding one.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tansolve::detail {

/// Whether two rows have the same deltas and values, bit for bit.
template <class T>
bool same_pairs(const Csr<T>& matrix, std::int64_t row, std::int64_t earlier) {
  const std::int64_t length = matrix.row_nnz(row);
  if (matrix.row_nnz(earlier) != length) return false;
  const std::int64_t at = matrix.offsets()[row], earlier_at = matrix.offsets()[earlier];
  const T* values = matrix.values().data();
  if (length > 0 && std::memcmp(values + at, values + earlier_at, length * sizeof(T)) != 0)
    return false;
  const std::int32_t* columns = matrix.columns().data();
  const auto shift = static_cast<std::uint32_t>(row - earlier);
  std::uint32_t differences = 0;
  for (std::int64_t k = 0; k < length; ++k)
    differences |= (static_cast<std::uint32_t>(columns[at + k]) -
                    static_cast<std::uint32_t>(columns[earlier_at + k])) ^
                   shift;
  return differences == 0;
}

/// The distance in rows at which most of the nonzeros of a sample of rows are repeated; 0 where
/// even those are so few that comparing rows would not pay.
template <class T>
std::int64_t repeat_distance(const Csr<T>& matrix) {
  constexpr std::int64_t longest = 8, sample = 512;
  // An odd stride does not keep step with grids, whose sides are powers of two more often than not.
  const std::int64_t stride = matrix.rows() / sample | 1;
  std::int64_t all = 0, best = 0, best_repeated = 0;
  for (std::int64_t distance = 1; distance <= longest; ++distance) {
    std::int64_t repeated = 0;
    all = 0;
    for (std::int64_t row = longest; row < matrix.rows(); row += stride) {
      all += matrix.row_nnz(row);
      if (same_pairs(matrix, row, row - distance)) repeated += matrix.row_nnz(row);
    }
    if (repeated > best_repeated) {
      best_repeated = repeated;
      best = distance;
    }
  }
  return best_repeated > all / 8 ? best : 0;
}

}  // namespace tansolve::detail
