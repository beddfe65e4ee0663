// SPDX-License-Identifier: BSD-3-Clause
// Which warp of a persistent grid takes which slices, where they are uneven.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

/// A grid whose warp w takes what stands at the positions w, w + blocks * warps, ...
struct WarpGrid {
  std::int64_t blocks;
  std::int64_t warps;  ///< of a block
};

/// What stands at the positions: slices, each once, and their number where there is none. The warps
/// of a block take neighbours, so that they share what they read of x, and all warps about as many
/// entries: in their own order the slices of a matrix with dense regions can leave most warps
/// waiting for the last. Empty where the own order leaves at most a tenth of them idle, no warp has
/// more than one slice, or there were more than two positions a slice. `offsets`: entries of a lane
/// before each slice, and all.
std::vector<std::uint32_t> balanced_schedule(std::span<const std::uint32_t> offsets,
                                             const WarpGrid& grid);

}  // namespace tansolve::detail
