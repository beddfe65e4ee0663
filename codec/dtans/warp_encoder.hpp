// SPDX-License-Identifier: BSD-3-Clause
// The encoder: 32 lanes of symbols into the one stream of words that a warp decodes in lock step.
//
// Surprising at first: a lane is encoded in two passes, because the number r of digit values that
// are on hand depends on the symbols before, while the digits d that fill it are known from behind.
// The base pass runs r forwards and finds the checks at which a word is taken out of d; the digit
// pass runs backwards from d = 0 and turns those words into digits. Throughout d < r, so at the
// start, where r = 1, d must be 0: that is the proof that the stream decodes to what was encoded,
// and it is checked.
#pragma once

#include <tansolve/codec/dtans/table.hpp>
#include <tansolve/codec/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

__extension__ using uint128 = unsigned __int128;

/// The symbols of one lane, whole segments of them, and the raw words of its escapes in their
/// order.
struct LaneSymbols {
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint32_t> raw;
  void clear() {
    symbols.clear();
    raw.clear();
  }
};

/// Symbol i of a lane is coded with tables[i % tables]; `tables` divides l.
template <Geometry G, int tables>
class WarpEncoder {
  static_assert(G.l % tables == 0);

 public:
  explicit WarpEncoder(std::span<const CodingTable> coding_tables) {
    for (int t = 0; t < tables; ++t) table_[t] = &coding_tables[t];
    for (std::uint32_t base = 2; base < reciprocal_.size(); ++base)
      reciprocal_[base] = ~std::uint64_t{0} / base + 1;  // ceil(2^64 / base)
  }

  /// Appends the stream of the lanes, each a multiple of l symbols long, to `words`.
  void encode(std::span<const LaneSymbols, warp_size> lanes, std::vector<std::uint32_t>& words) {
    std::size_t longest = 0;
    for (int j = 0; j < warp_size; ++j) {
      encode_lane(lanes[j].symbols, coded_[j]);
      longest = std::max(longest, coded_[j].segments);
    }
    std::array<std::size_t, warp_size> raw_taken{};
    for (std::size_t s = 0; s < longest; ++s) {
      for (int c = 0; c < G.o; ++c)
        for (const CodedLane& lane : coded_)
          if (s < lane.segments && !(s > 0 && c < G.f && (lane.extracts[s - 1] >> c & 1)))
            words.push_back(lane.words[s * G.o + c]);
      if (has_escapes()) merge_escapes(lanes, s, raw_taken, words);
    }
  }

 private:
  struct CodedLane {
    std::size_t segments = 0;
    std::vector<std::uint32_t> words;    ///< o a segment, extracted ones included
    std::vector<std::uint8_t> extracts;  ///< bit c: check c of the segment takes its word from d
  };

  bool has_escapes() const {
    for (const CodingTable* table : table_)
      if (table->escape != CodingTable::no_escape) return true;
    return false;
  }

  void merge_escapes(std::span<const LaneSymbols, warp_size> lanes, std::size_t segment,
                     std::array<std::size_t, warp_size>& raw_taken,
                     std::vector<std::uint32_t>& words) const {
    for (int i = 0; i < G.l; ++i) {
      const CodingTable& table = *table_[i % tables];
      for (int j = 0; j < warp_size; ++j) {
        if (segment >= coded_[j].segments || lanes[j].symbols[segment * G.l + i] != table.escape)
          continue;
        const auto raw = lanes[j].raw.begin() + static_cast<std::ptrdiff_t>(raw_taken[j]);
        words.insert(words.end(), raw, raw + table.raw_words);
        raw_taken[j] += table.raw_words;
      }
    }
  }

  void encode_lane(std::span<const std::uint32_t> symbols, CodedLane& lane) const {
    lane.segments = symbols.size() / G.l;
    lane.words.resize(lane.segments * G.o);
    lane.extracts.assign(lane.segments, 0);
    if (lane.segments == 0) return;
    base_pass(symbols, lane);
    digit_pass(symbols, lane);
  }

  /// The product of the bases of run c of a segment: at most M^(l/f) <= 2^32.
  std::uint64_t run_base(const std::uint32_t* segment, int c) const {
    std::uint64_t base = 1;
    for (int i = c * G.run(); i < (c + 1) * G.run(); ++i)
      base *= table_[i % tables]->slots[segment[i]];
    return base;
  }

  void base_pass(std::span<const std::uint32_t> symbols, CodedLane& lane) const {
    std::uint64_t r = 1;
    for (std::size_t s = 0; s + 1 < lane.segments; ++s)
      for (int c = 0; c < G.f; ++c) {
        r *= run_base(symbols.data() + s * G.l, c);
        if (r >> 32 == 0) continue;
        lane.extracts[s] |= static_cast<std::uint8_t>(1 << c);
        r >>= 32;
      }
  }

  void digit_pass(std::span<const std::uint32_t> symbols, CodedLane& lane) const {
    std::array<std::uint32_t, G.l> digits{};
    put_slots(symbols.data() + (lane.segments - 1) * G.l, digits,
              &lane.words[(lane.segments - 1) * G.o]);
    std::uint64_t d = 0;
    for (std::size_t s = lane.segments - 1; s-- > 0;) {
      const std::uint32_t* segment = symbols.data() + s * G.l;
      for (int c = G.f; c-- > 0;) {
        if (lane.extracts[s] >> c & 1) d = d << 32 | lane.words[(s + 1) * G.o + c];
        const std::uint64_t base = run_base(segment, c);
        std::uint64_t of_run = d % base;  // below 2^32, so that reciprocals are exact
        d /= base;
        for (int i = (c + 1) * G.run(); i-- > c * G.run();)
          digits[i] = take_digit(of_run, table_[i % tables]->slots[segment[i]]);
      }
      put_slots(segment, digits, &lane.words[s * G.o]);
    }
    if (d != 0)
      throw Error(ErrorCode::internal, "dtANS encoder: digits are left at the start of a lane");
  }

  /// number mod base, and number = number div base. With e = base ceil(2^64 / base) - 2^64 < base
  /// <= 256 the error of the quotient number e / (base 2^64) stays below 1 / base, as number <
  /// 2^32.
  std::uint32_t take_digit(std::uint64_t& number, std::uint32_t base) const {
    if (base == 1) return 0;
    const auto quotient =
        static_cast<std::uint64_t>(static_cast<uint128>(number) * reciprocal_[base] >> 64);
    const auto digit = static_cast<std::uint32_t>(number - quotient * base);
    number = quotient;
    return digit;
  }

  /// Field i of a segment is bits [k i, k i + k) of its words, taken as one little-endian number.
  void put_slots(const std::uint32_t* segment, const std::array<std::uint32_t, G.l>& digits,
                 std::uint32_t* words) const {
    std::uint64_t pending = 0;
    int bits = 0;
    for (int i = 0; i < G.l; ++i) {
      const std::uint64_t slot = table_[i % tables]->start[segment[i]] + digits[i];
      pending |= slot << bits;
      bits += G.k;
      if (bits >= 32) {
        *words++ = static_cast<std::uint32_t>(pending);
        pending >>= 32;
        bits -= 32;
      }
    }
  }

  std::array<const CodingTable*, tables> table_;
  std::array<std::uint64_t, 257> reciprocal_{};
  std::array<CodedLane, warp_size> coded_;
};

}  // namespace tansolve::detail
