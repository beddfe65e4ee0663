// SPDX-License-Identifier: BSD-3-Clause
// How one warp multiplies one slice: section 3 of FORMAT.md, a lane a thread, all in lock step.
//
// A segment goes through four stages. Look up: slots of a lane's words give codes, codes give
// entries; lanes with the same symbol read the same entry, which costs one access for all. Escapes:
// raw words replace what escaped. Refill: the next segment's words come from the digits or from the
// stream; their latency passes behind the last stage. Multiply: gather x, add, end rows.
//
// The kernels are bound by the number of instructions, hence what may look odd: slots are taken out
// of words already scaled to byte offsets, codes hold offsets instead of symbols, tables lie at
// addresses that the compiler knows.
#pragma once

#include <tansolve/kernels/cuda/device_matrix.hpp>
#include <tansolve/kernels/cuda/fused_tuning.cuh>
#include <tansolve/kernels/cuda/row_sums.cuh>
#include <tansolve/kernels/cuda/whole_slot.cuh>

#include <cstdint>

namespace tansolve::detail {

template <class T>
struct FusedArguments {
  DeviceMatrixView<T> matrix;
  ProductVectors<T> vectors;
};

/// The entries, in shared memory.
extern __shared__ __align__(16) std::byte shared_entries[];

template <class T, Coding coding, bool escapes, RowEnds ends, bool entries_shared, int columns>
class SliceAgent {
  static constexpr Geometry G = traits(coding).geometry;
  static constexpr int tables = traits(coding).tables;
  static constexpr int per_segment = G.l / tables;  ///< nonzeros
  static constexpr int value_words = sizeof(T) / 4;
  static constexpr FusedTuning tuning = fused_tuning(coding);
  static constexpr unsigned all = 0xffffffff;

 public:
  /// Where slots are few each holds the entry of its symbol, too: one access instead of two of
  /// which the second waits for the first, an eighth faster on poisson27:128.
  static constexpr bool whole_slots = coding == Coding::byte;

  /// By table and slot, in shared memory.
  static __device__ std::uint32_t* codes() {
    __shared__ std::uint32_t table[G.M > 1 && !whole_slots ? tables * G.slots() : 1];
    return table;
  }

  /// By slot, in shared memory: the two words of the value, the delta, the code.
  static __device__ int4* slots() {
    __shared__ int4 table[whole_slots ? G.slots() : 1];
    return table;
  }

