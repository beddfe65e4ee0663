// SPDX-License-Identifier: BSD-3-Clause
// A matrix without streams in the memory of a GPU.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/kernels/cuda/context.hpp>
#include <tansolve/kernels/cuda/pattern_bases.hpp>

#include <cstddef>
#include <cstdint>

namespace tansolve::detail {

/// An entry of a pattern of columns and values, in one load.
template <class T>
struct alignas(2 * sizeof(T)) PatternEntry {
  T value;
  std::int32_t offset;  ///< column - row
};
static_assert(sizeof(PatternEntry<double>) == 16 && sizeof(PatternEntry<float>) == 8);

/// An entry of a pattern of columns.
struct alignas(8) ShapeEntry {
  std::int32_t offset;
  std::uint32_t sign;  ///< in the top bit, where fields hold none
};

/// The planes of fields (FORMAT.md 5.3); those that bits do not ask for are not read.
struct DevicePlanes {
  const std::uint32_t* words;
  int bits;
  std::uint32_t entries;    ///< of a lane, in all slices
  const std::byte* low;     ///< of 8 bytes or 4
  const std::byte* middle;  ///< of 2
  const std::byte* high;    ///< of 1
  const std::uint32_t* single;

  /// Sets the planes from words, bits and entries.
  void place();
};

/// What the kernels read, by value. Pointers are into device memory.
template <class T>
struct ArrayMatrixView {
  std::uint32_t rows;
  std::uint32_t coded_rows;
  int number_width;  ///< bytes of a coded row's number: its pattern or length; 0: all
                     ///< constant_number
  std::uint32_t constant_number;
  const std::uint8_t* numbers;

  /// Coding patterns: PatternInfo, mask words, PatternEntry, 16-byte aligned each; coding shapes:
  /// PatternInfo, ShapeEntry; then the dictionary.
  const std::byte* tables;
  int table_bytes;                          ///< a multiple of 16
  int masks_at, entries_at, dictionary_at;  ///< bytes
  int row_stride;                           ///< patterns: from a row of a lane to its next
  bool finite;  ///< patterns: all values are, so that times 0 they are 0

  std::uint32_t slices;
  const std::uint32_t* slice_offsets;
  const std::uint32_t* schedule;  ///< packed: as balanced_schedule() returns it, or null
  std::uint32_t positions;        ///< of the schedule, or as many as there are slices
  DevicePlanes columns;
  DevicePlanes values;
  std::uint32_t first_column;
  bool relative;
  bool sign;
  int shift;
  std::uint64_t least;
  bool dictionary;
  std::uint32_t exceptions;
  const std::uint64_t* exception_places;
  const T* exception_values;

  const std::uint32_t* order;  ///< null: coded rows are rows
  std::uint32_t long_rows;
  const std::uint32_t* long_row;
  const std::uint32_t* long_starts;
  std::uint32_t piece_count;
  T* pieces;  ///< the sums of the pieces of long rows, of one column after the other
};

/// Threads of a multiprocessor, in one block, that multiply packed rows.
inline constexpr int packed_threads = 1024;

/// Owns the device's copy: one allocation of the container's parts, at most
/// DeviceMatrix::extra_bytes, most_block_columns values for each piece of a long row, of packed
/// rows whose slices are uneven the schedule and, of patterns, the bytes below.
template <class T>
class ArrayMatrix {
 public:
  /// Copies through pinned memory; waits. Throws Error: out_of_memory, device, not_supported where
  /// slices have more than 2^32 entries a lane in all.
  ArrayMatrix(Context<Cuda>& context, const CompressedMatrix<T>& matrix);
  ArrayMatrix(const ArrayMatrix&) = delete;
  ArrayMatrix& operator=(const ArrayMatrix&) = delete;
  ~ArrayMatrix() { context_->release(memory_); }

  /// What kernels read of a pattern, and of an entry of one, beyond the container's bytes of these.
  static constexpr std::int64_t pattern_bytes = sizeof(PatternInfo), entry_bytes = 8;
  /// Of the schedule, for each slice, at most.
  static constexpr std::int64_t slice_bytes = 8;

  const ArrayMatrixView<T>& view() const { return view_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  Context<Cuda>* context_;
  void* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  ArrayMatrixView<T> view_{};
};

}  // namespace tansolve::detail
