// SPDX-License-Identifier: BSD-3-Clause
// Fields of values and columns, written row by row to where their slices have them.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/coded_rows.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/fields.hpp>
#include <tansolve/codec/pair_map.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <utility>

namespace tansolve::detail {
namespace {

/// The values of a matrix as fields.
template <class T>
class ValueEncoder {
 public:
  ValueEncoder(const ValueFormat<T>& format, bool exceptions)
      : format_(format),
        exceptions_(exceptions),
        sign_(format.sign ? std::uint64_t{1} << (format.bits - 1) : 0) {
    for (const T value : format.dictionary) ++indices_.count(0, value_bits(value));
  }

  struct Exception {
    std::uint64_t place;
    T value;
  };

  /// Whether plain() is right for every value, without a look.
  bool is_plain() const { return format_.dictionary.empty() && !exceptions_; }

  /// Fields without dictionary and exceptions; holds copies.
  struct Plain {
    std::uint64_t least;
    std::uint64_t sign;  ///< the bit of a negative value
    int shift;

    std::uint64_t operator()(T value) const {
      const std::uint64_t bits = value_bits(value);
      const std::uint64_t offset = ((bits & ValueFormat<T>::magnitude_mask) - least) >> shift;
      return offset | (bits >> ValueFormat<T>::magnitude_bits) * sign;
    }
  };
  Plain plain() const { return {format_.least, sign_, format_.shift}; }

  /// Counts what the format does not hold, which only values can do that it was not made for.
  std::uint64_t any(T value, std::uint64_t place, std::vector<Exception>& exceptions,
                    std::int64_t& strangers) const {
    const std::uint64_t bits = value_bits(value);
    if (!format_.dictionary.empty()) {
      const std::uint32_t found = indices_.find(0, bits);
      strangers += found == 0;
      return found == 0 ? 0 : found - 1;
    }
    const std::uint64_t magnitude = bits & ValueFormat<T>::magnitude_mask;
    const std::uint64_t offset = (magnitude - format_.least) >> format_.shift;
    const std::uint64_t field = plain()(value);
    if (magnitude >= format_.least && offset <= format_.marker() - sign_ &&
        (offset << format_.shift) + format_.least == magnitude && field != format_.marker())
      return field;
    exceptions.push_back({place, value});
    return format_.marker();
  }

 private:
  const ValueFormat<T>& format_;
  const bool exceptions_;
  const std::uint64_t sign_;
  PairMap indices_;
};

/// Runs work(coded row, its part, a block with the row of that) over coded rows [begin, end),
/// reading rows as they come.
template <class T, class Work>
void for_parts(const RowSource<T>& source, const CodedRows& rows, std::int64_t begin,
               std::int64_t end, const Work& work) {
  RowBuffer<T> buffer;
  const std::int64_t whole = std::min(end, rows.whole());
  if (begin < whole && rows.in_order()) {
    const RowBlock<T> block = source.block(begin, whole, buffer);
    for (std::int64_t v = begin; v < whole; ++v) work(v, {v, 0, block.row_nnz(v)}, block);
  } else if (begin < whole) {
    std::int64_t least = rows[begin].row, most = least;
    for (std::int64_t v = begin; v < whole; ++v) {
      least = std::min(least, rows[v].row);
      most = std::max(most, rows[v].row);
    }
    const RowBlock<T> block = source.block(least, most + 1, buffer);
    for (std::int64_t v = begin; v < whole; ++v) work(v, rows[v], block);
  }
  std::optional<RowBlock<T>> long_row;  // which many pieces share
  for (std::int64_t v = std::max(begin, whole); v < end; ++v) {
    const CodedRows::Part part = rows[v];
    if (!long_row || long_row->begin() != part.row)
      long_row = source.block(part.row, part.row + 1, buffer);
    work(v, part, *long_row);
  }
}

/// Writes words and, if asked for, column_words of parts whose order, row_lengths and slice_offsets
/// are there.
template <class T>
class FieldEncoder {
 public:
  FieldEncoder(const RowSource<T>& source, bool value_exceptions, bool columns,
               CompressedParts<T>& parts)
      : parts_(parts),
        source_(source),
        rows_(source.offsets(), parts.arrays.order, parts.row_lengths),
        values_(parts.arrays.values, value_exceptions),
        columns_(columns) {
    const std::uint64_t entries = parts.slice_offsets.back();
    parts.words.assign(entries * parts.arrays.values.bits, 0);
    if (columns) parts.arrays.column_words.assign(entries * parts.arrays.columns.bits, 0);
  }

