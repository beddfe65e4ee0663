// SPDX-License-Identifier: BSD-3-Clause
// How one warp multiplies 32 rows, or a few times as many, of a matrix without streams.
//
// PatternAgent: a row is the number of its pattern. A lane takes several rows, as a rule of the
// same base pattern: each entry is then looked up once for all of them. Where 32 lanes have the
// same base, too, a look-up is one access for the whole warp. What remains is to read x: these
// loads bound the kernel.
//
// FieldAgent: columns come from a pattern or a field, values from a field. Memory bounds it, hence
// loads of several entries are under way before the first is used, plane by plane of the fields,
// and pass by the L1 cache, which keeps x.
#pragma once

#include <tansolve/kernels/cuda/array_matrix.hpp>

#include <cstdint>

namespace tansolve::detail {

/// y = alpha A x + beta y and, unless it is null, xy = x'y.
template <class T>
struct ArrayArguments {
  ArrayMatrixView<T> matrix;
  const T* __restrict__ x;
  T* __restrict__ y;
  T alpha;
  T beta;
  T* xy;
  bool plain;  ///< alpha = 1, beta = 0, no xy
};

/// The tables, in shared memory.
extern __shared__ __align__(16) std::byte shared_tables[];

// Threads of a block: neighbouring rows share what they read of x in the L1 cache, the more the
// larger the block; the sizes are the best of 256 to 1024 on an H200.

/// What both agents do with rows.
template <class T, bool shared>
class RowAgent {
 public:
  explicit __device__ RowAgent(const ArrayArguments<T>& arguments)
      : matrix_(arguments.matrix), arguments_(arguments), lane_(threadIdx.x % 32) {}

  /// Asks for what comes first of a group, where that pays, so that it is there in its turn.
  __device__ void prepare(std::uint32_t) {}

  __device__ double xy() const { return xy_; }

 protected:
  static constexpr unsigned all = 0xffffffff;

  template <class E>
  __device__ const E* table(int at) const {
    return reinterpret_cast<const E*>((shared ? shared_tables : matrix_.tables) + at);
  }

  /// The numbers of rows row, row + stride, ..., of those beyond the last that of the last.
  template <int count, int stride>
  __device__ void load_numbers(std::uint32_t row, std::uint32_t last,
                               std::uint32_t (&numbers)[count]) const {
    const auto load = [&](const auto* from) {
#pragma unroll
      for (int t = 0; t < count; ++t) numbers[t] = __ldg(from + min(row + t * stride, last));
    };
    switch (matrix_.number_width) {
      case 0:
#pragma unroll
        for (int t = 0; t < count; ++t) numbers[t] = matrix_.constant_number;
        return;
      case 1:
        return load(matrix_.numbers);
      case 2:
        return load(reinterpret_cast<const unsigned short*>(matrix_.numbers));
      default:
        return load(reinterpret_cast<const std::uint32_t*>(matrix_.numbers));
    }
  }

  __device__ void put(std::uint32_t row, T sum) {
    T* y = arguments_.y + row;
    if (arguments_.plain) {
      *y = sum;
      return;
    }
    const T scaled = arguments_.alpha * sum;
    const T result = arguments_.beta == 0 ? scaled : scaled + arguments_.beta * *y;
    *y = result;
    if (arguments_.xy != nullptr)
      xy_ += static_cast<double>(arguments_.x[row]) * static_cast<double>(result);
  }

  const ArrayMatrixView<T>& matrix_;
  const ArrayArguments<T>& arguments_;
  const std::uint32_t lane_;
  double xy_ = 0;
};

/// Rows a lane, `stride` apart. `finite`: no value is infinite or NaN.
template <class T, int rows, int stride, bool finite, bool shared>
class PatternAgent : public RowAgent<T, shared> {
  using Base = RowAgent<T, shared>;
  using Base::all;
  using Base::lane_;
  using Base::matrix_;
  static constexpr int unroll = rows == 1 ? 8 : rows == 2 ? 4 : 2;
  static constexpr int groups_side_by_side = stride / 32;

 public:
  using Base::Base;
  static constexpr int threads = 512;

  /// Groups come in sets that cover neighbouring rows.
  static __device__ std::uint32_t groups(const ArrayMatrixView<T>& matrix) {
    constexpr std::uint32_t of_set = 32 * rows * groups_side_by_side;
    return (matrix.rows + of_set - 1) / of_set * groups_side_by_side;
  }

