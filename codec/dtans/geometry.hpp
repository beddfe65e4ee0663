// SPDX-License-Identifier: BSD-3-Clause
// The constants that fix a dtANS code, and the sets of them in use.
//
// dtANS is a table-ANS coder whose segments of `l` symbols are cut from `o` whole 32-bit words, so
// that the l table look-ups of a segment do not wait for each other (Schaetzle, Pegolotti,
// Pueschel, "Fast Entropy Decoding for Sparse MVM on GPUs", arXiv:2603.01915). FORMAT.md specifies
// the stream.
#pragma once

#include <cstdint>

namespace tansolve {

/// Lanes that decode in lock step and share one stream of words.
inline constexpr int warp_size = 32;

struct Geometry {
  int k;  ///< bits of a slot index: the table has K = 2^k slots
  int M;  ///< most slots that one symbol may own
  int l;  ///< symbols a segment, a power of two
  int o;  ///< words a segment: k l = 32 o
  int f;  ///< checks a segment, each after l / f symbols; 0 where M = 1 leaves no digits

  constexpr int slots() const { return 1 << k; }
  /// Symbols between two checks.
  constexpr int run() const { return f == 0 ? l : l / f; }
  constexpr bool operator==(const Geometry&) const = default;
};

/// The paper's constants; at least 4 bits a symbol.
inline constexpr Geometry wide_geometry = {12, 256, 8, 3, 2};
/// Slots are bytes, base and digit share a word: 15^4 < 2^16, 15^8 < 2^32. At least 4.1 bits a
/// symbol.
inline constexpr Geometry byte_geometry = {8, 15, 8, 2, 1};
/// Fixed rates: one slot a symbol, hence no digits.
inline constexpr Geometry fixed8_geometry = {8, 1, 4, 1, 0};
inline constexpr Geometry fixed12_geometry = {12, 1, 8, 3, 0};
inline constexpr Geometry fixed16_geometry = {16, 1, 2, 1, 0};

namespace detail {

constexpr bool is_sound(const Geometry& g) {
  if (g.k * g.l != 32 * g.o || g.f > g.o || (g.l & (g.l - 1)) != 0) return false;
  if (g.f == 0) return g.M == 1;
  // (d, r) stays inside 64 bits: r < 2^32 after a check, and a run multiplies it by at most
  // M^(l/f).
  std::uint64_t growth = 1;
  for (int i = 0; i < g.run(); ++i) growth *= static_cast<std::uint64_t>(g.M);
  return g.l % g.f == 0 && growth <= (std::uint64_t{1} << 32);
}
static_assert(is_sound(wide_geometry) && is_sound(byte_geometry) && is_sound(fixed8_geometry) &&
              is_sound(fixed12_geometry) && is_sound(fixed16_geometry));

}  // namespace detail
}  // namespace tansolve
