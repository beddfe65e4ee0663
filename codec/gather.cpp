// SPDX-License-Identifier: BSD-3-Clause
// Counts cache lines on a sample of rows.
#include <tansolve/codec/dtans/geometry.hpp>
#include <tansolve/codec/gather.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tansolve::detail {
namespace {

constexpr std::int64_t line_bytes = 128, sector_bytes = 32;
/// What the L1 cache keeps of x beside what streams through.
constexpr std::int64_t cache_bytes = 160 << 10;
constexpr std::int64_t blocks = 24, block_rows = 1024, most_entries = 1 << 16;

std::int64_t count_distinct(std::vector<std::int64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  return std::unique(numbers.begin(), numbers.end()) - numbers.begin();
}

/// The rows that coded rows [begin, end) are, and what lies between them.
template <class T>
RowBlock<T> rows_of(const RowSource<T>& source, std::span<const std::uint32_t> order,
                    std::int64_t begin, std::int64_t end, RowBuffer<T>& buffer) {
  if (order.empty()) return source.block(begin, end, buffer);
  const auto [least, most] = std::ranges::minmax(order.subspan(begin, end - begin));
  return source.block(least, std::int64_t{most} + 1, buffer);
}

}  // namespace

template <class T>
Gather estimate_gather(const RowSource<T>& source, std::span<const std::uint32_t> order) {
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t rows =
      order.empty() ? source.rows() : std::ranges::partition_point(order, [&](std::uint32_t row) {
                                        return row < source.rows();
                                      }) - order.begin();
  const auto row = [&](std::int64_t i) { return order.empty() ? i : std::int64_t{order[i]}; };
  const std::int64_t stride = std::max(block_rows, rows / blocks);
  double entries = 0, lines = 0, bytes = 0;
  std::vector<std::int64_t> of_block, of_load;
  RowBuffer<T> buffer;
  for (std::int64_t block = 0; block < rows; block += stride) {
    of_block.clear();
    double sector_count = 0;
    std::int64_t in_block = 0;
    const std::int64_t end = std::min(block + block_rows, rows);
    const RowBlock<T> matrix = rows_of(source, order, block, end, buffer);
    for (std::int64_t first = block; first < end && in_block < most_entries; first += warp_size) {
      const std::int64_t last = std::min(first + warp_size, end);
      std::int64_t width = 0;
      for (std::int64_t i = first; i < last; ++i) width = std::max(width, matrix.row_nnz(row(i)));
      for (std::int64_t k = 0; k < std::min<std::int64_t>(width, most_entries / warp_size); ++k) {
        of_load.clear();
        for (std::int64_t i = first; i < last; ++i)
          if (k < matrix.row_nnz(row(i))) of_load.push_back(matrix.columns(row(i))[k] * size);
        entries += static_cast<double>(of_load.size());
        in_block += std::ssize(of_load);
        if (!std::is_sorted(of_load.begin(), of_load.end()))
          std::sort(of_load.begin(), of_load.end());
        std::int64_t line = -1, sector = -1;
        for (const std::int64_t at : of_load) {
          sector_count += std::exchange(sector, at / sector_bytes) != at / sector_bytes ? 1 : 0;
          if (std::exchange(line, at / line_bytes) == at / line_bytes) continue;
          of_block.push_back(line);
          lines += 1;
        }
      }
    }
    const std::int64_t footprint = count_distinct(of_block) * line_bytes;
    bytes += footprint <= cache_bytes ? static_cast<double>(footprint)
                                      : sector_count * static_cast<double>(sector_bytes);
  }
  const double scale = entries == 0 ? 0 : static_cast<double>(source.nnz()) / entries;
  return {lines * scale, bytes * scale};
}

template Gather estimate_gather(const RowSource<double>&, std::span<const std::uint32_t>);
template Gather estimate_gather(const RowSource<float>&, std::span<const std::uint32_t>);

}  // namespace tansolve::detail
