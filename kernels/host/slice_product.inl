// SPDX-License-Identifier: BSD-3-Clause
// The product of one slice: decode and multiply. Included once for every ISA that Highway enables.
//
// A slice is worked off in stretches of a few segments, each in two passes:
//
// 1. Recover: the lanes in lock step. The words of a segment come from the stream or, where a check
//    extracted them, from the digits. Then the digits are taken out of the words: a slot becomes
//    the first slot of its symbol, so that from here on equal symbols are equal words.
// 2. Multiply: eight lanes at a time. Where they are in step (consecutive rows, the same length,
//    the same symbols), which stencils and bands are nearly everywhere, a symbol is looked up once
//    for all eight and x is read in contiguous vectors. Elsewhere each lane goes its own way
//    through the stretch.
//
// Over 400 lines because both passes share the state of the lanes and each ISA compiles them as
// one.
#include <hwy/highway.h>

#include <tansolve/kernels/host/fused_product.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tansolve::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lanes that go in step; a whole number of vectors on every ISA.
constexpr int group = 8;
constexpr int groups = warp_size / group;
/// Segments a stretch: its words stay in the L1 cache, and lanes change rarely.
constexpr int stretch = 16;

template <class T, Geometry G, int tables, bool escapes>
class SliceProduct {
  static constexpr unsigned per_segment = G.l / tables;  ///< nonzeros
  using D = hn::CappedTag<T, group>;

 public:
  explicit SliceProduct(const FusedProduct<T>& product)
      : product_(product),
        matrix_(*product.matrix),
        lengths_(matrix_.parts().row_lengths),
        tables_(*product.tables),
        aligned_(matrix_.plan().row_ends == RowEnds::aligned) {}

  HWY_ATTR void run(std::int64_t slice) {
    next_word_ = matrix_.slice_words(slice).data();
    const std::int64_t longest = count_segments(slice);
    for (int c = 0; c < product_.columns; ++c) {
      column_ = c;
      for (int j = 0; j < warp_size; ++j) {
        Lane& lane = lanes_[j];
        lane.row = slice * matrix_.plan().rows_per_slice() + j;
        lane.rows_left = matrix_.plan().rows_per_lane;
        enter_row(lane);
        sums_[c][j] = 0;
      }
    }
    for (int j = 0; j < warp_size; ++j) {
      d_[j] = 0;
      r_[j] = 1;
    }
    next_end_ = 0;
    for (auto& needed : needed_) needed = lanes_beyond(0);
    for (std::int64_t first = 0; first < longest; first += stretch) {
      const int count = static_cast<int>(std::min<std::int64_t>(stretch, longest - first));
      recover(first, count);
      multiply_columns(first);
    }
  }

 private:
  struct Lane {
    std::int64_t row;
    int rows_left;       ///< this one included
    std::uint32_t left;  ///< entries of the row to come; 0 when the lane is done
    std::uint32_t column;
    T sum;
  };

  // ---- Pass 1: recover ----

  HWY_ATTR HWY_INLINE void recover(std::int64_t first, int count) {
    if constexpr (escapes) raw_count_.fill(0);
    for (int t = 0; t < count; ++t) {
      auto& words = stretch_[t];
      for (int c = 0; c < G.o; ++c) {
        if (needed_[c] == ~0u) {
          std::memcpy(words[c], next_word_, sizeof words[c]);
          next_word_ += warp_size;
          continue;
        }
        if (c < G.f) std::memcpy(words[c], extracted_[c], sizeof words[c]);
        for (std::uint32_t lanes = needed_[c]; lanes != 0; lanes &= lanes - 1)
          words[c][std::countr_zero(lanes)] = *next_word_++;
      }
      const std::uint32_t active = active_, more = lanes_beyond(first + t + 1);
      if constexpr (escapes) find_escapes(t, active);
      for (int c = 0; c < G.o; ++c) needed_[c] = more;
      if constexpr (G.f > 0) {
        for (std::uint32_t lanes = active; lanes != 0; lanes &= lanes - 1)
          take_digits(words, std::countr_zero(lanes));
      }
    }
  }

