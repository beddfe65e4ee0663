// SPDX-License-Identifier: BSD-3-Clause
// Validation, conversion and transposition of CSR matrices.
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

namespace tansolve {
namespace {

constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();

void check_dimensions(std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0 || rows > max_dimension || cols > max_dimension)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a matrix of {} x {}: each dimension must lie in [0, {}]", rows, cols,
                            max_dimension));
}

/// Sorts row `row` (stably) by column through a permutation.
template <class T>
void sort_row(std::span<std::int32_t> columns, std::span<T> values) {
  std::vector<std::pair<std::int32_t, T>> entries(columns.size());
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = {columns[k], values[k]};
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < entries.size(); ++k) std::tie(columns[k], values[k]) = entries[k];
}

/// Whether the columns of each row lie in [0, cols) and increase: nothing to mend, nothing to name.
/// On all threads, since this is what most matrices of a set-up spend their validation on.
bool increasing(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                std::int64_t cols) {
  constexpr std::int64_t rows_a_task = 1 << 16;
  const std::int64_t rows = std::ssize(offsets) - 1;
  std::atomic<bool> all = true;
  detail::parallel_tasks(0, (rows + rows_a_task - 1) / rows_a_task, [&](std::int64_t task) {
    bool fit = true;
    for (std::int64_t i = task * rows_a_task; i < std::min((task + 1) * rows_a_task, rows); ++i) {
      std::int64_t before = -1;
      for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        fit = fit && columns[k] > before && columns[k] < cols;
        before = columns[k];
      }
    }
    if (!fit) all = false;
  });
  return all;
}

}  // namespace

template <class T>
Csr<T>::Csr(std::int64_t rows, std::int64_t cols, std::vector<std::int64_t> offsets,
            std::vector<std::int32_t> columns, std::vector<T> values, Duplicates duplicates)
    : rows_(rows),
      cols_(cols),
      offsets_(std::move(offsets)),
      columns_(std::move(columns)),
      values_(std::move(values)) {
  validate(duplicates);
}

template <class T>
template <class Offset>
Csr<T> Csr<T>::from_arrays(std::int64_t rows, std::int64_t cols, const Offset* offsets,
                           const std::int32_t* columns, const T* values, Duplicates duplicates) {
  check_dimensions(rows, cols);
  if (offsets == nullptr)
    throw Error(ErrorCode::invalid_argument, "offsets: a null pointer where rows + 1 are needed");
  const Offset first = offsets[0];
  std::vector<std::int64_t> shifted(rows + 1);
  for (std::int64_t i = 0; i <= rows; ++i) {
    shifted[i] = static_cast<std::int64_t>(offsets[i]) - static_cast<std::int64_t>(first);
    if (i > 0 && shifted[i] < shifted[i - 1])
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("offsets: row {} ends at {}, before it begins at {}", i - 1,
                              static_cast<std::int64_t>(offsets[i]),
                              static_cast<std::int64_t>(offsets[i - 1])));
  }
  const std::int64_t nnz = shifted[rows];
  if (nnz > 0 && (columns == nullptr || values == nullptr))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("columns or values: a null pointer where {} are needed", nnz));
  if (nnz == 0) return Csr(rows, cols, std::move(shifted), {}, {}, duplicates);
  return Csr(rows, cols, std::move(shifted),
             std::vector<std::int32_t>(columns + first, columns + first + nnz),
             std::vector<T>(values + first, values + first + nnz), duplicates);
}

template <class T>
Csr<T> Csr<T>::from_triplets(std::int64_t rows, std::int64_t cols,
                             std::span<const Triplet<T>> triplets, Duplicates duplicates) {
  check_dimensions(rows, cols);
  // Row i is counted at i + 2: after the sums, offsets[i + 1] is where it begins, and moves along.
  std::vector<std::int64_t> offsets(rows + 2, 0);
  for (std::size_t k = 0; k < triplets.size(); ++k) {
    const auto& [row, col, value] = triplets[k];
    if (row < 0 || row >= rows || col < 0 || col >= cols)
      throw Error(ErrorCode::bad_input,
                  fmt::format("triplet {}: ({}, {}) lies outside a {} x {} matrix", k, row, col,
                              rows, cols));
    ++offsets[row + 2];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  std::vector<std::int32_t> columns(triplets.size());
  std::vector<T> values(triplets.size());
  for (const auto& [row, col, value] : triplets) {
    const std::int64_t at = offsets[row + 1]++;
    columns[at] = static_cast<std::int32_t>(col);
    values[at] = value;
  }
  offsets.pop_back();
  return Csr(rows, cols, std::move(offsets), std::move(columns), std::move(values), duplicates);
}

template <class T>
void Csr<T>::validate(Duplicates duplicates) {
  check_dimensions(rows_, cols_);
  if (std::ssize(offsets_) != rows_ + 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("offsets: {} elements, but {} rows need {}", offsets_.size(), rows_,
                            rows_ + 1));
  if (offsets_[0] != 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("offsets: the first is {}, it must be 0", offsets_[0]));
  for (std::int64_t i = 0; i < rows_; ++i)
    if (offsets_[i + 1] < offsets_[i])
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("offsets: row {} ends at {}, before it begins at {}", i,
                              offsets_[i + 1], offsets_[i]));
  if (std::ssize(columns_) != offsets_[rows_] || std::ssize(values_) != offsets_[rows_])
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} columns and {} values, but the offsets end at {}", columns_.size(),
                            values_.size(), offsets_[rows_]));
  if (increasing(offsets_, columns_, cols_)) return;

  bool has_duplicates = false;
  for (std::int64_t i = 0; i < rows_; ++i) {
    const std::int64_t begin = offsets_[i], length = row_nnz(i);
    const std::span row(columns_.data() + begin, length);
    bool sorted = true;
    for (std::int64_t k = 0; k < length; ++k) {
      if (row[k] < 0 || row[k] >= cols_)
        throw Error(ErrorCode::bad_input,
                    fmt::format("row {}: column {} lies outside [0, {})", i, row[k], cols_));
      sorted = sorted && (k == 0 || row[k - 1] <= row[k]);
    }
    if (!sorted) sort_row(row, std::span(values_.data() + begin, length));
    for (std::int64_t k = 1; k < length; ++k) {
      if (row[k - 1] != row[k]) continue;
      if (duplicates == Duplicates::refuse)
        throw Error(ErrorCode::bad_input,
                    fmt::format("row {}: column {} occurs more than once", i, row[k]));
      has_duplicates = true;
    }
  }
  if (!has_duplicates) return;

  std::int64_t end = 0;  // of what is kept so far
  for (std::int64_t i = 0, begin = 0; i < rows_; ++i) {
    const std::int64_t row_begin = end;
    for (std::int64_t k = begin; k < offsets_[i + 1]; ++k) {
      if (end > row_begin && columns_[end - 1] == columns_[k]) {
        values_[end - 1] += values_[k];
      } else {
        columns_[end] = columns_[k];
        values_[end++] = values_[k];
      }
    }
    begin = std::exchange(offsets_[i + 1], end);
  }
  columns_.resize(end);
  values_.resize(end);
}

