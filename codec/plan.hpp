// SPDX-License-Identifier: BSD-3-Clause
// How a matrix is to be encoded: the vocabulary shared by planner, encoder, container and kernels.
#pragma once

#include <tansolve/codec/dtans/geometry.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace tansolve {

/// The code: what a matrix is cut into, and how its parts are written. Stored in containers: never
/// renumber. The first six are streams of symbols, each with its geometry; the last three are
/// arrays that are read in place.
enum class Coding : std::uint8_t {
  paper = 0,     ///< wide geometry; a nonzero is a delta symbol, then a value symbol
  joint = 1,     ///< wide geometry; a nonzero is one (delta, value) symbol, as in all below
  byte = 2,      ///< byte geometry
  fixed8 = 3,    ///< 8 bits a nonzero
  fixed12 = 4,   ///< 12 bits
  fixed16 = 5,   ///< 16 bits
  patterns = 6,  ///< a row is one number: that of its pattern of (column - row, value) pairs
  shapes = 7,    ///< the same of its pattern of columns; values are fields
  packed = 8     ///< columns and values are fields of as many bits as they need
};

struct CodingTraits {
  Coding coding;
  std::string_view name;
  Geometry geometry;
  /// Tables, which is also symbols a nonzero: 2 where delta and value are apart, 0 without symbols.
  int tables;
};

inline constexpr std::array<CodingTraits, 9> all_codings = {{
    {Coding::paper, "paper", wide_geometry, 2},
    {Coding::joint, "joint", wide_geometry, 1},
    {Coding::byte, "byte", byte_geometry, 1},
    {Coding::fixed8, "fixed8", fixed8_geometry, 1},
    {Coding::fixed12, "fixed12", fixed12_geometry, 1},
    {Coding::fixed16, "fixed16", fixed16_geometry, 1},
    {Coding::patterns, "patterns", {}, 0},
    {Coding::shapes, "shapes", {}, 0},
    {Coding::packed, "packed", {}, 0},
}};
/// Those that are streams of symbols come first.
inline constexpr std::size_t stream_codings = 6;

constexpr const CodingTraits& traits(Coding coding) {
  return all_codings[static_cast<std::size_t>(coding)];
}

/// Whether a matrix is a stream of symbols, and not arrays.
constexpr bool is_stream(Coding coding) {
  return static_cast<std::size_t>(coding) < stream_codings;
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
  int rows_per_lane = 1;  ///< R in [1, max_rows_per_lane]; 1 where there are no streams
  RowEnds row_ends = RowEnds::aligned;  ///< likewise aligned

  /// Rows of a slice: lane j decodes the rows base + j, base + 32 + j, ... in turn.
  constexpr std::int64_t rows_per_slice() const { return std::int64_t{warp_size} * rows_per_lane; }
  constexpr bool operator==(const Plan&) const = default;
};

}  // namespace tansolve
