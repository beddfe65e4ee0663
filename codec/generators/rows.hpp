// SPDX-License-Identifier: BSD-3-Clause
// A matrix as a rule for its rows.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace tansolve::detail {

/// The rows x rows matrix whose row i has length(i) entries, which fill(i, columns, values) writes,
/// sorted by column, through the two pointers. Any thread may call either, as often as it likes.
struct RowRule {
  std::int64_t rows;
  std::function<std::int64_t(std::int64_t)> length;
  std::function<void(std::int64_t, std::int32_t*, double*)> fill;
};

/// In parallel.
std::vector<std::int64_t> row_offsets(const RowRule& rule);

/// In parallel and in place.
Csr<double> build_rows(const RowRule& rule);

}  // namespace tansolve::detail