  /// CompressedMatrix::lane_segments with constant divisors; returns the longest lane's.
  std::int64_t count_segments(std::int64_t slice) {
    constexpr std::uint64_t l = G.l;
    const std::int64_t base = slice * matrix_.plan().rows_per_slice();
    std::uint64_t longest = 0;
    for (int j = 0; j < warp_size; ++j) {
      std::uint64_t symbols = 0;
      std::int64_t row = base + j;
      for (int i = 0; i < matrix_.plan().rows_per_lane && row < matrix_.rows(); ++i) {
        symbols += std::uint64_t{lengths_[row]} * tables;
        if (aligned_) symbols = (symbols + l - 1) / l * l;
        row += warp_size;
      }
      const std::uint64_t segments = (symbols + l - 1) / l;
      segments_[j] = static_cast<std::int64_t>(segments);
      longest = std::max(longest, segments);
    }
    return static_cast<std::int64_t>(longest);
  }

  /// The lanes that have this segment, to be asked for one segment after the other.
  std::uint32_t lanes_beyond(std::int64_t segment) {
    if (segment < next_end_) return active_;
    std::uint32_t active = 0;
    std::int64_t next_end = std::numeric_limits<std::int64_t>::max();
    for (int j = 0; j < warp_size; ++j) {
      const bool has_segment = segments_[j] > segment;
      active |= static_cast<std::uint32_t>(has_segment) << j;
      next_end = has_segment ? std::min(next_end, segments_[j]) : next_end;
    }
    active_ = active;
    next_end_ = next_end;
    return active;
  }

  /// Field i of the segment of lane j.
  static HWY_INLINE std::uint32_t slot(const std::uint32_t (*words)[warp_size], int j, unsigned i) {
    constexpr std::uint32_t mask = (1u << G.k) - 1;
    const unsigned word = G.k * i / 32, shift = G.k * i % 32;
    std::uint32_t bits = words[word][j] >> shift;
    if (shift + G.k > 32) bits |= words[word + 1][j] << (32 - shift);
    return bits & mask;
  }

  /// Runs (d, r) of lane j through a segment: the words it extracts for the next one, and this
  /// one's slots less their digits.
  HWY_ATTR HWY_INLINE void take_digits(std::uint32_t (*words)[warp_size], int j) {
    std::uint64_t d = d_[j], r = r_[j];
    std::uint32_t first_slots[G.o] = {};
    Run runs[G.f];
    if constexpr (G == byte_geometry)
      runs[0] = take_byte_pairs(words, j, first_slots);
    else
      take_slots(words, j, runs, first_slots);
    for (int c = 0; c < G.f; ++c) {
      d = d * runs[c].base + runs[c].digits;
      r *= runs[c].base;
      extracted_[c][j] = static_cast<std::uint32_t>(d);
      const bool extracts = r >> 32 != 0;
      d = extracts ? d >> 32 : d;
      r = extracts ? r >> 32 : r;
      needed_[c] &= ~(static_cast<std::uint32_t>(extracts) << j);
    }
    d_[j] = static_cast<std::uint32_t>(d);
    r_[j] = static_cast<std::uint32_t>(r);
    for (int c = 0; c < G.o; ++c) words[c][j] = first_slots[c];
  }

  /// The product of the bases of a run and its digits as one number below it.
  struct Run {
    std::uint64_t base = 1;
    std::uint64_t digits = 0;
  };

  HWY_ATTR HWY_INLINE void take_slots(const std::uint32_t (*words)[warp_size], int j, Run* runs,
                                      std::uint32_t* first_slots) const {
    HWY_UNROLL(8)
    for (int i = 0; i < G.l; ++i) {
      const std::uint32_t s = slot(words, j, i);
      const std::uint32_t code = tables_.codes[i % tables][s];
      Run& run = runs[i / G.run()];
      run.base *= code >> 16;
      run.digits = run.digits * (code >> 16) + (code & 0xffff);
      const std::uint32_t first = s - (code & 0xffff);
      const int word = G.k * i / 32, shift = G.k * i % 32;
      first_slots[word] |= first << shift;
      if (shift + G.k > 32) first_slots[word + 1] |= first >> (32 - shift);
    }
  }

