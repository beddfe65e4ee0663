// SPDX-License-Identifier: BSD-3-Clause
// The slow, obvious decoder: section 3 of FORMAT.md in code, whose paragraphs its comments cite. It
// checks every read and shares nothing with the fast decoders, which are tested against it;
// containers are validated with it.
#pragma once

#include <tansolve/codec/dtans/table.hpp>
#include <tansolve/codec/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tansolve {
namespace detail {

/// 3.2: what a slot holds.
struct Slot {
  std::uint32_t symbol = 0;
  std::uint32_t digit = 0;
  std::uint32_t base = 1;
};

inline std::vector<Slot> slots_of(const CodingTable& table, const Geometry& geometry) {
  std::vector<Slot> slots(geometry.slots());
  for (std::uint32_t s = 0; s < table.slots.size(); ++s)
    for (std::uint32_t g = 0; g < table.slots[s]; ++g)
      slots[table.start[s] + g] = {s, g, table.slots[s]};
  return slots;
}

struct Lane {
  std::uint64_t d = 0;
  std::uint64_t r = 1;
  std::array<std::uint32_t, 3> w{};
  std::vector<Slot> segment;
};

class WordReader {
 public:
  explicit WordReader(std::span<const std::uint32_t> words) : words_(words) {}
  std::uint32_t next() {
    if (taken_ == words_.size())
      throw Error(ErrorCode::bad_input, "dtANS stream: it needs more than its " +
                                            std::to_string(words_.size()) + " words");
    return words_[taken_++];
  }
  std::span<const std::uint32_t> next(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) next();
    return words_.subspan(taken_ - count, count);
  }
  std::size_t taken() const { return taken_; }

 private:
  std::span<const std::uint32_t> words_;
  std::size_t taken_ = 0;
};

/// 3.3: field i is bits [k i, k i + k) of the segment's words.
inline std::uint32_t field(const std::array<std::uint32_t, 3>& w, int i, int k) {
  const int at = k * i / 32, shift = k * i % 32;
  std::uint64_t bits = w[at];
  if (shift + k > 32) bits |= static_cast<std::uint64_t>(w[at + 1]) << 32;
  return static_cast<std::uint32_t>(bits >> shift) & ((1u << k) - 1);
}

}  // namespace detail

class ReferenceDecoder {
 public:
  /// Keeps `tables`, which must outlive it. Symbol i of a lane belongs to tables[i %
  /// tables.size()].
  ReferenceDecoder(const Geometry& geometry, std::span<const CodingTable> tables)
      : geometry_(geometry), tables_(tables) {
    for (const CodingTable& table : tables) slots_.push_back(detail::slots_of(table, geometry));
  }

  /// Decodes the lanes of one warp in lock step, `segments` of them each. Calls sink(lane, symbol,
  /// raw) for every symbol of every lane, padding included, in the order of lanes within that of
  /// symbols within that of segments; raw holds the words of an escape, else nothing. Returns the
  /// number of words taken. Throws Error(bad_input) when they run out or a lane does not end with d
  /// = 0.
  template <class Sink>
  std::size_t decode(const std::array<std::int64_t, warp_size>& segments,
                     std::span<const std::uint32_t> words, Sink&& sink) const {
    const auto& [k, M, l, o, f] = geometry_;
    detail::WordReader reader(words);
    std::array<detail::Lane, warp_size> lanes;
    const std::int64_t longest = *std::max_element(segments.begin(), segments.end());

    // 3.4: the first segment's words.
    for (int c = 0; c < o; ++c)
      for (int j = 0; j < warp_size; ++j)
        if (segments[j] > 0) lanes[j].w[c] = reader.next();

    for (std::int64_t s = 0; s < longest; ++s) {
      // 3.5: the look-ups.
      for (int j = 0; j < warp_size; ++j) {
        lanes[j].segment.assign(l, {});
        for (int i = 0; i < l && s < segments[j]; ++i)
          lanes[j].segment[i] = slots_[table_of(i)][detail::field(lanes[j].w, i, k)];
      }
      // 3.6: the raw words of escapes.
      for (int i = 0; i < l; ++i)
        for (int j = 0; j < warp_size; ++j) {
          if (s >= segments[j]) continue;
          const CodingTable& table = tables_[table_of(i)];
          const std::uint32_t symbol = lanes[j].segment[i].symbol;
          sink(j, symbol, symbol == table.escape ? reader.next(table.raw_words) : reader.next(0));
        }
      // 3.7: the next segment's words, from the digits or from the stream.
      for (int c = 0; c < o; ++c)
        for (int j = 0; j < warp_size; ++j) {
          if (s + 1 >= segments[j]) continue;
          detail::Lane& lane = lanes[j];
          if (c < f) {
            for (int i = c * (l / f); i < (c + 1) * (l / f); ++i) {
              lane.d = lane.d * lane.segment[i].base + lane.segment[i].digit;
              lane.r = lane.r * lane.segment[i].base;
            }
            if (lane.r >> 32 != 0) {
              lane.w[c] = static_cast<std::uint32_t>(lane.d);
              lane.d >>= 32;
              lane.r >>= 32;
              continue;
            }
          }
          lane.w[c] = reader.next();
        }
    }
    // 3.8: all digits are spent.
    for (int j = 0; j < warp_size; ++j)
      if (lanes[j].d != 0)
        throw Error(ErrorCode::bad_input,
                    "dtANS stream: lane " + std::to_string(j) + " ends with digits left over");
    return reader.taken();
  }

 private:
  std::size_t table_of(int i) const { return i % tables_.size(); }

  Geometry geometry_;
  std::span<const CodingTable> tables_;
  std::vector<std::vector<detail::Slot>> slots_;
};

}  // namespace tansolve
