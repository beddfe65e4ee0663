// SPDX-License-Identifier: BSD-3-Clause
// Builds a CSR matrix row by row, in parallel and in place.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tansolve::detail {

/// The n x n matrix whose row i has length(i) entries, which fill(i, columns, values) writes,
/// sorted by column, through the two pointers. Both are called once a row, by any thread, and must
/// not throw.
template <class Length, class Fill>
Csr<double> build_rows(std::int64_t n, Length length, Fill fill) {
  std::vector<std::int64_t> offsets(n + 1);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) offsets[i + 1] = length(i);
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  std::vector<std::int32_t> columns(offsets[n]);
  std::vector<double> values(offsets[n]);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < n; ++i)
    fill(i, columns.data() + offsets[i], values.data() + offsets[i]);
  return Csr<double>(n, n, std::move(offsets), std::move(columns), std::move(values));
}

}  // namespace tansolve::detail