  /// The same where slots are bytes, by two of them at once.
  HWY_ATTR HWY_INLINE Run take_byte_pairs(const std::uint32_t (*words)[warp_size], int j,
                                          std::uint32_t* first_slots) const {
    const std::uint32_t* codes = tables_.pair_codes.data();
    std::uint32_t run_base = 1, run_digits = 0;
    for (int c = 0; c < 2; ++c) {
      const std::uint32_t word = words[c][j];
      const std::uint32_t low = codes[word & 0xffff], high = codes[word >> 16];
      run_digits = run_digits * (low >> 24) + (low >> 16 & 0xff);
      run_digits = run_digits * (high >> 24) + (high >> 16 & 0xff);
      run_base *= (low >> 24) * (high >> 24);
      first_slots[c] = word - (high << 16 | (low & 0xffff));
    }
    return {run_base, run_digits};
  }

  // ---- Escapes ----

  HWY_ATTR HWY_INLINE void find_escapes(int t, std::uint32_t active) {
    escaping_[t] = 0;
    for (int i = 0; i < G.l; ++i) {
      const std::uint32_t escape = tables_.escape[i % tables];
      if (escape == CodingTable::no_escape) continue;
      for (std::uint32_t lanes = active; lanes != 0; lanes &= lanes - 1) {
        const int j = std::countr_zero(lanes);
        const std::uint32_t s = slot(stretch_[t], j, i);
        if (s - (tables_.codes[i % tables][s] & 0xffff) != escape) continue;
        escaping_[t] |= 1u << j;
        raw_[j][raw_count_[j]++] = next_word_;
        next_word_ += matrix_.parts().tables[i % tables].code.raw_words;
      }
    }
  }

  static T raw_value(const std::uint32_t* words) {
    T value;
    std::memcpy(&value, words, sizeof value);
    return value;
  }

  // ---- Pass 2: multiply ----

  /// Every column takes the same way through the stretch, with sums of its own.
  HWY_ATTR HWY_INLINE void multiply_columns(std::int64_t first) {
    if (product_.columns == 1) {
      for (int g = 0; g < groups; ++g) multiply(first, g);
      return;
    }
    const std::array<Lane, warp_size> begin = lanes_;
    for (int c = 0; c < product_.columns; ++c) {
      column_ = c;
      lanes_ = begin;
      for (int j = 0; j < warp_size; ++j) lanes_[j].sum = sums_[c][j];
      for (int g = 0; g < groups; ++g) multiply(first, g);
      for (int j = 0; j < warp_size; ++j) sums_[c][j] = lanes_[j].sum;
    }
  }

  /// The lanes of group g through the stretch; positions count nonzeros from its start.
  HWY_ATTR HWY_INLINE void multiply(std::int64_t first, int g) {
    unsigned position[group], end[group];
    for (int j = 0; j < group; ++j) {
      const std::int64_t count = segments_[g * group + j] - first;
      position[j] = 0;
      end[j] = static_cast<unsigned>(std::clamp<std::int64_t>(count, 0, stretch)) * per_segment;
      if constexpr (escapes) raw_taken_[j] = 0;
    }
    Lane* lanes = &lanes_[g * group];
    while (can_step(lanes, position, end)) {
      const unsigned piece = std::min(lanes[0].left, end[0] - position[0]);
      const unsigned done = step(g, lanes, position[0], piece);
      for (int j = 0; j < group; ++j) position[j] += done;
      if (done < piece) {  // the symbols differ: each on its own to the end of the piece
        for (int j = 0; j < group; ++j)
          position[j] = walk(g * group + j, position[j], position[j] + piece - done);
      } else {
        for (int j = 0; j < group; ++j) position[j] = end_piece(lanes[j], position[j]);
      }
    }
    for (int j = 0; j < group; ++j) walk(g * group + j, position[j], end[j]);
  }

  /// Whether the lanes of a group stand at the same place of like, consecutive rows.
  HWY_ATTR HWY_INLINE bool can_step(const Lane* lanes, const unsigned* position,
                                    const unsigned* end) const {
    bool same = lanes[0].left > 0 && position[0] < end[0];
    for (int j = 1; j < group; ++j)
      same = same && position[j] == position[0] && end[j] == end[0] &&
             lanes[j].left == lanes[0].left && lanes[j].row == lanes[0].row + j &&
             lanes[j].column == lanes[0].column + j;
    return same;
  }

