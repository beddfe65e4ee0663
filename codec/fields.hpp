// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a fixed width, laid out so that the 32 lanes of a warp read theirs in few, wide loads.
#pragma once

#include <tansolve/codec/dtans/geometry.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

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
/// lane j's. FORMAT.md 5.3.
class FieldPlanes {
 public:
  FieldPlanes(const std::uint32_t* words, int bits, std::int64_t entries)
      : bytes_(reinterpret_cast<const Byte*>(words)), bits_(bits), entries_(entries) {}

  std::uint64_t get(const FieldSlice& slice, std::int64_t k, int lane) const {
    std::uint64_t field = 0;
    const std::int64_t number = slice.number(k, lane);
    for_each_plane(
        [&]<class Part>(Part part, const Byte* plane, int have) {
          std::memcpy(&part, plane + number * std::int64_t{sizeof part}, sizeof part);
          field |= std::uint64_t{part} << have;
        },
        [&](const Byte* plane, int have) {
          std::uint32_t word = 0;
          std::memcpy(&word, plane + 4 * (slice.first + k), sizeof word);
          field |= std::uint64_t{word >> lane & 1} << have;
        });
    return field;
  }

 private:
  using Byte = unsigned char;

  /// part(Part(), plane, bits in the planes before) and the same of the plane of single bits.
  template <class Part, class Single>
  void for_each_plane(const Part& part, const Single& single) const {
    const Byte* plane = bytes_;
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

  const Byte* bytes_;
  int bits_;
  std::int64_t entries_;
};

/// Writes fields of `bytes` whole bytes and, with `single`, one bit more into planes full of zeros.
template <int bytes, bool single>
class FieldWriter {
 public:
  FieldWriter(std::uint32_t* words, std::int64_t entries)
      : planes_(reinterpret_cast<unsigned char*>(words)), entries_(entries) {}

  /// field(k) for the entries k < count of a lane. What is written might be taken for aliases of
  /// what is referred to: let `field` hold copies.
  template <class Field>
  void put_lane(const FieldSlice slice, int lane, std::int64_t count, const Field field) const {
    const FieldWriter own = *this;
    std::int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
      const std::uint64_t four[] = {field(k), field(k + 1), field(k + 2), field(k + 3)};
      const std::int64_t number = warp_size * (slice.first + k) + 4 * lane;
      for (int u = 0; u < 4; ++u) own.put(number + u, slice.first + k + u, lane, four[u]);
    }
    if (k + 2 <= count && slice.width - k < 4) {
      const std::int64_t number = warp_size * (slice.first + k) + 2 * lane;
      for (int u = 0; u < 2; ++u) own.put(number + u, slice.first + k + u, lane, field(k + u));
      k += 2;
    }
    for (; k < count; ++k) own.put(slice.number(k, lane), slice.first + k, lane, field(k));
  }

 private:
  /// The planes before that of this many bytes hold the bytes above.
  template <class Part>
  void put_part(std::int64_t number, std::uint64_t field) const {
    constexpr int size = sizeof(Part), before = bytes & ~(2 * size - 1);
    if constexpr ((bytes & size) != 0) {
      const auto part = static_cast<Part>(field >> 8 * before);
      std::memcpy(planes_ + warp_size * entries_ * before + number * size, &part, size);
    }
  }

  void put(std::int64_t number, std::int64_t entry, int lane, std::uint64_t field) const {
    put_part<std::uint64_t>(number, field);
    put_part<std::uint32_t>(number, field);
    put_part<std::uint16_t>(number, field);
    put_part<std::uint8_t>(number, field);
    if constexpr (single) {
      unsigned char* at = planes_ + warp_size * entries_ * bytes + 4 * entry;
      std::uint32_t word = 0;
      std::memcpy(&word, at, sizeof word);
      word |= static_cast<std::uint32_t>(field >> 8 * bytes & 1) << lane;
      std::memcpy(at, &word, sizeof word);
    }
  }

  unsigned char* planes_;
  std::int64_t entries_;
};

/// Calls action(writer) with the writer of fields of so many bits, a width in use.
template <class Action>
void with_field_writer(std::uint32_t* words, int bits, std::int64_t entries, const Action& action) {
  const auto act = [&]<int bytes>(std::integral_constant<int, bytes>) {
    if constexpr (bytes < 8) {
      if (bits % 8 == 1) return action(FieldWriter<bytes, true>(words, entries));
    }
    action(FieldWriter<bytes, false>(words, entries));
  };
  [&]<int... bytes>(std::integer_sequence<int, bytes...>) {
    ((bits / 8 == bytes ? act(std::integral_constant<int, bytes>()) : void()), ...);
  }
  (std::make_integer_sequence<int, 9>());
}

}  // namespace tansolve
