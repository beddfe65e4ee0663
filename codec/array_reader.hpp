// SPDX-License-Identifier: BSD-3-Clause
// Decodes the codings without streams in the order of section 5 of FORMAT.md; the slow truth.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tansolve::detail {

/// Refers to the parts, whose arrays must fit each other (check_arrays).
template <class T>
class ArrayReader {
 public:
  explicit ArrayReader(const CompressedParts<T>& parts) : parts_(parts), arrays_(parts.arrays) {
    const RowOrder& order = arrays_.order;
    piece_row_.resize(order.pieces());
    piece_first_.resize(order.pieces());
    std::vector<std::uint32_t> length(order.pieces());
    for (std::int64_t v = 0; v < std::ssize(order.order); ++v)
      if (order.order[v] >= parts.rows) length[order.order[v] - parts.rows] = parts.row_lengths[v];
    for (std::size_t i = 0; i < order.long_rows.size(); ++i) {
      std::uint32_t first = 0;
      for (std::uint32_t s = order.long_starts[i]; s < order.long_starts[i + 1]; ++s) {
        piece_row_[s] = order.long_rows[i];
        piece_first_[s] = first;
        first += length[s];
      }
    }
  }

  std::int64_t coded_rows() const { return arrays_.order.coded_rows(parts_.rows); }

  bool has_patterns() const { return parts_.plan.coding != Coding::packed; }

  std::uint32_t length(std::int64_t v) const {
    const std::uint32_t number = parts_.row_lengths[v];
    return has_patterns() ? arrays_.patterns.length(number) : number;
  }

  /// The row that coded row v is, or is a piece of.
  std::int64_t row(std::int64_t v) const {
    if (arrays_.order.order.empty()) return v;
    const std::uint32_t to = arrays_.order.order[v];
    return to < parts_.rows ? std::int64_t{to} : piece_row_[to - parts_.rows];
  }

  /// The position in its row of the first entry of coded row v.
  std::uint32_t first(std::int64_t v) const {
    if (arrays_.order.order.empty()) return 0;
    const std::uint32_t to = arrays_.order.order[v];
    return to < parts_.rows ? 0 : piece_first_[to - parts_.rows];
  }

  std::uint32_t column(std::int64_t v, std::uint32_t k) const {
    const auto row = static_cast<std::uint32_t>(this->row(v));
    if (has_patterns())
      return row + arrays_.patterns.offsets[arrays_.patterns.starts[parts_.row_lengths[v]] + k];
    const ColumnFormat& format = arrays_.columns;
    const auto field =
        static_cast<std::uint32_t>(this->field(arrays_.column_words, format.bits, v, k));
    return (format.relative ? row : 0) + format.first + field;
  }

  /// Of entry k where values are fields.
  std::uint64_t value_field(std::int64_t v, std::uint32_t k) const {
    return field(parts_.words, arrays_.values.bits, v, k);
  }

  /// Among the exceptions, were it one.
  std::uint64_t place(std::int64_t v, std::uint32_t k) const {
    return (parts_.slice_offsets[v / warp_size] + k) * warp_size + v % warp_size;
  }

  T value(std::int64_t v, std::uint32_t k) const {
    const ValueFormat<T>& format = arrays_.values;
    const RowPatterns<T>& patterns = arrays_.patterns;
    const std::size_t entry = has_patterns() ? patterns.starts[parts_.row_lengths[v]] + k : 0;
    if (parts_.plan.coding == Coding::patterns) return patterns.values[entry];
    const std::uint64_t field = value_field(v, k);
    if (!format.exceptions.empty() && field == format.marker()) {
      const auto& places = format.exception_places;
      const auto at = std::lower_bound(places.begin(), places.end(), place(v, k));
      return format.exceptions[at - places.begin()];
    }
    return format.value(field, !patterns.negative.empty() && patterns.negative[entry] != 0);
  }

 private:
  std::uint64_t field(const std::vector<std::uint32_t>& words, int bits, std::int64_t v,
                      std::uint32_t k) const {
    const auto& offsets = parts_.slice_offsets;
    const auto first = static_cast<std::int64_t>(offsets[v / warp_size]);
    const FieldSlice slice = {first, static_cast<std::int64_t>(offsets[v / warp_size + 1]) - first};
    const FieldPlanes planes(words.data(), bits, static_cast<std::int64_t>(offsets.back()));
    return planes.get(slice, k, static_cast<int>(v % warp_size));
  }

  const CompressedParts<T>& parts_;
  const ArrayParts<T>& arrays_;
  std::vector<std::uint32_t> piece_row_;
  std::vector<std::uint32_t> piece_first_;
};

}  // namespace tansolve::detail
