// SPDX-License-Identifier: BSD-3-Clause
// From counts to a coding table: which symbols to code, how many slots each owns, where they lie.
#pragma once

#include <tansolve/codec/dtans/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tansolve {

/// 1. How many of the symbols to code, the rest being escaped: the cut with the fewest coded plus
/// raw bits. `counts` descend and may stop after K of them; `total` counts all symbols. An escape
/// costs its symbol and `raw_bits` more. At least 1 where counts is not empty, since padding needs
/// a symbol; at most K, one less where anything is escaped. The estimate takes log2(N / n) bits a
/// symbol, clamped to what a slot can give: O(counts).
std::size_t choose_coded_symbols(std::span<const std::uint64_t> counts, std::uint64_t total,
                                 const Geometry& geometry, int raw_bits);

/// 2. Slots a symbol: minimises sum n_s (k - log2 q_s) over 1 <= q_s <= M, sum q_s <= K. The greedy
/// choice by the largest gain n_s log2((q + 1) / q) is optimal because the gains fall with q; ties
/// go to the lower symbol. Throws Error(invalid_argument) for more than K symbols.
std::vector<std::uint32_t> allocate_slots(std::span<const std::uint64_t> counts,
                                          const Geometry& geometry);

/// 3. Where the slots lie: symbol s owns [start[s], start[s] + slots[s]), in the order of the
/// symbols.
struct CodingTable {
  /// No symbol is an escape.
  static constexpr std::uint32_t no_escape = 0xffffffff;

  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> start;
  std::uint32_t escape = no_escape;  ///< the symbol whose raw words follow in the stream
  std::uint32_t padding = 0;         ///< the symbol with the most slots that is no escape
  int raw_words = 0;                 ///< 32-bit words after an escape

  CodingTable() = default;
  /// Throws Error(bad_input) unless 1 <= slots[s] <= M, their sum is at most K and some symbol is
  /// no escape.
  CodingTable(std::vector<std::uint32_t> slots_of_symbols, std::uint32_t escape_symbol,
              int words_of_an_escape, const Geometry& geometry);
};

}  // namespace tansolve
