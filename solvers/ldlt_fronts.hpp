// SPDX-License-Identifier: BSD-3-Clause
// What a sparse L D L' will look like, from the pattern alone: the order of elimination, its
// fronts, the bytes and operations that it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tansolve::detail {

/// Columns first[s] to first[s + 1] - 1 of the reordered matrix are eliminated together, in a front
/// whose rows are rows[row_begin[s]] to rows[row_begin[s + 1]], ascending, its own columns first.
/// What is left of it is added to the front parent[s] > s. Fronts follow one another in postorder.
///
/// Sources: Liu, SIAM J. Matrix Anal. Appl. 11 (1990), for elimination trees; Duff and Reid, ACM
/// Trans. Math. Softw. 9 (1983), for the multifrontal method; Ashcraft and Grimes, ibid. 15 (1989),
/// for merging fronts that are alike.
struct LdltFronts {
  LdltFronts() = default;
  /// Of a symmetric pattern with its diagonal. `go_on` is asked at each row: once it says no, it is
  /// left incomplete.
  LdltFronts(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
             const std::function<bool()>& go_on);

  bool complete = false;
  std::int64_t count() const { return static_cast<std::int64_t>(parent.size()); }
  std::int64_t width(std::int64_t s) const { return first[s + 1] - first[s]; }
  std::int64_t height(std::int64_t s) const { return row_begin[s + 1] - row_begin[s]; }
  std::span<const std::int32_t> rows_of(std::int64_t s) const {
    return std::span(rows).subspan(row_begin[s], height(s));
  }

  std::vector<std::int32_t> order;  ///< the row that is eliminated k-th
  std::vector<std::int32_t> place;  ///< the inverse of order
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> parent;  ///< count() for none
  std::vector<std::int64_t> row_begin;
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> value_begin;  ///< of each front's L, height x width by columns

  std::int64_t nonzeros = 0;  ///< of L, the explicit zeros of merged fronts not counted
  double flops = 0;           ///< multiplications and additions
  std::int64_t bytes = 0;     ///< of L and, at the same time, of fronts that wait
};

}  // namespace tansolve::detail
