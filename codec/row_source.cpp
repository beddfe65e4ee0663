// SPDX-License-Identifier: BSD-3-Clause
// Blocks that are read, and what must hold of them.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/row_source.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tansolve {

template <class T>
StreamedRows<T>::StreamedRows(std::int64_t cols, std::vector<std::int64_t> offsets)
    : cols_(cols), offsets_(std::move(offsets)) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (offsets_.empty() || offsets_[0] != 0)
    throw Error(ErrorCode::invalid_argument, "rows: the offsets must begin with 0");
  if (cols < 0 || cols > most || std::ssize(offsets_) - 1 > most)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows: {} x {}; the dimensions must lie in 0 to {}",
                            offsets_.size() - 1, cols, most));
  const auto wrong = std::ranges::adjacent_find(
      offsets_,
      [&](std::int64_t begin, std::int64_t end) { return end < begin || end - begin > cols; });
  if (wrong != offsets_.end())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("rows: row {} begins at {} and ends at {}; it must have 0 to {} entries",
                    wrong - offsets_.begin(), wrong[0], wrong[1], cols));
}

template <class T>
RowBlock<T> StreamedRows<T>::block(std::int64_t begin, std::int64_t end,
                                   RowBuffer<T>& buffer) const {
  const std::span offsets = std::span(offsets_).subspan(begin, end - begin + 1);
  const std::int64_t entries = offsets.back() - offsets.front();
  buffer.columns.resize(entries);
  buffer.values.resize(entries);
  read(begin, end, buffer.columns.data(), buffer.values.data());
  const RowBlock<T> rows(begin, offsets, buffer.columns.data(), buffer.values.data());
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int32_t* columns = rows.columns(row);
    std::int64_t before = -1;
    bool sound = true;
    for (std::int64_t k = 0; k < rows.row_nnz(row); ++k) {
      sound = sound && columns[k] > before && columns[k] < cols_;
      before = columns[k];
    }
    if (!sound)
      throw Error(
          ErrorCode::bad_input,
          fmt::format("rows: the columns of row {} must increase within [0, {})", row, cols_));
  }
  return rows;
}

std::vector<detail::RowRange> detail::row_ranges(std::span<const std::int64_t> offsets,
                                                 std::int64_t per_range, std::int64_t stride) {
  const auto row_of = [&](std::int64_t nonzero) {
    return std::lower_bound(offsets.begin(), offsets.end(), nonzero) - offsets.begin();
  };
  std::vector<RowRange> ranges;
  const std::int64_t nnz = offsets.back();
  for (std::int64_t first = 0; first < nnz; first += per_range * stride) {
    const std::int64_t begin = row_of(first);
    const std::int64_t end = row_of(std::min(first + per_range, nnz));
    if (begin < end) ranges.emplace_back(begin, end);
  }
  return ranges;
}

template class StreamedRows<double>;
template class StreamedRows<float>;

}  // namespace tansolve
