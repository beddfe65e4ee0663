// SPDX-License-Identifier: BSD-3-Clause
// The distinct patterns that the rows of a matrix follow.
#pragma once

#include <tansolve/codec/arrays.hpp>
#include <tansolve/codec/row_source.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tansolve {

/// What two rows of the same pattern share besides the columns relative to the row.
enum class PatternKind {
  values,  ///< the bits of their values
  signs,   ///< the signs of these
  columns  ///< nothing
};

template <class T>
struct PatternsOfRows {
  RowPatterns<T> patterns;          ///< in the order of their first rows
  std::vector<std::uint32_t> rows;  ///< the pattern of each row
};

/// Finds the patterns; none if there are more than `limit`, or more than 2^32 - 1 entries in them.
/// Takes O(nnz) time, and a fraction of it where rows repeat those shortly before or soon show that
/// there are too many. The result does not depend on `threads` (0: as many as OpenMP would start).
template <class T>
std::optional<PatternsOfRows<T>> find_patterns(const RowSource<T>& source, PatternKind kind,
                                               std::int64_t limit, int threads = 0);

}  // namespace tansolve
