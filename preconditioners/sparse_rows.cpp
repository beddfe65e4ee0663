// SPDX-License-Identifier: BSD-3-Clause
// Ranges of rows as tasks, whose pieces are put together at the end.
#include <tansolve/preconditioners/sparse_rows.hpp>

namespace tansolve::detail {
namespace {

struct Piece {
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

}  // namespace

Csr<double> rows_in_parallel(int threads, std::int64_t rows, std::int64_t cols,
                             const std::function<void(std::int64_t, RowSum&)>& sum_row) {
  const Ranges ranges(rows);
  std::vector<Piece> pieces(ranges.number());
  std::vector<std::int64_t> offsets(rows + 1, 0);
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    RowSum row(cols);
    Piece& piece = pieces[range];
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i) {
      sum_row(i, row);
      offsets[i + 1] = row.move_to(piece.columns, piece.values);
    }
  });
  for (std::int64_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];
  std::vector<std::int32_t> columns(offsets[rows]);
  std::vector<double> values(offsets[rows]);
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    const Piece piece = std::exchange(pieces[range], {});
    std::ranges::copy(piece.columns, columns.begin() + offsets[ranges.first(range)]);
    std::ranges::copy(piece.values, values.begin() + offsets[ranges.first(range)]);
  });
  return Csr<double>(rows, cols, std::move(offsets), std::move(columns), std::move(values));
}

Csr<double> product(const Csr<double>& A, const Csr<double>& B, int threads) {
  return rows_in_parallel(threads, A.rows(), B.cols(), [&](std::int64_t i, RowSum& row) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      row.add(A.values()[k], B, A.columns()[k]);
  });
}

}  // namespace tansolve::detail