  /// Whether the symbols of segment t are those of lane j0 in all lanes of its group.
  HWY_ATTR HWY_INLINE bool same_symbols(unsigned t, int j0) const {
    const hn::CappedTag<std::uint32_t, group> du;
    if (escapes && (escaping_[t] >> j0 & 0xff) != 0) return false;
    bool same = true;
    for (int c = 0; c < G.o; ++c) {
      const std::uint32_t* words = stretch_[t][c] + j0;
      const auto first = hn::Set(du, words[0]);
      for (std::size_t v = 0; v < group; v += hn::Lanes(du))
        same = same && hn::AllTrue(du, hn::Eq(hn::LoadU(du, words + v), first));
    }
    return same;
  }

  /// `count` nonzeros from `position` on for all lanes of a group together; returns how many were
  /// done before a segment's symbols differ.
  HWY_ATTR HWY_INLINE unsigned step(int g, Lane* lanes, unsigned position, unsigned count) {
    const D dx;
    constexpr std::size_t width = hn::MaxLanes(D());
    alignas(64) T sums[group];
    for (int j = 0; j < group; ++j) sums[j] = lanes[j].sum;
    hn::Vec<D> sum[group / width];
    for (std::size_t v = 0; v < group / width; ++v) sum[v] = hn::Load(dx, sums + v * width);

    const T* x = product_.column_of_x(column_);
    std::uint32_t column = lanes[0].column;
    const auto multiply_entry = [&](unsigned t, unsigned i) HWY_ATTR {
      const auto [value, delta] = look_up(t, g * group, i);
      column += delta;
      const auto a = hn::Set(dx, value);
      for (std::size_t v = 0; v < group / width; ++v)
        sum[v] = hn::Add(sum[v], hn::Mul(a, hn::LoadU(dx, x + column + v * width)));
    };
    const unsigned end = position + count;
    unsigned t = position / per_segment, i = position % per_segment;
    for (unsigned at = position; at < end; ++t, i = 0) {
      if (!same_symbols(t, g * group)) {
        count = at - position;
        break;
      }
      if (i == 0 && end - at >= per_segment) {
        for (; i < per_segment; ++i) multiply_entry(t, i);
        at += per_segment;
      } else {
        for (; i < per_segment && at < end; ++i, ++at) multiply_entry(t, i);
      }
    }

    for (std::size_t v = 0; v < group / width; ++v) hn::Store(sum[v], dx, sums + v * width);
    for (int j = 0; j < group; ++j) {
      lanes[j].sum = sums[j];
      lanes[j].column = column + j;
      lanes[j].left -= count;
    }
    return count;
  }

  using Pair = typename SlotTables<T>::Pair;

  /// Nonzero i of segment t of lane j, by its symbols.
  HWY_ATTR HWY_INLINE Pair look_up(unsigned t, int j, unsigned i) const {
    if constexpr (tables == 1) {
      return tables_.pairs[slot(stretch_[t], j, i)];
    } else {
      return {tables_.values[slot(stretch_[t], j, 2 * i + 1)],
              tables_.deltas[slot(stretch_[t], j, 2 * i)]};
    }
  }

  /// The same where symbols may escape.
  HWY_ATTR HWY_INLINE Pair look_up_raw(unsigned t, int j, unsigned i) {
    const auto& raw = raw_[j];
    int& taken = raw_taken_[j % group];
    if constexpr (tables == 1) {
      if (slot(stretch_[t], j, i) != tables_.escape[0]) return look_up(t, j, i);
      const std::uint32_t* words = raw[taken++];
      return {raw_value(words + 1), words[0]};
    } else {
      Pair pair = look_up(t, j, i);
      if (slot(stretch_[t], j, 2 * i) == tables_.escape[0]) pair.delta = *raw[taken++];
      if (slot(stretch_[t], j, 2 * i + 1) == tables_.escape[1])
        pair.value = raw_value(raw[taken++]);
      return pair;
    }
  }

