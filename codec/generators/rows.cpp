// SPDX-License-Identifier: BSD-3-Clause
// A rule's matrix, row by row.
#include <tansolve/codec/generators/rows.hpp>

#include <numeric>
#include <utility>

namespace tansolve::detail {

std::vector<std::int64_t> row_offsets(const RowRule& rule) {
  std::vector<std::int64_t> offsets(rule.rows + 1);
#pragma omp parallel for
  for (std::int64_t i = 0; i < rule.rows; ++i) offsets[i + 1] = rule.length(i);
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}

Csr<double> build_rows(const RowRule& rule) {
  std::vector<std::int64_t> offsets = row_offsets(rule);
  std::vector<std::int32_t> columns(offsets.back());
  std::vector<double> values(offsets.back());
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < rule.rows; ++i)
    rule.fill(i, columns.data() + offsets[i], values.data() + offsets[i]);
  return Csr<double>(rule.rows, rule.rows, std::move(offsets), std::move(columns),
                     std::move(values));
}

}  // namespace tansolve::detail