  void encode(int threads, const Progress& progress) {
    constexpr std::int64_t per_task = std::int64_t{1} << 14;
    const std::int64_t tasks = (rows_.size() + per_task - 1) / per_task;
    std::vector<std::vector<Exception>> exceptions(tasks);
    std::atomic<std::int64_t> strangers = 0;
    parallel_tasks(
        threads, tasks,
        [&](std::int64_t t) {
          const std::int64_t end = std::min((t + 1) * per_task, rows_.size());
          strangers += encode_rows(t * per_task, end, exceptions[t]);
          std::sort(exceptions[t].begin(), exceptions[t].end(),
                    [](const auto& a, const auto& b) { return a.place < b.place; });
        },
        progress);
    if (strangers > 0)
      throw Error(ErrorCode::bad_input,
                  "encode: the source of the rows gave others when they were read again");
    for (const auto& of_task : exceptions)
      for (const auto& [place, value] : of_task) {
        parts_.arrays.values.exception_places.push_back(place);
        parts_.arrays.values.exceptions.push_back(value);
      }
  }

 private:
  using Exception = typename ValueEncoder<T>::Exception;

  /// Returns how many fields do not fit.
  std::int64_t encode_rows(std::int64_t begin, std::int64_t end,
                           std::vector<Exception>& exceptions) {
    std::int64_t strangers = 0;
    const auto entries = static_cast<std::int64_t>(parts_.slice_offsets.back());
    const auto slice_of = [&](std::int64_t v) {
      const auto first = static_cast<std::int64_t>(parts_.slice_offsets[v / warp_size]);
      return FieldSlice{first,
                        static_cast<std::int64_t>(parts_.slice_offsets[v / warp_size + 1]) - first};
    };
    const ColumnFormat& format = parts_.arrays.columns;
    with_field_writer(
        parts_.words.data(), parts_.arrays.values.bits, entries, [&](const auto& writer) {
          for_parts(source_, rows_, begin, end,
                    [&](std::int64_t v, const CodedRows::Part& part, const RowBlock<T>& block) {
                      const FieldSlice slice = slice_of(v);
                      const auto lane = static_cast<int>(v % warp_size);
                      const T* values = block.values(part.row) + part.first;
                      put_values(writer, slice, lane, part.length, values, exceptions, strangers);
                      if (!columns_) return;  // nor need the source have any
                      const std::int32_t* columns = block.columns(part.row) + part.first;
                      strangers += put_columns(slice, lane, part, columns, format, entries);
                    });
        });
    return strangers;
  }

  template <class Writer>
  void put_values(const Writer& writer, const FieldSlice& slice, int lane, std::int64_t count,
                  const T* values, std::vector<Exception>& exceptions,
                  std::int64_t& strangers) const {
    if (values_.is_plain())
      return writer.put_lane(slice, lane, count, [plain = values_.plain(), values](std::int64_t k) {
        return plain(values[k]);
      });
    writer.put_lane(slice, lane, count, [&](std::int64_t k) {
      const auto place = static_cast<std::uint64_t>((slice.first + k) * warp_size + lane);
      return values_.any(values[k], place, exceptions, strangers);
    });
  }

  std::int64_t put_columns(const FieldSlice& slice, int lane, const CodedRows::Part& part,
                           const std::int32_t* columns, const ColumnFormat& format,
                           std::int64_t entries) {
    const std::uint32_t origin =
        (format.relative ? static_cast<std::uint32_t>(part.row) : 0) + format.first;
    std::uint64_t any = 0;
    with_field_writer(
        parts_.arrays.column_words.data(), format.bits, entries, [&](const auto& writer) {
          writer.put_lane(slice, lane, part.length, [&](std::int64_t k) {
            const std::uint64_t field = static_cast<std::uint32_t>(columns[k]) - origin;
            any |= field;
            return field;
          });
        });
    return any >> format.bits != 0 ? 1 : 0;
  }

