// SPDX-License-Identifier: BSD-3-Clause
// Ranges of rows as tasks, whose pieces are put together at the end.
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <numeric>

namespace tansolve::detail {

SummedRows::SummedRows(int threads, std::int64_t rows, std::int64_t cols, bool sorted,
                       const SumRow& sum_row)
    : threads_(threads), rows_(rows), cols_(cols), ranges_(rows), pieces_(ranges_.number()) {
  parallel_tasks(threads, ranges_.number(), [&](std::int64_t range) {
    RowSum row(cols_);
    Rows piece;
    for (std::int64_t i = ranges_.first(range); i < ranges_.last(range); ++i) {
      sum_row(i, row);
      row.move_to(piece, sorted);
    }
    pieces_[range] = std::move(piece);
  });
}

Csr<double> SummedRows::to_csr() && {
  std::vector<std::int64_t> first = {0};  // entry of each piece
  for (const Rows& piece : pieces_) first.push_back(first.back() + piece.begins.back());
  std::vector<std::int64_t> offsets(rows_ + 1);
  std::vector<std::int32_t> columns(first.back());
  std::vector<double> values(first.back());
  parallel_tasks(threads_, std::ssize(pieces_), [&](std::int64_t range) {
    const Rows piece = std::exchange(pieces_[range], {});
    std::transform(piece.begins.begin() + 1, piece.begins.end(),
                   offsets.begin() + ranges_.first(range) + 1,
                   [&](std::int64_t end) { return first[range] + end; });
    std::ranges::copy(piece.columns, columns.begin() + first[range]);
    std::ranges::copy(piece.values, values.begin() + first[range]);
  });
  return Csr<double>(rows_, cols_, std::move(offsets), std::move(columns), std::move(values));
}

Csr<double> triple_product(const Csr<double>& R, const Csr<double>& A, const Csr<double>& P,
                           int threads) {
  const SummedRows AP(threads, A.rows(), P.cols(), false, [&](std::int64_t i, RowSum& row) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      row.add(A.values()[k], P, A.columns()[k]);
  });
  return SummedRows(threads, R.rows(), P.cols(), true,
                    [&](std::int64_t i, RowSum& row) {
                      for (std::int64_t k = R.offsets()[i]; k < R.offsets()[i + 1]; ++k)
                        AP.add_to(row, R.values()[k], R.columns()[k]);
                    })
      .to_csr();
}

/// Turns counts into the first places.
void Dealing::prepare() {
  const auto buckets = std::ssize(begins_) - 1;
  parallel_each(threads_, buckets, [&](std::int64_t bucket) {
    for (const auto& count : next_) begins_[bucket + 1] += count[bucket];
  });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  parallel_each(threads_, buckets, [&](std::int64_t bucket) {
    std::int64_t place = begins_[bucket];
    for (auto& next : next_) place += std::exchange(next[bucket], place);
  });
}

Csr<double> transposed(const Csr<double>& A, int threads) {
  const auto each_entry = [&](std::int64_t i, const auto& visit) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) visit(k);
  };
  Dealing dealing(threads, A.rows(), A.cols(), [&](std::int64_t i, const auto& visit) {
    each_entry(i, [&](std::int64_t k) { visit(A.columns()[k]); });
  });
  std::vector<std::int32_t> columns(A.nnz());
  std::vector<double> values(A.nnz());
  dealing.deal([&](std::int64_t i, const auto& next) {
    each_entry(i, [&](std::int64_t k) {
      const std::int64_t to = next(A.columns()[k]);
      columns[to] = static_cast<std::int32_t>(i);
      values[to] = A.values()[k];
    });
  });
  return Csr<double>(A.cols(), A.rows(), dealing.begins(), std::move(columns), std::move(values));
}

}  // namespace tansolve::detail