  __device__ void run(std::uint32_t group, std::uint32_t) {
    const std::uint32_t first_row =
        group / groups_side_by_side * (32 * rows * groups_side_by_side) +
        group % groups_side_by_side * 32 + lane_;
    std::uint32_t numbers[rows];
    this->template load_numbers<rows, stride>(first_row, matrix_.rows - 1, numbers);
    const auto* patterns = this->template table<PatternInfo>(0);
    Row of[rows];
    bool same = true;
#pragma unroll
    for (int t = 0; t < rows; ++t) {
      const int4 info = *reinterpret_cast<const int4*>(patterns + numbers[t]);
      const bool there = first_row + t * stride < matrix_.rows;
      of[t] = {static_cast<std::uint32_t>(info.x), static_cast<std::uint32_t>(info.y),
               there ? static_cast<std::uint32_t>(info.z) : 0, static_cast<std::uint32_t>(info.w)};
      same = same && of[t].first == of[0].first;
    }
    const T* x = Base::arguments_.x + first_row;
    asm("" : "+l"(x));  // else its sum with offsets is taken apart, and costs five instructions
    T sums[rows] = {};
    if (rows == 1 || __all_sync(all, same)) {
      add<rows>(of, first_row, x, sums);
    } else {
#pragma unroll
      for (int t = 0; t < rows; ++t)
        add<1>(of + t, first_row + t * stride, x + t * stride, sums + t);
    }
#pragma unroll
    for (int t = 0; t < rows; ++t)
      if (first_row + t * stride < matrix_.rows) this->put(first_row + t * stride, sums[t]);
  }

 private:
  struct Row {
    std::uint32_t first, length, mask, masks;
  };

  struct Entry {
    T value;
    std::int32_t offset;
  };
  static __device__ Entry entry(const PatternEntry<T>* from) {
    if constexpr (sizeof(T) == 8) {
      const int4 both = *reinterpret_cast<const int4*>(from);
      return {__hiloint2double(both.y, both.x), both.z};
    } else {
      const int2 both = *reinterpret_cast<const int2*>(from);
      return {__int_as_float(both.x), both.y};
    }
  }

  /// Adds the products of `count` rows of the same base.
  template <int count>
  __device__ void add(const Row* of, std::uint32_t row, const T* x, T* sums) const {
    const PatternEntry<T>* entries =
        this->template table<PatternEntry<T>>(matrix_.entries_at) + of[0].first;
    const std::uint32_t longest = __reduce_max_sync(all, of[0].length);
    std::uint32_t mask[count];
#pragma unroll
    for (int t = 0; t < count; ++t) mask[t] = of[t].mask;
    for (std::uint32_t k = 0;;) {
      const std::uint32_t end = min(longest, k + 32);
      for (; k < end; k += unroll, entries += unroll) {
        T value[unroll], read[unroll][count];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
          const Entry entry = this->entry(entries + u);
          value[u] = entry.value;
#pragma unroll
          for (int t = 0; t < count; ++t) {
            read[u][t] = 0;
            if (mask[t] >> u & 1) read[u][t] = __ldg(x + entry.offset + t * stride);
          }
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u)
#pragma unroll
          for (int t = 0; t < count; ++t)
            if (finite || (mask[t] >> u & 1)) sums[t] += value[u] * read[u][t];
#pragma unroll
        for (int t = 0; t < count; ++t) mask[t] >>= unroll;
      }
      if (k >= longest) return;
      const auto* masks = this->template table<std::uint32_t>(matrix_.masks_at);
#pragma unroll
      for (int t = 0; t < count; ++t)
        mask[t] =
            k < of[t].length && row + t * stride < matrix_.rows ? masks[of[t].masks + k / 32] : 0;
    }
  }
};

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
      return;
    }
    const int bits = known != 0 ? known : planes.bits;
    if (has_low && (bits & 32)) read<4 * count>(planes.low + number * 4, low_);
    if (bits & 16) read<2 * count>(planes.middle + number * 2, middle_);
    if (bits & 8) read<count>(planes.high + number, high_);
    if (has_single && (bits & 1))
