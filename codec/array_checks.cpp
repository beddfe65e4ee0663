// SPDX-License-Identifier: BSD-3-Clause
// Checks of parts that may come from anywhere.
#include <tansolve/codec/array_checks.hpp>
#include <tansolve/codec/array_reader.hpp>
#include <tansolve/codec/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tansolve::detail {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_input, "compressed matrix: " + what);
}

/// Whether the numbers begin with 0, never fall, and end with `last`.
template <class Number>
bool are_starts(const std::vector<Number>& starts, std::uint64_t last) {
  return !starts.empty() && starts.front() == 0 && starts.back() == last &&
         std::is_sorted(starts.begin(), starts.end());
}

/// That the columns of every row increase within the matrix, in time of rows and patterns alone.
template <class T>
void check_pattern_columns(const CompressedParts<T>& parts) {
  const RowPatterns<T>& patterns = parts.arrays.patterns;
  for (std::uint32_t p = 0; p < patterns.count(); ++p)
    for (std::uint32_t e = patterns.starts[p] + 1; e < patterns.starts[p + 1]; ++e)
      if (patterns.offsets[e] - patterns.offsets[patterns.starts[p]] <=
          patterns.offsets[e - 1] - patterns.offsets[patterns.starts[p]])
        refuse(fmt::format("pattern {}: its columns do not increase", p));
  for (std::int64_t i = 0; i < parts.rows; ++i) {
    const std::uint32_t p = parts.row_lengths[i];
    if (p >= patterns.count())
      refuse(fmt::format("row {}: pattern {} of {}", i, p, patterns.count()));
    if (patterns.length(p) == 0) continue;
    const std::uint32_t first = patterns.offsets[patterns.starts[p]];
    const std::uint32_t last = patterns.offsets[patterns.starts[p + 1] - 1];
    const std::uint64_t column = static_cast<std::uint32_t>(i) + first;
    if (static_cast<std::uint32_t>(column) + std::uint64_t{last - first} >=
        static_cast<std::uint64_t>(parts.cols))
      refuse(fmt::format("row {}: pattern {} leaves the {} columns", i, p, parts.cols));
  }
}

template <class T>
void check_patterns(const CompressedParts<T>& parts) {
  const auto& [starts, offsets, values, negative] = parts.arrays.patterns;
  const bool used = parts.plan.coding != Coding::packed;
  if (used ? !are_starts(starts, offsets.size()) : !starts.empty() || !offsets.empty())
    refuse(fmt::format("patterns: {} starts for {} offsets", starts.size(), offsets.size()));
  if (values.size() != (parts.plan.coding == Coding::patterns ? offsets.size() : 0))
    refuse(fmt::format("patterns: {} values for {} offsets", values.size(), offsets.size()));
  if (!negative.empty() &&
      (parts.plan.coding != Coding::shapes || negative.size() != offsets.size() ||
       *std::max_element(negative.begin(), negative.end()) > 1 || parts.arrays.values.sign ||
       !parts.arrays.values.dictionary.empty()))
    refuse(fmt::format("patterns: {} signs for {} offsets, each must be 0 or 1", negative.size(),
                       offsets.size()));
  if (used) check_pattern_columns(parts);
}

template <class T>
void check_formats(const CompressedParts<T>& parts) {
  const ColumnFormat& columns = parts.arrays.columns;
  const ValueFormat<T>& values = parts.arrays.values;
  const bool packed = parts.plan.coding == Coding::packed;
  const bool fields = parts.plan.coding != Coding::patterns;
  const int most_column_bits = packed ? 32 : 0;
  const int most_value_bits = fields ? static_cast<int>(8 * sizeof(T)) : 0;
  if (columns.bits < 0 || columns.bits > most_column_bits || columns.bits % 8 != 0 ||
      (!packed && (columns.first != 0 || columns.relative)))
    refuse(fmt::format("columns as fields of {} bits", columns.bits));
  if (values.bits < 0 || values.bits > most_value_bits || values.bits != stored_bits(values.bits) ||
      (values.sign && values.bits == 0) || (values.sign && !values.dictionary.empty()) ||
      values.shift < 0 || values.shift >= ValueFormat<T>::magnitude_bits ||
      values.least > ValueFormat<T>::magnitude_mask ||
      values.exception_places.size() != values.exceptions.size() ||
      std::adjacent_find(values.exception_places.begin(), values.exception_places.end(),
                         std::greater_equal<>()) != values.exception_places.end())
    refuse(fmt::format(
        "values as fields of {} bits, shifted by {}, with {} exceptions at {} places", values.bits,
        values.shift, values.exceptions.size(), values.exception_places.size()));
  if (fields && values.bits == most_value_bits &&
      (!values.sign || values.shift != 0 || values.least != 0 || !values.exceptions.empty()))
    refuse("values as fields of all their bits that are not as they are");
  if (!values.dictionary.empty() &&
      (!values.exceptions.empty() || values.bits > 16 || values.bits % 8 != 0 ||
       values.shift != 0 || values.least != 0))
    refuse(fmt::format("values by a dictionary, as fields of {} bits, with {} exceptions",
                       values.bits, values.exceptions.size()));
  if (values.bits == 0 && !values.exceptions.empty()) refuse("exceptions without fields");
  if (!fields && (values.shift != 0 || values.least != 0 || !values.dictionary.empty() ||
                  !values.exceptions.empty()))
    refuse("values both in patterns and as fields");
}