template <class U, class T>
Csr<U> convert(const Csr<T>& matrix) {
  return Csr<U>(matrix.rows(), matrix.cols(), {matrix.offsets().begin(), matrix.offsets().end()},
                {matrix.columns().begin(), matrix.columns().end()},
                {matrix.values().begin(), matrix.values().end()});
}

template <class T>
Csr<T> transpose(const Csr<T>& matrix) {
  std::vector<std::int64_t> offsets(matrix.cols() + 1, 0);
  for (const std::int32_t col : matrix.columns()) ++offsets[col + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::int32_t> columns(matrix.nnz());
  std::vector<T> values(matrix.nnz());
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k) {
      const std::int64_t to = next[matrix.columns()[k]]++;
      columns[to] = static_cast<std::int32_t>(i);
      values[to] = matrix.values()[k];
    }
  return Csr<T>(matrix.cols(), matrix.rows(), std::move(offsets), std::move(columns),
                std::move(values));
}

template <class T>
bool is_symmetric(const Csr<T>& matrix) {
  if (matrix.rows() != matrix.cols()) return false;
  const auto offsets = matrix.offsets();
  const auto columns = matrix.columns();
  const auto values = matrix.values();
  // Row by row, the entries below the diagonal meet their mirror images in the order of the
  // columns.
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = next[i]; k < offsets[i + 1]; ++k) {
      const std::int32_t j = columns[k];
      if (j < i) return false;  // it had no partner when row j was visited
      const std::int64_t mirror = next[j];
      if (mirror == offsets[j + 1] || columns[mirror] != i || !(values[mirror] == values[k]))
        return false;
      ++next[j];
    }
  return true;
}

StandardBytes standard_bytes(std::span<const std::int64_t> offsets, std::int64_t value_bytes) {
  constexpr std::int64_t slice = 32;
  const std::int64_t rows = std::ssize(offsets) - 1, nnz = offsets.back() - offsets.front();
  const std::int64_t offset = nnz > max_dimension ? 8 : 4;
  std::int64_t padded = 0;
  for (std::int64_t base = 0; base < rows; base += slice) {
    std::int64_t longest = 0;
    for (std::int64_t i = base; i < std::min(base + slice, rows); ++i)
      longest = std::max(longest, offsets[i + 1] - offsets[i]);
    padded += longest * slice;
  }
  const std::int64_t slices = (rows + slice - 1) / slice;
  return {.csr = (rows + 1) * offset + nnz * (4 + value_bytes),
          .coo = nnz * (8 + value_bytes),
          .sell = (slices + 1) * offset + padded * (4 + value_bytes)};
}

template <class T>
StandardBytes standard_bytes(const Csr<T>& matrix) {
  return standard_bytes(matrix.offsets(), sizeof(T));
}

#define TANSOLVE_INSTANTIATE(T)                                                        \
  template class Csr<T>;                                                               \
  template Csr<T> Csr<T>::from_arrays(std::int64_t, std::int64_t, const std::int32_t*, \
                                      const std::int32_t*, const T*, Duplicates);      \
  template Csr<T> Csr<T>::from_arrays(std::int64_t, std::int64_t, const std::int64_t*, \
                                      const std::int32_t*, const T*, Duplicates);      \
  template Csr<float> convert(const Csr<T>&);                                          \
  template Csr<double> convert(const Csr<T>&);                                         \
  template Csr<T> transpose(const Csr<T>&);                                            \
  template bool is_symmetric(const Csr<T>&);                                           \
  template StandardBytes standard_bytes(const Csr<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
