// SPDX-License-Identifier: BSD-3-Clause
// How one warp multiplies a slice whose values are fields, and its columns fields or patterns.
//
// Memory bounds it, hence loads of several entries are under way before the first is used, plane by
// plane of the fields, and pass by the L1 cache, which keeps x.
#pragma once

#include <tansolve/kernels/cuda/row_agent.cuh>

#include <cstdint>

namespace tansolve::detail {

/// What fields are: columns, of at most 32 bits; values as they are; indices of values, of at most
/// 16 bits; magnitudes, of one bit besides whole bytes.
enum class FieldKind { column, bits, index, magnitude };

/// The fields of `count` entries of a lane that lie side by side, as they come from their planes.
/// `known`: their bits, or 0 where these are known at run time only.
template <FieldKind kind, class T, int count, int known = 0>
class Fields {
  static constexpr bool has_low = kind != FieldKind::index;
  static constexpr bool has_rest = kind != FieldKind::bits;
  static constexpr bool has_single = kind == FieldKind::magnitude && (known == 0 || known % 2 == 1);
  static constexpr int low_words = kind == FieldKind::bits ? sizeof(T) / 4 : 1;

 public:
  /// `entry`: the first one's number among those of all slices.
  __device__ void load(const DevicePlanes& planes, std::uint32_t entry, std::uint32_t lane) {
    const std::uint64_t number = std::uint64_t{32} * entry + lane * count;
    if constexpr (kind == FieldKind::bits) {
      constexpr int in_one = count == 1 ? 1 : 2;
#pragma unroll
      for (int u = 0; u < count; u += in_one)
        read<sizeof(T) * in_one>(planes.low + (number + u) * sizeof(T), low_ + low_words * u);
    } else {
      const int bits = known != 0 ? known : planes.bits;
      if constexpr (has_low)
        if (bits & 32) read<4 * count>(planes.low + number * 4, low_);
      if (bits & 16) read<2 * count>(planes.middle + number * 2, middle_);
      if (bits & 8) read<count>(planes.high + number, high_);
      if constexpr (has_single)
        if (bits & 1)
#pragma unroll
          for (int u = 0; u < count; ++u) single_[u] = __ldg(planes.single + entry + u);
    }
  }

  /// The low and high words of the fields. Bits are asked for once, not once a field.
  __device__ void join(const DevicePlanes& planes, std::uint32_t lane, std::uint32_t (&low)[count],
                       std::uint32_t (&high)[count]) const {
    if constexpr (kind == FieldKind::bits) {
#pragma unroll
      for (int u = 0; u < count; ++u) {
        low[u] = low_[low_words * u];
        high[u] = low_[low_words * u + low_words - 1];
      }
    } else {
      const int bits = known != 0 ? known : planes.bits;
      join_rest(bits, lane, low);
#pragma unroll
      for (int u = 0; u < count; ++u) high[u] = 0;
      if constexpr (has_low)
        if (bits & 32)
#pragma unroll
          for (int u = 0; u < count; ++u) {
            high[u] = low[u];
            low[u] = low_[u];
          }
    }
  }

 private:
  /// What the planes but the first, of 32 bits, hold.
  __device__ void join_rest(int bits, std::uint32_t lane, std::uint32_t (&rest)[count]) const {
#pragma unroll
    for (int u = 0; u < count; ++u) rest[u] = 0;
    if (bits & 16)
#pragma unroll
      for (int u = 0; u < count; ++u)
        rest[u] = u % 2 == 0 ? middle_[u / 2] & 0xffff : middle_[u / 2] >> 16;
    if (bits & 8) {
      const int at = bits & 16;
#pragma unroll
      for (int u = 0; u < count; ++u) rest[u] |= (high_[0] >> 8 * u & 0xff) << at;
    }
    if constexpr (has_single)
      if (bits & 1) {
        const int at = bits & 24;
#pragma unroll
        for (int u = 0; u < count; ++u) rest[u] |= (single_[u] >> lane & 1) << at;
      }
  }

  /// Fields are read once: they pass by what the L1 cache keeps of x.
  template <int bytes>
  static __device__ void read(const std::byte* from, std::uint32_t* to) {
    if constexpr (bytes == 16) {
      const uint4 words = __ldcs(reinterpret_cast<const uint4*>(from));
      to[0] = words.x, to[1] = words.y, to[2] = words.z, to[3] = words.w;
    } else if constexpr (bytes == 8) {
      const uint2 words = __ldcs(reinterpret_cast<const uint2*>(from));
      to[0] = words.x, to[1] = words.y;
    } else if constexpr (bytes == 4) {
      to[0] = __ldcs(reinterpret_cast<const std::uint32_t*>(from));
    } else if constexpr (bytes == 2) {
      to[0] = __ldcs(reinterpret_cast<const unsigned short*>(from));
    } else {
      to[0] = __ldcs(reinterpret_cast<const unsigned char*>(from));
    }
  }

