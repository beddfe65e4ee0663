// SPDX-License-Identifier: BSD-3-Clause
// From entries in any order to rows, by counting.
#include <tansolve/codec/entries.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace tansolve::detail {
namespace {

/// Of an entry: row and column, where `mirrored` those below the diagonal.
std::pair<std::int32_t, std::int32_t> position(const Entries& entries, bool mirrored,
                                               std::int64_t k) {
  const std::int32_t i = entries.rows[k], j = entries.cols[k];
  return mirrored ? std::pair(std::max(i, j), std::min(i, j)) : std::pair(i, j);
}

/// The entries by position, those at the same one in the order of the file.
std::vector<std::int64_t> by_position(const Entries& entries, bool mirrored) {
  std::vector<std::int64_t> order(entries.count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::tuple(position(entries, mirrored, a), a) <
           std::tuple(position(entries, mirrored, b), b);
  });
  return order;
}

}  // namespace

Entries::Entries(std::int64_t capacity, bool with_values)
    : rows(new std::int32_t[capacity]),
      cols(new std::int32_t[capacity]),
      values(with_values ? new double[capacity] : nullptr) {}

Csr<double> assemble(std::int64_t rows, std::int64_t cols, Symmetry symmetry,
                     const Entries& entries) {
  const bool mirrored = symmetry != Symmetry::general;
  // Row i is counted at i + 2, so that after the sums offsets[i + 1] is where it begins; moved
  // along as the row fills, it ends as where the row ends, with no second array of cursors.
  std::vector<std::int64_t> offsets(rows + 2, 0);
  for (std::int64_t k = 0; k < entries.count; ++k) {
    const std::int32_t i = entries.rows[k], j = entries.cols[k];
    ++offsets[i + 2];
    if (mirrored && i != j) ++offsets[j + 2];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  std::vector<std::int32_t> columns(offsets.back());
  std::vector<double> values(offsets.back());
  const auto place = [&](std::int32_t i, std::int32_t j, double value) {
    const std::int64_t at = offsets[i + 1]++;
    columns[at] = j;
    values[at] = value;
  };
  for (std::int64_t k = 0; k < entries.count; ++k) {
    const std::int32_t i = entries.rows[k], j = entries.cols[k];
    const double value = entries.value(k);
    place(i, j, value);
    if (mirrored && i != j) place(j, i, symmetry == Symmetry::skew ? -value : value);
  }
  offsets.pop_back();
  return Csr<double>(rows, cols, std::move(offsets), std::move(columns), std::move(values),
                     Duplicates::sum);
}

Dense assemble_dense(std::int64_t rows, std::int64_t cols, Symmetry symmetry,
                     const Entries& entries) {
  Dense dense{rows, cols, std::vector<double>(rows * cols)};
  const auto place = [&](std::int64_t i, std::int64_t j, double value) {
    double& sum = dense.values[i + j * rows];
    sum = sum == 0 ? value : sum + value;  // 0 + -0 would lose the sign
  };
  for (std::int64_t k = 0; k < entries.count; ++k) {
    const std::int32_t i = entries.rows[k], j = entries.cols[k];
    const double value = entries.value(k);
    place(i, j, value);
    if (symmetry != Symmetry::general && i != j)
      place(j, i, symmetry == Symmetry::skew ? -value : value);
  }
  return dense;
}

std::int64_t first_mirrored(const Entries& entries) {
  bool below = false, above = false;
  for (std::int64_t k = 0; k < entries.count; ++k) {
    below |= entries.rows[k] > entries.cols[k];
    above |= entries.rows[k] < entries.cols[k];
  }
  if (!(below && above)) return entries.count;  // as nearly all files are

  const std::vector<std::int64_t> order = by_position(entries, true);
  std::int64_t first = entries.count, begin = 0;  // of the entries at one position
  for (std::size_t k = 1; k < order.size(); ++k)
    if (position(entries, true, order[k]) != position(entries, true, order[begin]))
      begin = static_cast<std::int64_t>(k);
    else if (entries.rows[order[k]] != entries.rows[order[begin]])
      first = std::min(first, order[k]);
  return first;
}

std::string mirrored_text(const Entries& entries, std::int64_t k) {
  const std::int64_t row = entries.rows[k] + 1, column = entries.cols[k] + 1;
  return fmt::format(
      "row {}, column {} mirrors row {}, column {}, which the file holds too; of this symmetry it "
      "must hold one of the two",
      row, column, column, row);
}

std::int64_t first_repeated(const Entries& entries, Symmetry symmetry, const Csr<double>& matrix) {
  const bool mirrored = symmetry != Symmetry::general;
  std::int64_t expanded = entries.count;
  for (std::int64_t k = 0; mirrored && k < entries.count; ++k)
    expanded += entries.rows[k] != entries.cols[k];
  if (matrix.nnz() == expanded) return entries.count;

  const std::vector<std::int64_t> order = by_position(entries, mirrored);
  std::int64_t first = entries.count;
  for (std::size_t k = 1; k < order.size(); ++k)
    if (position(entries, mirrored, order[k - 1]) == position(entries, mirrored, order[k]))
      first = std::min(first, order[k]);
  return first;
}

}  // namespace tansolve::detail