template <class T>
void check_order(const CompressedParts<T>& parts) {
  const auto& [order, long_rows, long_starts] = parts.arrays.order;
  if (order.empty()) {
    if (!long_rows.empty() || !long_starts.empty()) refuse("long rows without an order of rows");
    return;
  }
  if (parts.plan.coding != Coding::packed) refuse("an order of rows, which only packed has");
  if (long_starts.size() != (long_rows.empty() ? 0 : long_rows.size() + 1) ||
      (!long_rows.empty() &&
       (!are_starts(long_starts, long_starts.back()) ||
        std::adjacent_find(long_starts.begin(), long_starts.end()) != long_starts.end())))
    refuse(fmt::format("{} long rows with {} starts", long_rows.size(), long_starts.size()));
  const std::uint64_t pieces = parts.arrays.order.pieces();
  if (parts.rows + pieces > std::numeric_limits<std::uint32_t>::max() ||
      order.size() != parts.rows - long_rows.size() + pieces)
    refuse(fmt::format("an order of {} for {} rows, {} of them in {} pieces", order.size(),
                       parts.rows, long_rows.size(), pieces));
  std::vector<bool> seen(parts.rows + pieces);
  const auto see = [&](std::uint32_t number) {
    if (number >= seen.size() || seen[number])
      refuse(fmt::format("row or piece {} of {} comes twice or is none", number, seen.size()));
    seen[number] = true;
  };
  for (const std::uint32_t row : long_rows) {
    if (row >= parts.rows) refuse(fmt::format("long row {} of {}", row, parts.rows));
    see(row);
  }
  std::int64_t before = -1;
  for (const std::uint32_t number : order) {
    see(number);
    if (number < parts.rows) continue;
    if (number < before) refuse(fmt::format("piece {} comes after piece {}", number, before));
    before = number;
  }
  if (!long_rows.empty() && parts.arrays.columns.relative)
    refuse("columns relative to rows of which some are in pieces");
}

template <class T>
void check_slices(const CompressedParts<T>& parts) {
  const ArrayReader<T> reader(parts);
  const std::int64_t coded = reader.coded_rows();
  const auto& offsets = parts.slice_offsets;
  std::uint64_t total = 0, pieces = 0;
  for (std::int64_t v = 0; v < coded; ++v) {
    const std::uint32_t length = reader.length(v);
    if (length > parts.cols)
      refuse(fmt::format("row {} has {} entries in {} columns", reader.row(v), length, parts.cols));
    total += length;
  }
  if (total != static_cast<std::uint64_t>(parts.nnz))
    refuse(fmt::format("rows have {} entries in all, not {}", total, parts.nnz));
  if (parts.plan.coding == Coding::patterns) {
    if (!offsets.empty() || !parts.words.empty() || !parts.arrays.column_words.empty())
      refuse("fields where patterns hold the values");
    return;
  }
  const std::int64_t slices = (coded + warp_size - 1) / warp_size;
  if (std::ssize(offsets) != slices + 1 || offsets.front() != 0)
    refuse(fmt::format("{} slice offsets for {} slices", offsets.size(), slices));
  for (std::int64_t s = 0; s < slices; ++s) {
    std::uint64_t width = 0;
    for (std::int64_t v = s * warp_size; v < std::min((s + 1) * warp_size, coded); ++v)
      width = std::max<std::uint64_t>(width, reader.length(v));
    pieces += width;
    if (offsets[s + 1] != pieces)
      refuse(fmt::format("slice {} ends at entry {}, its rows at {}", s, offsets[s + 1], pieces));
  }
  const auto check_words = [&](const char* what, std::size_t words, int bits) {
    if (words != pieces * bits)
      refuse(fmt::format("{} words of {} for {} times 32 fields of {} bits", words, what, pieces,
                         bits));
  };
  check_words("columns", parts.arrays.column_words.size(), parts.arrays.columns.bits);
  check_words("values", parts.words.size(), parts.arrays.values.bits);
}

}  // namespace