  std::uint32_t low_[has_low ? low_words * count : 1];
  std::uint32_t middle_[has_rest ? (count + 1) / 2 : 1];
  std::uint32_t high_[1];
  std::uint32_t single_[has_single ? count : 1];
};

/// `shapes`: columns come from patterns. `known`: as in Fields, of values.
template <class T, bool shapes, FieldKind kind, int known, bool shared, int columns = 1>
class FieldAgent : public RowAgent<T, shared, columns> {
  using Base = RowAgent<T, shared, columns>;
  using Base::lane_;
  using Base::matrix_;
  using Base::vectors_;

 public:
  using Base::Base;
  static constexpr int threads = shapes || columns > 1 ? 512 : packed_threads;
  static constexpr bool ahead = shapes;  ///< without patterns registers are short

  static __device__ std::uint32_t groups(const ArrayMatrixView<T>& matrix) {
    return matrix.positions;
  }

  __device__ void prepare(std::uint32_t slice) {
    if constexpr (ahead) load_slice(slice);
  }

  __device__ void load_slice(std::uint32_t slice) {
    slice = min(slice, matrix_.slices - 1);
    begin_ = matrix_.slice_offsets[slice];
    end_ = matrix_.slice_offsets[slice + 1];
    this->template load_numbers<1, 32>(32 * slice + lane_, matrix_.coded_rows - 1, number_);
  }

  __device__ void run(std::uint32_t slice, std::uint32_t next) {
    if constexpr (!shapes) {
      if (matrix_.schedule != nullptr) slice = matrix_.schedule[slice];
      if (slice >= matrix_.slices) return;
    }
    if constexpr (!ahead) load_slice(slice);
    const std::uint32_t first = begin_;
    const std::uint32_t width = end_ - begin_;
    enter(slice);
    if constexpr (ahead) load_slice(next);
    // The last entries are asked for first: most rows of a stencil have few others.
    const std::uint32_t fours = width & ~3u;
    Entries<2> two;
    Entries<1> one;
    if (width & 2) two.load(matrix_, first + fours, lane_);
    if (width & 1) one.load(matrix_, first + (width & ~1u), lane_);
    Entries<4> four, more;
    if (fours > 0) four.load(matrix_, first, lane_);
    for (std::uint32_t k = 0; k < fours; k += 4) {
      if (k + 4 < fours) more.load(matrix_, first + k + 4, lane_);
      add(four, k, first + k);
      four = more;
    }
    if (width & 2) add(two, fours, first + fours);
    if (width & 1) add(one, width & ~1u, first + (width & ~1u));
    if (32 * slice + lane_ >= matrix_.coded_rows) return;
    if (to_ < matrix_.rows) return put_sums(vectors_, to_, sum_, this->xy_);
#pragma unroll
    for (int c = 0; c < columns; ++c)
      if (columns == 1 || c < vectors_.columns)
        matrix_.pieces[c * matrix_.piece_count + (to_ - matrix_.rows)] = sum_[c];
  }

 private:
  template <int count>
  struct Entries {
    Fields<FieldKind::column, T, count> places;
    Fields<kind, T, count, known> values;
    __device__ void load(const ArrayMatrixView<T>& matrix, std::uint32_t entry,
                         std::uint32_t lane) {
      if constexpr (!shapes) places.load(matrix.columns, entry, lane);
      values.load(matrix.values, entry, lane);
    }
  };

  __device__ void enter(std::uint32_t slice) {
    const std::uint32_t coded = 32 * slice + lane_;
    const bool there = coded < matrix_.coded_rows;
    to_ = coded;
#pragma unroll
    for (int c = 0; c < columns; ++c) sum_[c] = 0;
    if constexpr (shapes) {
      const int4 info =
          *reinterpret_cast<const int4*>(this->template table<PatternInfo>(0) + number_[0]);
      pattern_ = this->template table<ShapeEntry>(matrix_.entries_at) + info.x;
      length_ = there ? info.y : 0;
      this->point(to_, x_);
    } else {
      if (matrix_.order != nullptr && there) to_ = matrix_.order[coded];
      length_ = there ? number_[0] : 0;
      origin_ = matrix_.first_column + (matrix_.relative ? to_ : 0);
      this->point(0, x_);
    }
  }

  /// Adds the products of entries k, ..., of the row, the first of which is `entry` of all slices.
  template <int count>
  __device__ void add(const Entries<count>& of, std::uint32_t k, std::uint32_t entry) {
    T read[count], value[count];
    std::uint32_t low[count], high[count];
    if constexpr (shapes) {
#pragma unroll
      for (int u = 0; u < count; ++u) {
        low[u] = high[u] = 0;
        if (k + u < length_) {
          const int2 both = *reinterpret_cast<const int2*>(pattern_ + k + u);
          low[u] = static_cast<std::uint32_t>(both.x);
          high[u] = static_cast<std::uint32_t>(both.y);
        }
      }
    } else {
      of.places.join(matrix_.columns, lane_, low, high);
#pragma unroll
      for (int u = 0; u < count; ++u) high[u] = 0;
    }
    if constexpr (columns == 1) gather(low, k, 0, read);
    values(of.values, high, k, entry, value);
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      if constexpr (columns > 1) gather(low, k, c, read);
#pragma unroll
      for (int u = 0; u < count; ++u)
        if (k + u < length_) sum_[c] += value[u] * read[u];
    }
  }

