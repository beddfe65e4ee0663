// SPDX-License-Identifier: BSD-3-Clause
// The products without streams. Included once for every ISA that Highway enables.
//
// Rows that follow the same pattern one after another go eight at a time: an entry is looked up
// once for all, and x is read in contiguous vectors. Fields are decoded one entry of 32 rows at a
// time, in loops over the lanes that compilers vectorize.
#include <hwy/highway.h>

#include <tansolve/codec/array_reader.hpp>
#include <tansolve/kernels/host/fused_product.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace tansolve::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of the slices of a product, of which lanes write what they summed.
template <class T>
class ArrayRows {
 public:
  explicit ArrayRows(const FusedProduct<T>& product)
      : product_(product),
        parts_(product.matrix->parts()),
        begin_(product.begin * warp_size),
        end_(std::min(product.end * warp_size, parts_.arrays.order.coded_rows(parts_.rows))) {}

 protected:
  HWY_ATTR HWY_INLINE void put(int column, std::int64_t row, T sum) const {
    T& y = product_.column_of_y(column)[row];
    y = product_.beta == 0 ? product_.alpha * sum : product_.alpha * sum + product_.beta * y;
  }

  const FusedProduct<T>& product_;
  const CompressedParts<T>& parts_;
  const std::int64_t begin_, end_;
};

template <class T>
class PatternRows : ArrayRows<T> {
  using ArrayRows<T>::parts_;
  using ArrayRows<T>::product_;
  static constexpr std::int64_t group = 8;
  using D = hn::CappedTag<T, group>;

 public:
  using ArrayRows<T>::ArrayRows;

  HWY_ATTR void run() const {
    const RowNumbers& numbers = parts_.row_lengths;
    for (std::int64_t row = this->begin_; row < this->end_;) {
      const std::uint32_t pattern = numbers[row];
      std::int64_t last = row + 1;
      while (last < this->end_ && numbers[last] == pattern) ++last;
      for (; row + group <= last; row += group)
        for (int c = 0; c < product_.columns; ++c) add_group(pattern, row, c);
      for (; row < last; ++row)
        for (int c = 0; c < product_.columns; ++c) add_row(pattern, row, c);
    }
  }

 private:
  HWY_ATTR HWY_INLINE void add_group(std::uint32_t pattern, std::int64_t row, int column) const {
    const D dx;
    constexpr std::size_t width = hn::MaxLanes(D());
    const auto& [starts, offsets, values, negative] = parts_.arrays.patterns;
    hn::Vec<D> sum[group / width];
    for (auto& part : sum) part = hn::Zero(dx);
    for (std::uint32_t e = starts[pattern]; e < starts[pattern + 1]; ++e) {
      const T* x = product_.column_of_x(column) + row + static_cast<std::int32_t>(offsets[e]);
      const auto a = hn::Set(dx, values[e]);
      for (std::size_t v = 0; v < group / width; ++v)
        sum[v] = hn::Add(sum[v], hn::Mul(a, hn::LoadU(dx, x + v * width)));
    }
    alignas(64) T sums[group];
    for (std::size_t v = 0; v < group / width; ++v) hn::Store(sum[v], dx, sums + v * width);
    for (int j = 0; j < group; ++j) this->put(column, row + j, sums[j]);
  }

  HWY_ATTR HWY_INLINE void add_row(std::uint32_t pattern, std::int64_t row, int column) const {
    const auto& [starts, offsets, values, negative] = parts_.arrays.patterns;
    const T* x = product_.column_of_x(column);
    T sum = 0;
    for (std::uint32_t e = starts[pattern]; e < starts[pattern + 1]; ++e)
      sum += values[e] * x[row + static_cast<std::int32_t>(offsets[e])];
    this->put(column, row, sum);
  }
};

template <class T>
class FieldRows : ArrayRows<T> {
  using ArrayRows<T>::parts_;
  using ArrayRows<T>::product_;

 public:
  using ArrayRows<T>::ArrayRows;

  HWY_ATTR void run() {
    for (std::int64_t first = this->begin_; first < this->end_; first += warp_size) slice(first);
  }