  explicit __device__ SliceAgent(const FusedArguments<T>& arguments)
      : matrix_(arguments.matrix), vectors_(arguments.vectors) {
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below_));  // else it is computed at each use
  }

  __device__ void run(std::uint32_t slice) {
    next_ = matrix_.words + matrix_.slice_offsets[slice];
    enter_lane(slice);
    d_ = 0;
    r_ = 1;
    const bool any = left_ > 0;
    unsigned active = __ballot_sync(all, any);
#pragma unroll
    for (int c = 0; c < G.o; ++c) load(c, any, active);
    while (active != 0) {
      prefetch();
      look_up();
      if constexpr (escapes) take_raw_words();
      const bool more = has_another_segment();
      active = __ballot_sync(all, more);
      refill(more, active);
      multiply();
    }
  }

  __device__ double xy() const {
    return xy_;
  }

 private:
  // ---- Stage 1: look up ----

  /// Field i of the segment times `scale`, a power of two.
  template <int scale>
  __device__ std::uint32_t scaled_slot(int i) const {
    constexpr std::uint32_t mask = ((1u << G.k) - 1) * scale;
    constexpr int up = __builtin_ctz(scale);
    const int word = G.k * i / 32, shift = G.k * i % 32;
    if (shift + G.k > 32) return __funnelshift_r(w_[word], w_[word + 1], shift - up) & mask;
    return (shift >= up ? w_[word] >> (shift - up) : w_[word] << (up - shift)) & mask;
  }

  __device__ void look_up() {
#pragma unroll
    for (int i = 0; i < G.l; ++i) {
      if constexpr (G.M == 1) {
        constexpr int scale = sizeof(SymbolEntry<T>);
        code_[i] = scaled_slot<scale>(i);
        if constexpr (G.k > 8)
          code_[i] = min(code_[i], static_cast<std::uint32_t>(matrix_.entry_count - 1) * scale);
      } else if constexpr (whole_slots) {
        const auto* table = reinterpret_cast<const std::byte*>(slots());
        slot_[i] = *reinterpret_cast<const int4*>(table + scaled_slot<sizeof(int4)>(i));
        code_[i] = static_cast<std::uint32_t>(slot_[i].w);
      } else {
        const auto* table = reinterpret_cast<const std::byte*>(codes() + i % tables * G.slots());
        code_[i] = *reinterpret_cast<const std::uint32_t*>(table + scaled_slot<4>(i));
      }
    }
  }

  /// Of the entry of symbol i.
  __device__ std::uint32_t offset(int i) const {
    return G.M == 1 ? code_[i] : code_[i] >> offset_shift(coding);
  }

  template <class E>
  __device__ E entry(int i) const {
    const std::byte* entries = entries_shared ? shared_entries : matrix_.entries;
    return *reinterpret_cast<const E*>(entries + offset(i));
  }

  /// Nonzero i of the segment, by its symbols.
  __device__ Nonzero<T> symbol_nonzero(int i) const {
    if constexpr (tables == 2) return {entry<T>(2 * i + 1), entry<std::uint32_t>(2 * i)};
    if constexpr (whole_slots) return nonzero_of<T>(slot_[i]);
    // As one word: else the value and the delta are loaded apart.
    if constexpr (value_words == 2) {
      return nonzero_of<T>(entry<int4>(i));
    } else {
      const auto both = entry<int2>(i);
      return {__int_as_float(both.x), static_cast<std::uint32_t>(both.y)};
    }
  }

  /// Nonzero i of the segment, by its symbols or raw words.
  __device__ Nonzero<T> nonzero(int i) const {
    if constexpr (escapes) return nonzeros_[i];
    return symbol_nonzero(i);
  }

  // ---- Stage 2: escapes ----

  __device__ void take_raw_words() {
    bool any = false;
#pragma unroll
    for (int i = 0; i < per_segment; ++i) nonzeros_[i] = symbol_nonzero(i);
#pragma unroll
    for (int i = 0; i < G.l; ++i) any |= offset(i) == matrix_.escape[i % tables];
    if (!__any_sync(all, any && left_ > 0)) return;
#pragma unroll
    for (int i = 0; i < G.l; ++i) {
      const int raw_words = tables == 1 ? 1 + value_words : i % 2 == 0 ? 1 : value_words;
      const bool escaped = left_ > 0 && offset(i) == matrix_.escape[i % tables];
      const unsigned lanes = __ballot_sync(all, escaped);
      if (escaped) {
        const std::uint32_t* raw = next_ + raw_words * __popc(lanes & below_);
        if (tables == 1 || i % 2 == 0) nonzeros_[i / tables].delta = *raw++;
        if (tables == 1 || i % 2 == 1) nonzeros_[i / tables].value = raw_value(raw);
      }
      next_ += raw_words * __popc(lanes);
    }
  }

  static __device__ T raw_value(const std::uint32_t* raw) {
    if constexpr (value_words == 1)
      return __uint_as_float(raw[0]);
    else
      return __hiloint2double(static_cast<int>(raw[1]), static_cast<int>(raw[0]));
  }

  // ---- Stage 3: the next segment's words ----

  /// The lanes that need a word take the next ones, in the order of the lanes.
  __device__ void load(int c, bool needed, unsigned lanes) {
    if (needed) w_[c] = __ldg(next_ + __popc(lanes & below_));
    next_ += __popc(lanes);
  }

  /// Asks for the words of the segment after the next. Beyond the last words there is other memory
  /// of the matrix, which it does no harm to ask for.
  __device__ void prefetch() const {
    asm volatile("prefetch.global.L1 [%0];" ::"l"(next_ + prefetch_words));
  }

  /// `active`: the lanes that have more.
  __device__ void refill(bool more, unsigned active) {
#pragma unroll
    for (int c = 0; c < G.f; ++c) {
      const bool needed = !extract(c) && more;
      load(c, needed, __ballot_sync(all, needed));
    }
#pragma unroll
    for (int c = G.f; c < G.o; ++c) load(c, more, active);
  }

  // Digits of several symbols combine by (b, g)(b', g') = (b b', g b' + g'). Both of a symbol sit
  // in one word p = (b - 1) << 16 | g, for which the same is p b' + p': one multiply-add, as long
  // as the product of the bases is at most 2^16: four symbols in the byte geometry, two in the wide
  // one.

  __device__ std::uint32_t packed_digit(int i) const {
    if constexpr (coding == Coding::byte)
      return code_[i] & 0xf000f;
    else
      return __byte_perm(code_[i], 0, 0x4041);
  }
  __device__ std::uint32_t base(int i) const {
    return coding == Coding::byte ? code_[i] >> 12 & 0xf : (code_[i] & 0xff) + 1;
  }

  struct Digits {
    std::uint32_t base, digit;
  };
  template <int count>
  __device__ Digits gathered(int first) const {
    std::uint32_t packed = packed_digit(first);
#pragma unroll
    for (int i = first + 1; i < first + count; ++i) packed = packed * base(i) + packed_digit(i);
    return {(packed >> 16) + 1, packed & 0xffff};
  }

  /// (d, r) <- (d b + g, r b) for the symbols of run c; then what exceeds a word is its word.
  /// Returns whether.
  __device__ bool extract(int c) {
    constexpr int half = G.run() / 2;
    const Digits low = gathered<half>(c * G.run()), high = gathered<half>(c * G.run() + half);
    std::uint64_t d, r;
    if constexpr (coding == Coding::byte) {  // 15^8 < 2^32
      const std::uint32_t both = low.base * high.base;
      d = std::uint64_t{d_} * both + (low.digit * high.base + high.digit);
      r = std::uint64_t{r_} * both;
    } else {
      d = (std::uint64_t{d_} * low.base + low.digit) * high.base + high.digit;
      r = std::uint64_t{r_} * low.base * high.base;
    }
    const auto d_high = static_cast<std::uint32_t>(d >> 32);
    const auto r_high = static_cast<std::uint32_t>(r >> 32);
    w_[c] = static_cast<std::uint32_t>(d);
    d_ = r_high != 0 ? d_high : static_cast<std::uint32_t>(d);
    r_ = r_high != 0 ? r_high : static_cast<std::uint32_t>(r);
    return r_high != 0;
  }

  // ---- Stage 4: multiply ----

  __device__ void multiply() {
    if (left_ >= per_segment) {
      constexpr int at_once = columns == 1 ? tuning.in_flight : 1;
      constexpr int group = per_segment < at_once ? per_segment : at_once;
#pragma unroll
      for (int first = 0; first < per_segment; first += group) {
        T value[group], x[group][columns];
#pragma unroll
        for (int i = 0; i < group; ++i) {
          const Nonzero<T> nonzero = this->nonzero(first + i);
          column_ += nonzero.delta;
          value[i] = nonzero.value;
          gather(x[i]);
        }
#pragma unroll
        for (int i = 0; i < group; ++i) add(value[i], x[i]);
      }
      left_ -= per_segment;
      if (left_ == 0) end_row();
    } else if (left_ > 0) {
      multiply_pieces();
    }
    if constexpr (ends == RowEnds::crossing) --segments_;
  }

  __device__ void gather(T (&x)[columns]) const {
#pragma unroll
    for (int c = 0; c < columns; ++c) x[c] = __ldg(vectors_.x[c] + column_);
  }
  __device__ void add(T value, const T (&x)[columns]) {
#pragma unroll
    for (int c = 0; c < columns; ++c) sum_[c] += value * x[c];
  }

  /// A segment in which a row ends, and where rows cross, others begin.
  __device__ void multiply_pieces() {
    int at = 0;
    do {
      const int end = at + left_;
#pragma unroll
      for (int i = 0; i < per_segment; ++i)
        if (i < end && (ends == RowEnds::aligned || i >= at)) {
          const Nonzero<T> nonzero = this->nonzero(i);
          column_ += nonzero.delta;
          T x[columns];
          gather(x);
          add(nonzero.value, x);
        }
      left_ = max(end - per_segment, 0);
      at = end;
      if (left_ == 0) end_row();
    } while (ends == RowEnds::crossing && at < per_segment && left_ > 0);
  }

  // ---- Rows ----

  __device__ int length_of(std::uint32_t row) const {
    switch (matrix_.length_width) {
      case 0:
        return static_cast<int>(matrix_.constant_length);
      case 1:
        return matrix_.lengths[row];
      case 2:
        return reinterpret_cast<const std::uint16_t*>(matrix_.lengths)[row];
      default:
        return reinterpret_cast<const int*>(matrix_.lengths)[row];
    }
  }

  /// Finds the lane's first row with entries and where its segments end.
  __device__ void enter_lane(std::uint32_t slice) {
    const std::uint32_t rows_per_slice = 32 * static_cast<std::uint32_t>(matrix_.rows_per_lane);
    row_ = slice * rows_per_slice + threadIdx.x % 32;
    end_ = min(matrix_.rows, (slice + 1) * rows_per_slice);
    if constexpr (ends == RowEnds::aligned) {
      // With the last row that has entries the segments end.
      last_ = row_;
      if (row_ < end_ && matrix_.rows_per_lane > 1) {
        last_ += (end_ - row_ - 1) / 32 * 32;
        while (last_ > row_ && length_of(last_) == 0) last_ -= 32;
      }
    } else {
      std::int64_t symbols = 0;
      for (std::uint32_t row = row_; row < end_; row += 32)
        symbols += std::int64_t{length_of(row)} * tables;
      segments_ = (symbols + G.l - 1) / G.l;
    }
    enter_row();
  }

  /// Moves on to the lane's next row that has entries, past empty ones.
  __device__ void enter_row() {
    left_ = 0;
#pragma unroll
    for (int c = 0; c < columns; ++c) sum_[c] = 0;
    for (; row_ < end_; row_ += 32) {
      left_ = length_of(row_);
      if (left_ > 0) break;
      put();
    }
    column_ = row_;
  }

  __device__ void end_row() {
    put();
    row_ += 32;
    enter_row();
  }

  __device__ void put() {
    put_sums(vectors_, row_, sum_, xy_);
  }

  __device__ bool has_another_segment() const {
    if constexpr (ends == RowEnds::aligned)
      return (left_ > per_segment) | ((left_ > 0) & (row_ != last_));
    else
      return segments_ > 1;
  }

  const DeviceMatrixView<T>& matrix_;
  const ProductVectors<T>& vectors_;
  unsigned below_;  ///< mask of the lanes before this one

  const std::uint32_t* next_;  ///< of the stream, the same in all lanes
  std::uint32_t w_[G.o] = {};
  std::uint32_t d_, r_;
  std::uint32_t code_[G.l];  ///< of the segment's slots; where M = 1 the offsets of their entries
  int4 slot_[whole_slots ? G.l : 1];
  Nonzero<T> nonzeros_[escapes ? per_segment : 1];

  std::uint32_t row_, end_;
  std::uint32_t last_;     ///< aligned: the lane's last row that has entries
  std::int64_t segments_;  ///< crossing: of the lane, to come, this one included
  int left_;               ///< entries of the row to come; 0 when the lane is done
  std::uint32_t column_;
  T sum_[columns];
  double xy_ = 0;
};

}  // namespace tansolve::detail