  /// Lane j alone from `position` to `end`, through as many rows as end there; returns where it
  /// stands, which is past `end` where the padding of a row is.
  HWY_ATTR HWY_NOINLINE unsigned walk(int j, unsigned position, unsigned end) {
    Lane& lane = lanes_[j];
    const T* x = product_.column_of_x(column_);
    while (position < end && lane.left > 0) {
      const unsigned count = std::min(lane.left, end - position), piece_end = position + count;
      T sum = lane.sum;
      std::uint32_t column = lane.column;
      const auto multiply_entry = [&](unsigned t, unsigned i) HWY_ATTR {
        const auto [value, delta] = escapes ? look_up_raw(t, j, i) : look_up(t, j, i);
        column += delta;
        sum += value * x[column];
      };
      unsigned t = position / per_segment, i = position % per_segment;
      for (; position < piece_end; ++t, i = 0) {
        if (i == 0 && piece_end - position >= per_segment) {
          for (; i < per_segment; ++i) multiply_entry(t, i);
          position += per_segment;
        } else {
          for (; i < per_segment && position < piece_end; ++i, ++position) multiply_entry(t, i);
        }
      }
      lane.left -= count;
      lane.sum = sum;
      lane.column = column;
      position = end_piece(lane, position);
    }
    return position;
  }

  /// Where the row is complete, writes it and enters the next, whose position is returned.
  HWY_ATTR HWY_INLINE unsigned end_piece(Lane& lane, unsigned position) {
    if (lane.left > 0) return position;
    put(lane.row, lane.sum);
    lane.row += warp_size;
    --lane.rows_left;
    enter_row(lane);
    return aligned_ ? (position + per_segment - 1) / per_segment * per_segment : position;
  }

  /// Moves on to the lane's next row that has entries, past empty ones.
  HWY_ATTR HWY_INLINE void enter_row(Lane& lane) {
    lane.left = 0;
    lane.sum = 0;
    for (; lane.rows_left > 0 && lane.row < matrix_.rows();
         lane.row += warp_size, --lane.rows_left) {
      lane.left = lengths_[lane.row];
      if (lane.left > 0) break;
      put(lane.row, 0);
    }
    lane.column = static_cast<std::uint32_t>(lane.row);
  }

  HWY_ATTR HWY_INLINE void put(std::int64_t row, T sum) const {
    T& y = product_.column_of_y(column_)[row];
    y = product_.beta == 0 ? product_.alpha * sum : product_.alpha * sum + product_.beta * y;
  }

  const FusedProduct<T>& product_;
  const CompressedMatrix<T>& matrix_;
  const RowNumbers& lengths_;
  const SlotTables<T>& tables_;
  const bool aligned_;

  const std::uint32_t* next_word_ = nullptr;
  std::array<std::int64_t, warp_size> segments_{};
  std::array<Lane, warp_size> lanes_{};
  int column_ = 0;                               ///< of the block, whose sums the lanes have
  T sums_[FusedProduct<T>::most_columns][warp_size]{};  ///< of each column, where they are several
  std::uint32_t d_[warp_size]{};
  std::uint32_t r_[warp_size]{};
  std::uint32_t active_ = 0;                 ///< lanes that have the segment at hand
  std::int64_t next_end_ = 0;                ///< the first segment that not all of them have
  std::array<std::uint32_t, G.o> needed_{};  ///< by word: lanes that take it from the stream
  alignas(64) std::uint32_t extracted_[G.o][warp_size]{};
  alignas(64) std::uint32_t stretch_[stretch][G.o][warp_size]{};

  std::array<std::uint32_t, stretch> escaping_{};  ///< by segment: lanes with an escape
  std::array<int, warp_size> raw_count_{};
  std::array<int, group> raw_taken_{};
  std::array<std::array<const std::uint32_t*, escapes ? stretch * G.l : 0>, warp_size> raw_{};
};

template <class T, Geometry G, int tables, bool escapes>
HWY_ATTR void fused_slices(const FusedProduct<T>& product) {
  SliceProduct<T, G, tables, escapes> slices(product);
  for (std::int64_t s = product.begin; s < product.end; ++s) slices.run(s);
}

}  // namespace tansolve::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
