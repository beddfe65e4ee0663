// SPDX-License-Identifier: BSD-3-Clause
// A compressed matrix in the memory of a GPU.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/kernels/cuda/context.hpp>

#include <cstddef>
#include <cstdint>

namespace tansolve::detail {

/// What a symbol of a joint table stands for, in one load.
template <class T>
struct alignas(2 * sizeof(T)) SymbolEntry {
  T value;
  std::uint32_t delta;
};
static_assert(sizeof(SymbolEntry<double>) == 16 && sizeof(SymbolEntry<float>) == 8);

/// How far ahead of the stream's place a warp asks for words: what two segments take, at most.
inline constexpr int prefetch_words = 64;

/// Where a slot's code has the offset of its entry.
constexpr int offset_shift(Coding coding) {
  return coding == Coding::byte ? 20 : 16;
}

/// How a slot decodes, in one word: the offset of its entry above, below it in the byte geometry
/// (base - 1) << 16 | base << 12 | digit, else digit << 8 | (base - 1).
constexpr std::uint32_t slot_code(Coding coding, std::uint32_t offset, std::uint32_t base,
                                  std::uint32_t digit) {
  return offset << offset_shift(coding) |
         (coding == Coding::byte ? (base - 1) << 16 | base << 12 | digit : digit << 8 | (base - 1));
}

/// What the kernels read, by value. Pointers are into device memory.
template <class T>
struct DeviceMatrixView {
  std::uint32_t rows;
  std::uint32_t slices;
  int rows_per_lane;
  int length_width;  ///< bytes of a row length; 0: all are constant_length
  std::uint32_t constant_length;
  const std::uint8_t* lengths;
  const std::uint64_t* slice_offsets;
  const std::uint32_t* words;

  /// By table and slot, how a slot decodes: slot_code(). None where M = 1, where a slot is the
  /// index of its entry.
  const std::uint32_t* codes;
  int code_count;  ///< 0 without nonzeros
  /// What symbols stand for: SymbolEntry<T>, but values, then deltas, where there are two tables.
  const std::byte* entries;
  int entry_count;          ///< of SymbolEntry<T>; fixed geometries repeat symbol 0 at the end
  int entry_bytes;          ///< of all; a multiple of 16
  std::uint32_t escape[2];  ///< by table, the offset of the escape's entry; no_escape without
};

/// Owns the device's copy of a compressed matrix: one allocation of the container's parts, and the
/// coding tables spread over their slots besides, at most extra_bytes.
template <class T>
class DeviceMatrix {
 public:
  /// Copies through pinned memory; waits. Throws Error: out_of_memory, device.
  DeviceMatrix(Context<Cuda>& context, const CompressedMatrix<T>& matrix);
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix() { context_->release(memory_); }

  const DeviceMatrixView<T>& view() const { return view_; }
  std::int64_t bytes() const { return bytes_; }  ///< of device memory

  /// Codes of two tables of 4096 slots, the padding of 65,537 entries to 16 bytes, that of five
  /// sections to 256, and what may be prefetched beyond the words.
  static constexpr std::int64_t extra_bytes =
      2 * 4096 * 4 + 65537 * 4 + 16 + 5 * 256 + prefetch_words * 4 + 256;

 private:
  Context<Cuda>* context_;
  void* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  DeviceMatrixView<T> view_{};
};

}  // namespace tansolve::detail