  /// read_u = the elements of a column of x that entries k, ... of the row multiply.
  template <int count>
  __device__ void gather(const std::uint32_t (&at)[count], std::uint32_t k, int column,
                         T (&read)[count]) const {
#pragma unroll
    for (int u = 0; u < count; ++u) {
      read[u] = 0;
      if (k + u >= length_) continue;
      if constexpr (shapes)
        read[u] = __ldg(x_[column] + static_cast<std::int32_t>(at[u]));
      else
        read[u] = __ldg(x_[column] + (origin_ + at[u]));
    }
  }

  static __device__ T of_bits(std::uint32_t low, std::uint32_t high) {
    if constexpr (sizeof(T) == 8)
      return __hiloint2double(static_cast<int>(high), static_cast<int>(low));
    else
      return __uint_as_float(low);
  }

  /// ValueFormat::value of fields, and exceptions where they stand for one. `sign`: in the top
  /// bits, where fields have none.
  template <int count>
  __device__ void values(const Fields<kind, T, count, known>& fields,
                         const std::uint32_t (&sign)[count], std::uint32_t k, std::uint32_t entry,
                         T (&value)[count]) const {
    std::uint32_t low[count], high[count];
    const int bits = known != 0 ? known : matrix_.values.bits;
    fields.join(matrix_.values, lane_, low, high);
    if constexpr (kind == FieldKind::bits) {
#pragma unroll
      for (int u = 0; u < count; ++u) value[u] = of_bits(low[u], high[u]);
    } else if constexpr (kind == FieldKind::index) {
      const T* dictionary = this->template table<T>(matrix_.dictionary_at);
#pragma unroll
      for (int u = 0; u < count; ++u) value[u] = dictionary[low[u]];
    } else {
      std::uint32_t top[count];
      unsigned marked = 0;
      if (matrix_.exceptions != 0) {
        const std::uint64_t marker = ~std::uint64_t{0} >> (64 - bits);
#pragma unroll
        for (int u = 0; u < count; ++u)
          if (k + u < length_ && (std::uint64_t{high[u]} << 32 | low[u]) == marker)
            marked |= 1u << u;
      }
#pragma unroll
      for (int u = 0; u < count; ++u) top[u] = sign[u];
      if (matrix_.sign) {
        const bool of_high = bits > 32;
        const int at = (bits - 1) & 31;
#pragma unroll
        for (int u = 0; u < count; ++u) {
          top[u] = (of_high ? high[u] : low[u]) >> at << 31;
          high[u] &= of_high ? ~(1u << at) : ~0u;
          low[u] &= of_high ? ~0u : ~(1u << at);
        }
      }
      if (matrix_.shift != 0)
#pragma unroll
        for (int u = 0; u < count; ++u) {
          const std::uint64_t field = (std::uint64_t{high[u]} << 32 | low[u]) << matrix_.shift;
          low[u] = static_cast<std::uint32_t>(field);
          high[u] = static_cast<std::uint32_t>(field >> 32);
        }
#pragma unroll
      for (int u = 0; u < count; ++u) {
        const std::uint64_t magnitude = (std::uint64_t{high[u]} << 32 | low[u]) + matrix_.least;
        const auto below = static_cast<std::uint32_t>(magnitude);
        const auto above = static_cast<std::uint32_t>(magnitude >> 32);
        value[u] = sizeof(T) == 8 ? of_bits(below, (above & 0x7fffffff) | top[u])
                                  : of_bits((below & 0x7fffffff) | top[u], 0);
      }
      if (marked != 0)
#pragma unroll
        for (int u = 0; u < count; ++u)
          if (marked >> u & 1) value[u] = exception(std::uint64_t{32} * (entry + u) + lane_);
    }
  }

  /// By bisection among the places, which hold this one.
  __device__ T exception(std::uint64_t place) const {
    std::uint32_t first = 0, last = matrix_.exceptions - 1;
    while (first < last) {
      const std::uint32_t middle = (first + last) / 2;
      if (matrix_.exception_places[middle] < place)
        first = middle + 1;
      else
        last = middle;
    }
    return matrix_.exception_values[first];
  }

  std::uint32_t begin_, end_, number_[1];  ///< of the slice to come
  std::uint32_t to_ = 0, length_ = 0;
  const ShapeEntry* pattern_ = nullptr;
  std::uint32_t origin_ = 0;  ///< column of the field 0
  const T* x_[columns];       ///< where columns are counted from
  T sum_[columns];
};

}  // namespace tansolve::detail