 private:
  HWY_ATTR void slice(std::int64_t first) {
    const ArrayParts<T>& arrays = parts_.arrays;
    const bool shapes = parts_.plan.coding == Coding::shapes;
    const std::uint64_t start = parts_.slice_offsets[first / warp_size];
    const auto width =
        static_cast<std::int64_t>(parts_.slice_offsets[first / warp_size + 1] - start);
    const FieldSlice fields = {static_cast<std::int64_t>(start), width};
    const int lanes = static_cast<int>(std::min<std::int64_t>(warp_size, this->end_ - first));
    std::uint32_t length[warp_size] = {}, to[warp_size] = {}, entry[warp_size] = {};
    T sum[FusedProduct<T>::most_columns][warp_size];
    for (int c = 0; c < product_.columns; ++c) std::fill_n(sum[c], warp_size, T(0));
    for (int j = 0; j < lanes; ++j) {
      const std::uint32_t number = parts_.row_lengths[first + j];
      to[j] = arrays.order.order.empty() ? static_cast<std::uint32_t>(first + j)
                                         : arrays.order.order[first + j];
      length[j] = shapes ? arrays.patterns.length(number) : number;
      if (shapes) entry[j] = arrays.patterns.starts[number];
      // Pieces of long rows are added up apart, in their order.
      if (to[j] >= parts_.rows) length[j] = 0;
    }
    alignas(64) std::uint64_t field[warp_size];
    for (std::int64_t k = 0; k < width; ++k) {
      std::uint32_t column[warp_size] = {};
      if (shapes) {
        for (int j = 0; j < lanes; ++j)
          if (k < length[j]) column[j] = to[j] + arrays.patterns.offsets[entry[j] + k];
      } else {
        load(arrays.column_words, arrays.columns.bits, fields, k, field);
        const std::uint32_t relative = arrays.columns.relative ? ~0u : 0u;
        for (int j = 0; j < warp_size; ++j)
          column[j] =
              (to[j] & relative) + arrays.columns.first + static_cast<std::uint32_t>(field[j]);
      }
      load(parts_.words, arrays.values.bits, fields, k, field);
      for (int j = 0; j < lanes; ++j) {
        if (k >= length[j]) continue;
        const T a = value(field[j], entry[j] + k, (start + k) * warp_size + j);
        for (int c = 0; c < product_.columns; ++c)
          sum[c][j] += a * product_.column_of_x(c)[column[j]];
      }
    }
    for (int c = 0; c < product_.columns; ++c)
      for (int j = 0; j < lanes; ++j)
        if (to[j] < parts_.rows) this->put(c, to[j], sum[c][j]);
  }

  /// Fields k of the 32 lanes of a slice.
  HWY_ATTR HWY_INLINE void load(const std::vector<std::uint32_t>& words, int bits,
                                const FieldSlice& slice, std::int64_t k,
                                std::uint64_t* field) const {
    const auto* plane = reinterpret_cast<const unsigned char*>(words.data());
    const auto entries = static_cast<std::int64_t>(parts_.slice_offsets.back());
    const std::int64_t number = slice.number(k, 0), step = slice.number(k, 1) - number;
    int have = 0;
    for (int j = 0; j < warp_size; ++j) field[j] = 0;
    const auto add = [&]<class Part>(Part) HWY_ATTR {
      for (int j = 0; j < warp_size; ++j) {
        Part part;
        std::memcpy(&part, plane + (number + j * step) * std::int64_t{sizeof part}, sizeof part);
        field[j] |= std::uint64_t{part} << have;
      }
      plane += entries * warp_size * static_cast<std::int64_t>(sizeof(Part));
      have += static_cast<int>(8 * sizeof(Part));
    };
    if (bits == 64) return add(std::uint64_t());
    if ((bits & 32) != 0) add(std::uint32_t());
    if ((bits & 16) != 0) add(std::uint16_t());
    if ((bits & 8) != 0) add(std::uint8_t());
    if (have < bits) {
      std::uint32_t word = 0;
      std::memcpy(&word, plane + 4 * (slice.first + k), sizeof word);
      for (int j = 0; j < warp_size; ++j) field[j] |= std::uint64_t{word >> j & 1} << have;
    }
  }

  HWY_ATTR HWY_INLINE T value(std::uint64_t field, std::uint64_t entry, std::uint64_t place) const {
    const ValueFormat<T>& format = parts_.arrays.values;
    if (!format.exceptions.empty() && field == format.marker()) {
      const auto& places = format.exception_places;
      return format
          .exceptions[std::lower_bound(places.begin(), places.end(), place) - places.begin()];
    }
    const auto& negative = parts_.arrays.patterns.negative;
    return format.value(field, !negative.empty() && negative[entry] != 0);
  }
};

template <class T>
HWY_ATTR void pattern_rows(const FusedProduct<T>& product) {
  PatternRows<T>(product).run();
}

template <class T>
HWY_ATTR void field_rows(const FusedProduct<T>& product) {
  FieldRows<T>(product).run();
}

}  // namespace tansolve::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
