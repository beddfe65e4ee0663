// SPDX-License-Identifier: BSD-3-Clause
// The order of coded rows, from their lengths alone.
#include <tansolve/codec/array_encode.hpp>

#include <algorithm>
#include <vector>

namespace tansolve::detail {
namespace {

/// Rows are sorted within the least window that leaves no more padding than this, since neighbours
/// share what they read of x.
constexpr double most_padding = 1.08;
constexpr std::int64_t widest_window = 4096;

/// A row's number below what its length falls short of 2^32: in ascending order the longest rows
/// come first, and of equal ones the first.
std::uint64_t key_of(std::int64_t row, std::int64_t length) {
  return (std::uint64_t{0xffffffff} - static_cast<std::uint64_t>(length)) << 32 |
         static_cast<std::uint64_t>(row);
}
std::int64_t length_of(std::uint64_t key) {
  return static_cast<std::int64_t>(0xffffffff - (key >> 32));
}

/// Fields of slices of 32 of these rows in turn over their entries.
double padding_of(const std::vector<std::uint64_t>& keys) {
  std::int64_t padded = 0, entries = 0;
  for (std::int64_t first = 0; first < std::ssize(keys); first += warp_size) {
    std::int64_t longest = 0;
    for (std::int64_t v = first; v < std::min(first + warp_size, std::ssize(keys)); ++v) {
      longest = std::max(longest, length_of(keys[v]));
      entries += length_of(keys[v]);
    }
    padded += longest * warp_size;
  }
  return entries == 0 ? 1 : static_cast<double>(padded) / static_cast<double>(entries);
}

/// Sorts within the least window that suffices: each window is merged from two of half its size.
void sort_windows(std::vector<std::uint64_t>& keys, int threads) {
  for (std::int64_t window = 64; window <= widest_window; window *= 2) {
    const std::int64_t tasks = (std::ssize(keys) + widest_window - 1) / widest_window;
    parallel_tasks(threads, tasks, [&](std::int64_t t) {
      const std::int64_t last = std::min((t + 1) * widest_window, std::ssize(keys));
      for (std::int64_t first = t * widest_window; first < last; first += window) {
        const auto begin = keys.begin() + first;
        const auto end = keys.begin() + std::min(first + window, last);
        if (window == 64)
          std::sort(begin, end);
        else
          std::inplace_merge(begin, keys.begin() + std::min(first + window / 2, last), end);
      }
    });
    if (padding_of(keys) <= most_padding) return;
  }
}

}  // namespace

RowOrder choose_order(std::span<const std::int64_t> offsets, int threads) {
  const std::int64_t rows = std::ssize(offsets) - 1;
  const std::int64_t most = longest_piece(rows, offsets.back());
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < rows; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  if (longest <= most && padded_share(offsets) <= most_padding) return {};

  RowOrder order;
  std::vector<std::uint64_t> whole;
  std::vector<std::uint32_t> pieces;
  whole.reserve(rows);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t length = offsets[i + 1] - offsets[i];
    if (length <= most) {
      whole.push_back(key_of(i, length));
      continue;
    }
    if (order.long_starts.empty()) order.long_starts = {0};
    order.long_rows.push_back(static_cast<std::uint32_t>(i));
    for (std::int64_t p = 0; p < (length + most - 1) / most; ++p)
      pieces.push_back(static_cast<std::uint32_t>(rows + std::ssize(pieces)));
    order.long_starts.push_back(static_cast<std::uint32_t>(pieces.size()));
  }
  if (padding_of(whole) > most_padding) sort_windows(whole, threads);
  order.order.reserve(whole.size() + pieces.size());
  for (const std::uint64_t key : whole) order.order.push_back(static_cast<std::uint32_t>(key));
  order.order.insert(order.order.end(), pieces.begin(), pieces.end());
  return order;
}

}  // namespace tansolve::detail
