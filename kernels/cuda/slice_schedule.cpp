// SPDX-License-Identifier: BSD-3-Clause
// Longest work first, to the block, then the warp, that has least: chunks of neighbouring slices
// to blocks, slices to warps (R. L. Graham, "Bounds on multiprocessing timing anomalies", 1969).
#include <tansolve/kernels/cuda/slice_schedule.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace tansolve::detail {
namespace {

/// Neighbours that one block takes: few balance better, many share more of x.
constexpr std::int64_t chunk_slices = 8;

/// Work in entries of a lane: what a slice costs besides its own is worth a few.
class Work {
 public:
  explicit Work(std::span<const std::uint32_t> offsets) : offsets_(offsets) {}

  std::int64_t slices() const { return std::ssize(offsets_) - 1; }
  std::int64_t of(std::int64_t slice) const {
    constexpr std::int64_t overhead = 6;
    return std::int64_t{offsets_[slice + 1]} - offsets_[slice] + overhead;
  }
  std::int64_t of_chunk(std::int64_t first) const {
    std::int64_t sum = 0;
    for (std::int64_t s = first; s < std::min(first + chunk_slices, slices()); ++s) sum += of(s);
    return sum;
  }

 private:
  std::span<const std::uint32_t> offsets_;
};

/// Whether warps that take slices in their own order work at least nine tenths of the time that the
/// last one takes.
bool even(const Work& work, std::int64_t warps) {
  std::vector<std::int64_t> loads(warps);
  for (std::int64_t s = 0; s < work.slices(); ++s) loads[s % warps] += work.of(s);
  const std::int64_t sum = std::accumulate(loads.begin(), loads.end(), std::int64_t{0});
  return 10 * sum >= 9 * warps * *std::max_element(loads.begin(), loads.end());
}

/// The bins' contents: the items, heaviest first, each to the bin with the least weight so far.
template <class Weight>
std::vector<std::vector<std::int64_t>> dealt(std::vector<std::int64_t> items, std::int64_t bins,
                                             const Weight& weight) {
  std::stable_sort(items.begin(), items.end(),
                   [&](std::int64_t a, std::int64_t b) { return weight(a) > weight(b); });
  using Load = std::pair<std::int64_t, std::int64_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> lightest;
  for (std::int64_t b = 0; b < bins; ++b) lightest.push({0, b});
  std::vector<std::vector<std::int64_t>> contents(bins);
  for (const std::int64_t item : items) {
    auto [load, bin] = lightest.top();
    lightest.pop();
    contents[bin].push_back(item);
    lightest.push({load + weight(item), bin});
  }
  return contents;
}

}  // namespace

std::vector<std::uint32_t> balanced_schedule(std::span<const std::uint32_t> offsets,
                                             const WarpGrid& grid) {
  if (offsets.empty()) return {};
  const Work work(offsets);
  const std::int64_t slices = work.slices(), warps = grid.blocks * grid.warps;
  if (slices <= warps || even(work, warps)) return {};

  std::vector<std::int64_t> chunks;
  for (std::int64_t first = 0; first < slices; first += chunk_slices) chunks.push_back(first);
  const auto chunks_of_block =
      dealt(std::move(chunks), grid.blocks, [&](std::int64_t c) { return work.of_chunk(c); });
  std::vector<std::uint32_t> schedule;
  for (std::int64_t block = 0; block < grid.blocks; ++block) {
    std::vector<std::int64_t> of_block;
    for (const std::int64_t first : chunks_of_block[block])
      for (std::int64_t s = first; s < std::min(first + chunk_slices, slices); ++s)
        of_block.push_back(s);
    auto of_warp =
        dealt(std::move(of_block), grid.warps, [&](std::int64_t s) { return work.of(s); });
    for (std::int64_t w = 0; w < grid.warps; ++w) {
      std::sort(of_warp[w].begin(), of_warp[w].end());
      for (std::int64_t i = 0; i < std::ssize(of_warp[w]); ++i) {
        const std::int64_t position = i * warps + block * grid.warps + w;
        if ((i + 1) * warps > 2 * slices) return {};
        if (position >= std::ssize(schedule))
          schedule.resize((i + 1) * warps, static_cast<std::uint32_t>(slices));
        schedule[position] = static_cast<std::uint32_t>(of_warp[w][i]);
      }
    }
  }
  return schedule;
}

}  // namespace tansolve::detail
