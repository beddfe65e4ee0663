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
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tansolve::detail {

__extension__ using uint128 = unsigned __int128;

/// The symbols of one lane, whole segments of them, and the raw words of its escapes in their
/// order.
struct LaneSymbols {
  std::vector<std::uint32_t> symbols;
  std::vector<std::uint32_t> raw;
  /// A lane before this one whose symbols and raw words are this one's too, -1 for none. With it
  /// the fields above are not looked at, and nothing is coded twice.
  int twin = -1;
};

/// Symbol i of a lane is coded with tables[i % tables]; `tables` divides l.
template <Geometry G, int tables>
class WarpEncoder {
  static_assert(G.l % tables == 0 && G.k <= 16 && G.M <= 256 && G.o <= 8);

 public:
  explicit WarpEncoder(std::span<const CodingTable> coding_tables) {
    for (int t = 0; t < tables; ++t) {
      const CodingTable& table = coding_tables[t];
      escape_[t] = table.escape;
      raw_words_[t] = table.raw_words;
      for (std::size_t s = 0; s < table.slots.size(); ++s)
        codes_[t].push_back(table.start[s] << 16 | table.slots[s]);
    }
    for (std::uint32_t base = 2; base < reciprocal_.size(); ++base)
      reciprocal_[base] = ~std::uint64_t{0} / base + 1;  // ceil(2^64 / base)
  }

  /// Appends the stream of the lanes, each a multiple of l symbols long, to `words`.
  void encode(std::span<const LaneSymbols, warp_size> lanes, std::vector<std::uint32_t>& words) {
    std::array<Source, warp_size> sources;
    std::size_t most = 0;
    for (int j = 0; j < warp_size; ++j) {
      if (lanes[j].twin < 0) {
        encode_lane(lanes[j].symbols, coded_[j]);
        sources[j] = {coded_[j].segments, coded_[j].words.data(), lanes[j].raw.data(),
                      coded_[j].segments * G.o + lanes[j].raw.size()};
      } else {
        sources[j] = sources[lanes[j].twin];
      }
      most += sources[j].most_words;
    }
    const std::size_t begin = words.size();
    words.resize(begin + most);
    words.resize(merge(sources, words.data() + begin) - words.data());
  }

 private:
  /// A segment is its marks and then its o words.
  struct CodedLane {
    std::size_t segments = 0;
    std::vector<std::uint32_t> words;
  };
  static constexpr std::size_t stride = G.o + 1;
  /// Marks: bit c says that word c is taken from the digits before, bit escape_mark + i that symbol
  /// i escapes.
  static constexpr int escape_mark = 8;

  /// What of a lane is still to come in the stream.
  struct Source {
    std::size_t segments;
    const std::uint32_t* words;
    const std::uint32_t* raw;
    std::size_t most_words;
  };

  /// Writes what the lanes hold in the order in which the warp asks for it; returns its end.
  std::uint32_t* merge(std::array<Source, warp_size>& sources, std::uint32_t* out) const {
    std::array<int, warp_size> active;
    std::array<const std::uint32_t*, warp_size> segments;  // of the active lanes, the one at hand
    int count = 0;
    std::size_t next_end = 0;  // the first segment that not all of the active lanes have
    for (std::size_t s = 0;; ++s) {
      if (s == next_end) {
        count = 0;
        next_end = std::numeric_limits<std::size_t>::max();
        for (int j = 0; j < warp_size; ++j) {
          if (s >= sources[j].segments) continue;
          active[count] = j;
          segments[count++] = sources[j].words + s * stride;
          next_end = std::min(next_end, sources[j].segments);
        }
        if (count == 0) return out;
      }
      for (int c = 0; c < G.o; ++c)
        for (int a = 0; a < count; ++a) {
          *out = segments[a][1 + c];
          out += c < G.f ? ~segments[a][0] >> c & 1 : 1;
        }
      std::uint32_t marks = 0;
      for (int a = 0; a < count; ++a) marks |= segments[a][0];
      for (int i = 0; marks >> escape_mark != 0 && i < G.l; ++i)
        for (int a = 0; a < count; ++a) {
          if ((segments[a][0] >> (escape_mark + i) & 1) == 0) continue;
          const std::uint32_t*& raw = sources[active[a]].raw;
          out = std::copy_n(raw, raw_words_[i % tables], out);
          raw += raw_words_[i % tables];
        }
      for (int a = 0; a < count; ++a) segments[a] += stride;
    }
  }

  void encode_lane(std::span<const std::uint32_t> symbols, CodedLane& lane) {
    lane.segments = symbols.size() / G.l;
    lane.words.resize(lane.segments * stride);
    if constexpr (G.f > 0) {
      codes_of_.resize(symbols.size());
      bases_.resize(lane.segments * G.f);
    }
    if (lane.segments == 0) return;
    base_pass(symbols, lane);
    if constexpr (G.f > 0) digit_pass(lane);
  }

  /// Marks the segments; keeps the codes of the symbols and the bases of the runs, products of at
  /// most M^(l/f) <= 2^32, for the digit pass. Where there are no digits, it is all there is to do.
  void base_pass(std::span<const std::uint32_t> symbols, CodedLane& lane) {
    std::uint64_t r = 1;
    std::uint32_t extracted = 0;
    for (std::size_t s = 0; s < lane.segments; ++s) {
      std::uint32_t marks = extracted;
      std::array<std::uint32_t, G.l> codes;
      for (int i = 0; i < G.l; ++i) {
        const std::uint32_t symbol = symbols[s * G.l + i];
        codes[i] = codes_[i % tables][symbol];
        marks |= static_cast<std::uint32_t>(symbol == escape_[i % tables]) << (escape_mark + i);
      }
      lane.words[s * stride] = marks;
      if constexpr (G.f == 0) {
        put_slots(codes.data(), {}, &lane.words[s * stride + 1]);
        continue;
      }
      std::copy_n(codes.begin(), G.l, codes_of_.begin() + static_cast<std::ptrdiff_t>(s * G.l));
      extracted = 0;
      for (int c = 0; c < G.f; ++c) {
        std::uint64_t base = 1;
        for (int i = c * G.run(); i < (c + 1) * G.run(); ++i) base *= codes[i] & 0xffff;
        bases_[s * G.f + c] = base;
        r *= base;
        const std::uint32_t extracts = r >> 32 != 0;
        extracted |= extracts << c;
        r >>= 32 * extracts;
      }
    }
  }

  void digit_pass(CodedLane& lane) const {
    std::array<std::uint32_t, G.l> digits{};
    std::size_t s = lane.segments - 1;
    put_slots(&codes_of_[s * G.l], digits, &lane.words[s * stride + 1]);
    std::uint64_t d = 0;
    while (s-- > 0) {
      const std::uint32_t* codes = &codes_of_[s * G.l];
      const std::uint32_t* next = &lane.words[(s + 1) * stride];
      for (int c = G.f; c-- > 0;) {
        if (next[0] >> c & 1) d = d << 32 | next[1 + c];
        const std::uint64_t base = bases_[s * G.f + c];
        std::uint64_t of_run = d % base;  // below 2^32, so that reciprocals are exact
        d /= base;
        for (int i = (c + 1) * G.run(); i-- > c * G.run();)
          digits[i] = take_digit(of_run, codes[i] & 0xffff);
      }
      put_slots(codes, digits, &lane.words[s * stride + 1]);
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
  static void put_slots(const std::uint32_t* codes, const std::array<std::uint32_t, G.l>& digits,
                        std::uint32_t* words) {
    std::uint64_t pending = 0;
    int bits = 0;
    for (int i = 0; i < G.l; ++i) {
      const std::uint64_t slot = (codes[i] >> 16) + digits[i];
      pending |= slot << bits;
      bits += G.k;
      if (bits >= 32) {
        *words++ = static_cast<std::uint32_t>(pending);
        pending >>= 32;
        bits -= 32;
      }
    }
  }

  std::array<std::vector<std::uint32_t>, tables> codes_;  ///< first slot << 16 | slots, by symbol
  std::array<std::uint32_t, tables> escape_{};
  std::array<int, tables> raw_words_{};
  std::array<std::uint64_t, 257> reciprocal_{};
  std::vector<std::uint32_t> codes_of_;  ///< of the symbols of the lane at hand
  std::vector<std::uint64_t> bases_;     ///< of its runs
  std::array<CodedLane, warp_size> coded_;
};

}  // namespace tansolve::detail