#pragma unroll
      for (int u = 0; u < count; ++u) single_[u] = __ldg(planes.single + entry + u);
  }

  /// The low and high words of the fields. Bits are asked for once, not once a field.
  __device__ void join(const DevicePlanes& planes, std::uint32_t lane, std::uint32_t (&low)[count],
                       std::uint32_t (&high)[count]) const {
    const int bits = known != 0 ? known : planes.bits;
    if constexpr (kind == FieldKind::bits) {
#pragma unroll
      for (int u = 0; u < count; ++u) {
        low[u] = low_[low_words * u];
        high[u] = low_[low_words * u + low_words - 1];
      }
      return;
    }
#pragma unroll
    for (int u = 0; u < count; ++u) high[u] = 0;
    if (bits & 16)
#pragma unroll
      for (int u = 0; u < count; ++u)
        high[u] = u % 2 == 0 ? middle_[u / 2] & 0xffff : middle_[u / 2] >> 16;
    if (bits & 8) {
      const int at = bits & 16;
#pragma unroll
      for (int u = 0; u < count; ++u) high[u] |= (high_[0] >> 8 * u & 0xff) << at;
    }
    if (has_single && (bits & 1)) {
      const int at = bits & 24;
#pragma unroll
      for (int u = 0; u < count; ++u) high[u] |= (single_[u] >> lane & 1) << at;
    }
    const bool wide = has_low && (bits & 32);
#pragma unroll
    for (int u = 0; u < count; ++u) {
      low[u] = wide ? low_[u] : high[u];
      high[u] = wide ? high[u] : 0;
    }
  }

 private:
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
template <class T, bool shapes, FieldKind kind, int known, bool shared>
class FieldAgent : public RowAgent<T, shared> {
  using Base = RowAgent<T, shared>;
  using Base::lane_;
  using Base::matrix_;

 public:
  using Base::Base;
  static constexpr int threads = shapes ? 512 : 1024;
  static constexpr bool ahead = shapes;  ///< without patterns registers are short

  static __device__ std::uint32_t groups(const ArrayMatrixView<T>& matrix) {
    return (matrix.coded_rows + 31) / 32;
  }

  __device__ void prepare(std::uint32_t slice) {
    if constexpr (ahead) load_slice(slice);
  }

  __device__ void load_slice(std::uint32_t slice) {
    slice = min(slice, groups(matrix_) - 1);
    begin_ = matrix_.slice_offsets[slice];
    end_ = matrix_.slice_offsets[slice + 1];
    this->template load_numbers<1, 32>(32 * slice + lane_, matrix_.coded_rows - 1, number_);
  }

  __device__ void run(std::uint32_t slice, std::uint32_t next) {
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
    if (to_ < matrix_.rows)
      this->put(to_, sum_);
    else
      matrix_.pieces[to_ - matrix_.rows] = sum_;
  }

 private:
  template <int count>
  struct Entries {
    Fields<FieldKind::column, T, count> columns;
    Fields<kind, T, count, known> values;
    __device__ void load(const ArrayMatrixView<T>& matrix, std::uint32_t entry,
                         std::uint32_t lane) {
      if constexpr (!shapes) columns.load(matrix.columns, entry, lane);
      values.load(matrix.values, entry, lane);
    }
  };

  __device__ void enter(std::uint32_t slice) {
    const std::uint32_t coded = 32 * slice + lane_;
    const bool there = coded < matrix_.coded_rows;
    to_ = coded;
    sum_ = 0;
    if constexpr (shapes) {
      const int4 info =
          *reinterpret_cast<const int4*>(this->template table<PatternInfo>(0) + number_[0]);
      pattern_ = this->template table<ShapeEntry>(matrix_.entries_at) + info.x;
      length_ = there ? info.y : 0;
      x_ = Base::arguments_.x + to_;
    } else {
      if (matrix_.order != nullptr && there) to_ = matrix_.order[coded];
      length_ = there ? number_[0] : 0;
      origin_ = matrix_.first_column + (matrix_.relative ? to_ : 0);
      x_ = Base::arguments_.x;
    }
    asm("" : "+l"(x_));  // as in PatternAgent
  }

  /// Adds the products of entries k, ..., of the row, the first of which is `entry` of all slices.
  template <int count>
  __device__ void add(const Entries<count>& of, std::uint32_t k, std::uint32_t entry) {
    T read[count], value[count];
    std::uint32_t low[count], high[count];
    if constexpr (shapes) {
#pragma unroll
      for (int u = 0; u < count; ++u) {
        read[u] = 0;
        high[u] = 0;
        if (k + u < length_) {
          const int2 both = *reinterpret_cast<const int2*>(pattern_ + k + u);
          read[u] = __ldg(x_ + both.x);
          high[u] = static_cast<std::uint32_t>(both.y);
        }
      }
    } else {
      of.columns.join(matrix_.columns, lane_, low, high);
#pragma unroll
      for (int u = 0; u < count; ++u) {
        read[u] = 0;
        if (k + u < length_) read[u] = __ldg(x_ + (origin_ + low[u]));
        high[u] = 0;
      }
    }
    values(of.values, high, k, entry, value);
#pragma unroll
    for (int u = 0; u < count; ++u)
      if (k + u < length_) sum_ += value[u] * read[u];
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
  const T* x_ = nullptr;      ///< where columns are counted from
  T sum_ = 0;
};

}  // namespace tansolve::detail
