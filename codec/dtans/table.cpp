// SPDX-License-Identifier: BSD-3-Clause
// From counts to a coding table: the cut, the optimal allocation, the layout.
#include <tansolve/codec/dtans/table.hpp>
#include <tansolve/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace tansolve {

std::size_t choose_coded_symbols(std::span<const std::uint64_t> counts, std::uint64_t total,
                                 const Geometry& geometry, int raw_bits) {
  const double least = geometry.k - std::log2(geometry.M), most = geometry.k;
  const auto bits = [&](std::uint64_t count) {
    if (count == 0) return 0.0;
    const auto n = static_cast<double>(count);
    return n * std::clamp(std::log2(static_cast<double>(total) / n), least, most);
  };

  const std::size_t slots = geometry.slots();
  std::size_t best = 0;
  double best_bits = 0, coded_bits = 0;
  std::uint64_t escaped = total;
  for (std::size_t coded = 1; coded <= std::min(counts.size(), slots); ++coded) {
    coded_bits += bits(counts[coded - 1]);
    escaped -= counts[coded - 1];
    if (escaped > 0 && coded == slots) break;  // no slot is left for the escape
    const double all_bits = coded_bits + bits(escaped) + static_cast<double>(escaped) * raw_bits;
    if (best == 0 || all_bits < best_bits) {
      best = coded;
      best_bits = all_bits;
    }
  }
  return best;
}

std::vector<std::uint32_t> allocate_slots(std::span<const std::uint64_t> counts,
                                          const Geometry& geometry) {
  const std::size_t slots = geometry.slots();
  if (counts.size() > slots)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} symbols in a table of {} slots", counts.size(), slots));
  std::vector<std::uint32_t> owned(counts.size(), 1);

  struct Gain {
    double bits;
    std::size_t symbol;
    bool operator<(const Gain& other) const {
      return bits != other.bits ? bits < other.bits : symbol > other.symbol;
    }
  };
  std::priority_queue<Gain> gains;
  const auto push = [&](std::size_t s) {
    if (owned[s] < static_cast<std::uint32_t>(geometry.M))
      gains.push({static_cast<double>(counts[s]) * std::log2((owned[s] + 1.0) / owned[s]), s});
  };
  for (std::size_t s = 0; s < counts.size(); ++s) push(s);
  for (std::size_t left = slots - counts.size(); left > 0 && !gains.empty(); --left) {
    const std::size_t s = gains.top().symbol;
    gains.pop();
    ++owned[s];
    push(s);
  }
  return owned;
}

CodingTable::CodingTable(std::vector<std::uint32_t> slots_of_symbols, std::uint32_t escape_symbol,
                         int words_of_an_escape, const Geometry& geometry)
    : slots(std::move(slots_of_symbols)),
      start(slots.size()),
      escape(escape_symbol),
      padding(no_escape),
      raw_words(words_of_an_escape) {
  std::uint64_t end = 0;
  for (std::uint32_t s = 0; s < slots.size(); ++s) {
    if (slots[s] < 1 || slots[s] > static_cast<std::uint32_t>(geometry.M))
      throw Error(ErrorCode::bad_input,
                  fmt::format("coding table: symbol {} owns {} slots, not 1 to {}", s, slots[s],
                              geometry.M));
    start[s] = static_cast<std::uint32_t>(end);
    end += slots[s];
    if (s != escape && (padding == no_escape || slots[s] > slots[padding])) padding = s;
  }
  if (end > static_cast<std::uint64_t>(geometry.slots()))
    throw Error(ErrorCode::bad_input,
                fmt::format("coding table: {} slots owned of {}", end, geometry.slots()));
  if (padding == no_escape)
    throw Error(ErrorCode::bad_input, "coding table: no symbol besides the escape");
  if (escape != no_escape && escape >= slots.size())
    throw Error(ErrorCode::bad_input,
                fmt::format("coding table: escape symbol {} of {} symbols", escape, slots.size()));
}

}  // namespace tansolve