template <class T>
void check_arrays(const CompressedParts<T>& parts) {
  check_formats(parts);
  check_order(parts);
  const std::int64_t coded = parts.arrays.order.coded_rows(parts.rows);
  if (std::ssize(parts.row_lengths.bytes()) != coded * parts.row_lengths.width())
    refuse(fmt::format("{} bytes of row lengths or patterns for {} rows",
                       parts.row_lengths.bytes().size(), coded));
  check_patterns(parts);
  check_slices(parts);
}

namespace {

/// That fields beyond the ends of the rows of a slice are 0.
template <class T>
void check_padding(const CompressedParts<T>& parts, const ArrayReader<T>& reader,
                   std::int64_t slice) {
  const auto first = static_cast<std::int64_t>(parts.slice_offsets[slice]);
  const auto entries = static_cast<std::int64_t>(parts.slice_offsets.back());
  const FieldSlice of = {first, static_cast<std::int64_t>(parts.slice_offsets[slice + 1]) - first};
  const FieldPlanes columns(parts.arrays.column_words.data(), parts.arrays.columns.bits, entries);
  const FieldPlanes values(parts.words.data(), parts.arrays.values.bits, entries);
  for (int j = 0; j < warp_size; ++j) {
    const std::int64_t v = slice * warp_size + j;
    for (std::int64_t k = v < reader.coded_rows() ? reader.length(v) : 0; k < of.width; ++k)
      if (columns.get(of, k, j) != 0 || values.get(of, k, j) != 0)
        refuse(fmt::format("slice {}: a field beyond the end of a row is not 0", slice));
  }
}

}  // namespace

template <class T>
void check_fields(const CompressedParts<T>& parts, const ArrayReader<T>& reader, std::int64_t begin,
                  std::int64_t end) {
  const ValueFormat<T>& values = parts.arrays.values;
  const bool packed = parts.plan.coding == Coding::packed;
  if (parts.plan.coding == Coding::patterns) return;
  for (std::int64_t s = begin / warp_size; s * warp_size < end; ++s)
    check_padding(parts, reader, s);
  for (std::int64_t v = begin; v < end; ++v) {
    const std::uint32_t length = reader.length(v);
    std::int64_t before = -1;
    for (std::uint32_t k = 0; k < length; ++k) {
      if (packed) {
        const std::uint32_t column = reader.column(v, k);
        if (column >= parts.cols || column <= before)
          refuse(fmt::format("row {}: column {} after {} in a matrix of {} columns", reader.row(v),
                             column, before, parts.cols));
        before = column;
      }
      const std::uint64_t field = reader.value_field(v, k);
      if (!values.dictionary.empty() && field >= values.dictionary.size())
        refuse(fmt::format("row {}: value {} of a dictionary of {}", reader.row(v), field,
                           values.dictionary.size()));
      if (!values.exceptions.empty() && field == values.marker() &&
          !std::binary_search(values.exception_places.begin(), values.exception_places.end(),
                              reader.place(v, k)))
        refuse(
            fmt::format("row {}: entry {} is an exception that is not listed", reader.row(v), k));
    }
  }
}

template <class T>
void check_exceptions(const CompressedParts<T>& parts, const ArrayReader<T>& reader) {
  const ValueFormat<T>& values = parts.arrays.values;
  const auto& offsets = parts.slice_offsets;
  for (const std::uint64_t place : values.exception_places) {
    const std::uint64_t entry = place / warp_size;
    const auto after = std::upper_bound(offsets.begin(), offsets.end(), entry);
    const std::int64_t slice = after - offsets.begin() - 1;
    const std::int64_t v = slice * warp_size + static_cast<std::int64_t>(place % warp_size);
    if (after == offsets.end() || v >= reader.coded_rows() ||
        entry - offsets[slice] >= reader.length(v) ||
        reader.value_field(v, static_cast<std::uint32_t>(entry - offsets[slice])) !=
            values.marker())
      refuse(fmt::format("an exception at place {}, where no value is one", place));
  }
}

#define TANSOLVE_INSTANTIATE(T)                                                              \
  template void check_arrays(const CompressedParts<T>&);                                     \
  template void check_fields(const CompressedParts<T>&, const ArrayReader<T>&, std::int64_t, \
                             std::int64_t);                                                  \
  template void check_exceptions(const CompressedParts<T>&, const ArrayReader<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
