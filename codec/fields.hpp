// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a fixed width, laid out so that the 32 lanes of a warp read theirs in few, wide loads.
#pragma once

#include <tansolve/codec/dtans/geometry.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tansolve {

/// The widths in use: whole bytes, and for values one bit besides, or 64. What lies between is
/// rounded up; bits in [0, 64].
constexpr int whole_bytes(int bits) {
  return bits > 56 ? 64 : (bits + 7) / 8 * 8;
}
constexpr int stored_bits(int bits) {
  return bits % 8 == 1 ? bits : whole_bytes(bits);
}

/// Where the slices' entries lie: those of a slice come after `first` of other slices, `width` of
/// each lane.
struct FieldSlice {
  std::int64_t first;
  std::int64_t width;

  /// The number of entry k of a lane in a plane. A lane has four entries side by side as long as
  /// there are four more, then two, then one.
  std::int64_t number(std::int64_t k, int lane) const {
    const std::int64_t together = k < width / 4 * 4 ? 4 : k < width / 2 * 2 ? 2 : 1;
    const std::int64_t group = together == 4 ? k / 4 * 4 : together == 2 ? width / 4 * 4 : k;
    return warp_size * (first + group) + lane * together + (k - group);
  }
};

/// The planes of all slices of a matrix, `entries` of a lane in all: one of eight bytes a field
/// where bits = 64; else of four, two and one byte, as the binary digits of bits say, the low bits
/// of the fields in the first; then, where bits are odd, one of a word an entry, whose bit j is
/// lane j's. FORMAT.md 5.3. Word is const to read.
template <class Word>
class FieldPlanes {
 public:
  FieldPlanes(Word* words, int bits, std::int64_t entries)
      : bytes_(reinterpret_cast<Byte*>(words)), bits_(bits), entries_(entries) {}

  std::uint64_t get(const FieldSlice& slice, std::int64_t k, int lane) const {
    std::uint64_t field = 0;
    const std::int64_t number = slice.number(k, lane);
    for_each_plane(
        [&]<class Part>(Part part, Byte* plane, int have) {
          std::memcpy(&part, plane + number * std::int64_t{sizeof part}, sizeof part);
          field |= std::uint64_t{part} << have;
        },
        [&](Byte* plane, int have) {
          std::uint32_t word = 0;
          std::memcpy(&word, plane + 4 * (slice.first + k), sizeof word);
          field |= std::uint64_t{word >> lane & 1} << have;
        });
    return field;
  }

  /// Entry k of lane j is fields[32 k + j].
  void put(const FieldSlice& slice, const std::uint64_t* fields) const {
    for_each_plane(
        [&]<class Part>(Part part, Byte* plane, int have) {
          plane += warp_size * slice.first * std::int64_t{sizeof part};
          for (std::int64_t k = 0; k < slice.width;) {
            const std::int64_t left = slice.width - k, together = left >= 4 ? 4 : left >= 2 ? 2 : 1;
            for (int j = 0; j < warp_size; ++j)
              for (std::int64_t u = 0; u < together; ++u, plane += sizeof part) {
                part = static_cast<Part>(fields[warp_size * (k + u) + j] >> have);
                std::memcpy(plane, &part, sizeof part);
              }
            k += together;
          }
        },
        [&](Byte* plane, int have) {
          for (std::int64_t k = 0; k < slice.width; ++k) {
            std::uint32_t word = 0;
            for (int j = 0; j < warp_size; ++j)
              word |= static_cast<std::uint32_t>(fields[warp_size * k + j] >> have & 1) << j;
            std::memcpy(plane + 4 * (slice.first + k), &word, sizeof word);
          }
        });
  }

 private:
  using Byte = std::conditional_t<std::is_const_v<Word>, const unsigned char, unsigned char>;

  /// part(Part(), plane, bits in the planes before) and the same of the plane of single bits.
  template <class Part, class Single>
  void for_each_plane(const Part& part, const Single& single) const {
    Byte* plane = bytes_;
    int have = 0;
    const auto visit = [&](auto type) {
      if ((bits_ & 8 * static_cast<int>(sizeof type)) == 0) return;
      part(type, plane, have);
      have += static_cast<int>(8 * sizeof type);
      plane += entries_ * warp_size * static_cast<std::int64_t>(sizeof type);
    };
    visit(std::uint64_t());
    visit(std::uint32_t());
    visit(std::uint16_t());
    visit(std::uint8_t());
    if (have < bits_) single(plane, have);
  }

  Byte* bytes_;
  int bits_;
  std::int64_t entries_;
};

}  // namespace tansolve
