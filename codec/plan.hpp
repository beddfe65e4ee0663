// SPDX-License-Identifier: BSD-3-Clause
// How a matrix is to be encoded: the vocabulary shared by planner, encoder, container and kernels.
#pragma once

#include <tansolve/codec/dtans/geometry.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tansolve {

/// The code: a geometry, and what a symbol stands for. Stored in containers: never renumber.
enum class Coding : std::uint8_t {
  paper = 0,    ///< wide geometry; a nonzero is a delta symbol, then a value symbol
  joint = 1,    ///< wide geometry; a nonzero is one (delta, value) symbol, as in all below
  byte = 2,     ///< byte geometry
  fixed8 = 3,   ///< 8 bits a nonzero
  fixed12 = 4,  ///< 12 bits
  fixed16 = 5   ///< 16 bits
};

struct CodingTraits {
  Coding coding;
  std::string_view name;
  Geometry geometry;
  int tables;  ///< tables, which is also symbols a nonzero: 2 where delta and value are apart
};

inline constexpr std::array<CodingTraits, 6> all_codings = {{
    {Coding::paper, "paper", wide_geometry, 2},
    {Coding::joint, "joint", wide_geometry, 1},
    {Coding::byte, "byte", byte_geometry, 1},
    {Coding::fixed8, "fixed8", fixed8_geometry, 1},
    {Coding::fixed12, "fixed12", fixed12_geometry, 1},
    {Coding::fixed16, "fixed16", fixed16_geometry, 1},
}};

constexpr const CodingTraits& traits(Coding coding) {
  return all_codings[static_cast<std::size_t>(coding)];
}

/// Where a row ends in the stream of its lane.
enum class RowEnds : std::uint8_t {
  aligned = 0,  ///< padded to whole segments: one test a segment, faster
  crossing = 1  ///< the next row follows at once: fewer bytes for short rows
};

/// The most rows that a lane may decode.
inline constexpr int max_rows_per_lane = 1024;

struct Plan {
  Coding coding = Coding::joint;
  int rows_per_lane = 1;  ///< R in [1, max_rows_per_lane]
  RowEnds row_ends = RowEnds::aligned;

  /// Rows of a slice: lane j decodes the rows base + j, base + 32 + j, ... in turn.
  constexpr std::int64_t rows_per_slice() const { return std::int64_t{warp_size} * rows_per_lane; }
  constexpr bool operator==(const Plan&) const = default;
};

}  // namespace tansolve