  CompressedParts<T>& parts_;
  const RowSource<T>& source_;
  CodedRows rows_;
  ValueEncoder<T> values_;
  bool columns_;
};

/// Sums of the widths of slices.
std::vector<std::uint64_t> width_sums(const CodedRows& rows) {
  const std::int64_t slices = (rows.size() + warp_size - 1) / warp_size;
  std::vector<std::uint64_t> sums(slices + 1, 0);
  for (std::int64_t s = 0; s < slices; ++s) sums[s + 1] = sums[s] + rows.slice_width(s);
  return sums;
}

/// Values at hand with offsets of their rows; columns are not asked for.
template <class T>
class ValueRows final : public RowSource<T> {
 public:
  ValueRows(std::int64_t cols, std::vector<std::int64_t> offsets, std::span<const T> values)
      : cols_(cols), offsets_(std::move(offsets)), values_(values) {}

  std::int64_t cols() const override { return cols_; }
  std::span<const std::int64_t> offsets() const override { return offsets_; }
  RowBlock<T> block(std::int64_t begin, std::int64_t end, RowBuffer<T>&) const override {
    const auto offsets = std::span(offsets_).subspan(begin, end - begin + 1);
    return {begin, offsets, nullptr, values_.data() + offsets[0]};
  }

 private:
  std::int64_t cols_;
  std::vector<std::int64_t> offsets_;
  std::span<const T> values_;
};

/// Whether the rows' values have the signs of their patterns.
template <class T>
bool signs_agree(const CompressedParts<T>& parts, const RowSource<T>& source, int threads) {
  constexpr std::int64_t per_task = 1 << 15;
  const RowPatterns<T>& patterns = parts.arrays.patterns;
  std::atomic<bool> agree = true;
  parallel_tasks(threads, (parts.rows + per_task - 1) / per_task, [&](std::int64_t t) {
    RowBuffer<T> buffer;
    const auto rows = source.block(t * per_task, std::min((t + 1) * per_task, parts.rows), buffer);
    std::uint64_t differences = 0;
    for (std::int64_t row = rows.begin(); row < rows.end(); ++row) {
      const std::uint8_t* negative =
          patterns.negative.data() + patterns.starts[parts.row_lengths[row]];
      const T* values = rows.values(row);
      for (std::int64_t k = 0; k < rows.row_nnz(row); ++k)
        differences |= value_bits(values[k]) >> ValueFormat<T>::magnitude_bits ^ negative[k];
    }
    if (differences != 0) agree = false;
  });
  return agree;
}

/// Chooses the format of values, and whether patterns keep signs; returns whether there will be
/// exceptions.
template <class T>
bool choose_values(const ValueFacts<T>& facts, bool sign, ArrayParts<T>& arrays) {
  ValueFormatChoice<T> choice = choose_value_format(facts, sign);
  arrays.values = std::move(choice.format);
  if (arrays.values.sign || !arrays.values.dictionary.empty()) arrays.patterns.negative.clear();
  return choice.exceptions > 0;
}

}  // namespace

std::int64_t longest_piece(std::int64_t rows, std::int64_t nnz) {
  constexpr std::int64_t least = 256;
  return std::max(least, rows == 0 ? 0 : 16 * nnz / rows);
}

double padded_share(std::span<const std::int64_t> offsets, const RowOrder& order) {
  const CodedRows rows(offsets, order);
  std::int64_t padded = 0;
  for (std::int64_t s = 0; s * warp_size < rows.size(); ++s)
    padded += rows.slice_width(s) * warp_size;
  return offsets.back() == 0 ? 1
                             : static_cast<double>(padded) / static_cast<double>(offsets.back());
}

template <class T>
ColumnFormat choose_column_format(const RowSource<T>& source, const RowOrder& order, int threads) {
  struct Range {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    void add(std::int64_t first, std::int64_t last) {
      least = std::min(least, first);
      most = std::max(most, last);
    }
    int bits() const {
      return whole_bytes(std::bit_width(static_cast<std::uint64_t>(most - least)));
    }
  };
  ColumnFormat format;
  if (source.nnz() == 0) return format;
  const auto ranges = row_ranges(source.offsets(), std::int64_t{1} << 18);
  std::vector<std::pair<Range, Range>> of_tasks(ranges.size());
  parallel_tasks(threads, std::ssize(ranges), [&](std::int64_t t) {
    RowBuffer<T> buffer;
    const RowBlock<T> rows = source.block(ranges[t].first, ranges[t].second, buffer);
    Range absolute, relative;
    for (std::int64_t i = rows.begin(); i < rows.end(); ++i) {
      const std::int64_t length = rows.row_nnz(i);
      if (length == 0) continue;
      const std::int64_t first = rows.columns(i)[0], last = rows.columns(i)[length - 1];
      absolute.add(first, last);
      relative.add(first - i, last - i);
    }
    of_tasks[t] = {absolute, relative};
  });
  Range absolute, relative;
  for (const auto& [of_columns, of_offsets] : of_tasks) {
    absolute.add(of_columns.least, of_columns.most);
    relative.add(of_offsets.least, of_offsets.most);
  }
  // Kernels know no row for pieces.
  format.relative = order.long_rows.empty() && relative.bits() < absolute.bits();
  const Range& range = format.relative ? relative : absolute;
  format.bits = std::min(range.bits(), 32);
  format.first = static_cast<std::uint32_t>(range.least);
  return format;
}

template <class T>
void encode_arrays(Survey<T>& survey, const Progress& progress, CompressedParts<T>& parts) {
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  ArrayParts<T>& arrays = parts.arrays;
  const RowSource<T>& source = survey.source();
  const bool packed = parts.plan.coding == Coding::packed;
  if (packed) {
    arrays.order = survey.order();
    arrays.columns = survey.columns();
    const CodedRows rows(source.offsets(), arrays.order);
    std::vector<std::uint32_t> lengths(rows.size());
    for (std::int64_t v = 0; v < rows.size(); ++v)
      lengths[v] = static_cast<std::uint32_t>(rows[v].length);
    parts.row_lengths = RowNumbers(lengths);
  } else {
    const auto* found = parts.plan.coding == Coding::patterns
                            ? survey.patterns(PatternKind::values, no_limit)
                            : survey.shapes(no_limit);
    if (found == nullptr)
      throw Error(ErrorCode::not_supported, "encode: more than 2^32 entries in distinct patterns");
    arrays.patterns = found->patterns;
    parts.row_lengths = RowNumbers(found->rows);
  }
  if (parts.plan.coding == Coding::patterns) {
    if (progress) progress(1);
    return;
  }
  const bool exceptions = choose_values(survey.values(), arrays.patterns.negative.empty(), arrays);
  parts.slice_offsets = width_sums(CodedRows(source.offsets(), arrays.order));
  FieldEncoder<T>(source, exceptions, packed, parts).encode(survey.threads(), progress);
}

template <class T>
void replace_fields(std::span<const T> values, int threads, CompressedParts<T>& parts) {
  ArrayParts<T>& arrays = parts.arrays;
  const ValueRows<T> source(parts.cols, row_offsets(parts), values);
  const ValueFacts<T> facts = find_value_facts(values, threads);
  const bool sign = arrays.patterns.negative.empty() || !signs_agree(parts, source, threads);
  try {
    const bool exceptions = choose_values(facts, sign, arrays);
    FieldEncoder<T>(source, exceptions, false, parts).encode(threads, {});
  } catch (...) {  // memory ran out: half of a format and of its fields must not be read
    arrays.values = {};
    parts.words.clear();
    throw;
  }
}

#define TANSOLVE_INSTANTIATE(T)                                                          \
  template ColumnFormat choose_column_format(const RowSource<T>&, const RowOrder&, int); \
  template void encode_arrays(Survey<T>&, const Progress&, CompressedParts<T>&);         \
  template void replace_fields(std::span<const T>, int, CompressedParts<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
