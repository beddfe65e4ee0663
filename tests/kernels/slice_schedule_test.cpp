// SPDX-License-Identifier: BSD-3-Clause
// The order in which a GPU's warps take uneven slices.
#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/slice_schedule.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tansolve {
namespace {

using detail::balanced_schedule;
using detail::WarpGrid;

std::vector<std::uint32_t> offsets_of(const std::vector<std::uint32_t>& widths) {
  std::vector<std::uint32_t> offsets = {0};
  std::partial_sum(widths.begin(), widths.end(), std::back_inserter(offsets));
  return offsets;
}

/// The most entries of a lane that a warp has.
std::int64_t largest_load(const std::vector<std::uint32_t>& widths,
                          const std::vector<std::uint32_t>& schedule, std::int64_t warps) {
  std::vector<std::int64_t> loads(warps);
  for (std::size_t p = 0; p < schedule.size(); ++p)
    if (schedule[p] < widths.size()) loads[p % warps] += widths[schedule[p]];
  return *std::max_element(loads.begin(), loads.end());
}

TEST_CASE("uneven slices are scheduled once each, and evenly") {
  const WarpGrid grid = {11, 6};
  const std::int64_t warps = grid.blocks * grid.warps;
  std::mt19937 random(3);
  std::vector<std::uint32_t> widths(40 * warps + 7, 3);
  // The period of the dense ones is the grid's: in their own order one warp has them all.
  for (std::size_t s = 5; s < widths.size(); s += warps) widths[s] = 60 + random() % 30;
  const auto schedule = balanced_schedule(offsets_of(widths), grid);
  REQUIRE(!schedule.empty());
  CHECK(schedule.size() % warps == 0);
  std::vector<int> times(widths.size() + 1);
  for (const std::uint32_t slice : schedule) {
    REQUIRE(slice <= widths.size());
    ++times[slice];
  }
  times.pop_back();
  CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
  std::vector<std::uint32_t> own(widths.size());
  std::iota(own.begin(), own.end(), 0u);
  const std::int64_t mean = offsets_of(widths).back() / warps;
  CHECK(largest_load(widths, own, warps) > 10 * mean);
  CHECK(largest_load(widths, schedule, warps) < mean + mean / 2 + 60);
  CHECK(schedule == balanced_schedule(offsets_of(widths), grid));
}

TEST_CASE("slices are not scheduled where their own order will do") {
  const WarpGrid grid = {4, 8};
  CHECK(balanced_schedule({}, grid).empty());
  CHECK(balanced_schedule(offsets_of({}), grid).empty());
  CHECK(balanced_schedule(offsets_of(std::vector<std::uint32_t>(32 * 50, 7)), grid).empty());
  CHECK(balanced_schedule(offsets_of({100, 1, 1, 1}), grid).empty());  // one each at most
  // One warp would have all the empty ones, and the others as many gaps.
  std::vector<std::uint32_t> widths(1000, 0);
  widths[0] = widths[300] = widths[600] = 100'000;
  CHECK(balanced_schedule(offsets_of(widths), {1, 4}).empty());
}

}  // namespace
}  // namespace tansolve
#endif
