// SPDX-License-Identifier: BSD-3-Clause
// Formats from one pass over the matrix, then slice by slice.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/pair_map.hpp>
#include <tansolve/codec/row_patterns.hpp>
#include <tansolve/codec/value_format.hpp>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

namespace tansolve::detail {
namespace {

/// Rows are sorted within the least window that leaves no more padding than this, since neighbours
/// share what they read of x.
constexpr double most_padding = 1.08;
constexpr std::int64_t widest_window = 4096;

/// Coded rows as ranges of the matrix' entries.
template <class T>
class CodedRows {
 public:
  CodedRows(const Csr<T>& matrix, const RowOrder& order) : matrix_(matrix), order_(order) {
    for (std::size_t i = 0; i < order.long_rows.size(); ++i) {
      const std::int64_t row = order.long_rows[i];
      const std::int64_t pieces = order.long_starts[i + 1] - order.long_starts[i];
      const std::int64_t length = (matrix.row_nnz(row) + pieces - 1) / pieces;
      for (std::int64_t p = 0; p < pieces; ++p)
        pieces_.push_back(
            {row, matrix.offsets()[row] + std::min(p * length, matrix.row_nnz(row)),
             matrix.offsets()[row] + std::min((p + 1) * length, matrix.row_nnz(row))});
    }
  }

  struct Range {
    std::int64_t row;
    std::int64_t begin;
    std::int64_t end;
  };

  std::int64_t size() const { return order_.coded_rows(matrix_.rows()); }

  Range operator[](std::int64_t v) const {
    const std::int64_t to = order_.order.empty() ? v : order_.order[v];
    if (to >= matrix_.rows()) return pieces_[to - matrix_.rows()];
    return {to, matrix_.offsets()[to], matrix_.offsets()[to + 1]};
  }

 private:
  const Csr<T>& matrix_;
  const RowOrder& order_;
  std::vector<Range> pieces_;
};

/// The values of a matrix as fields; collects what is an exception.
template <class T>
class ValueEncoder {
 public:
  explicit ValueEncoder(const ValueFormat<T>& format, bool exceptions)
      : format_(format), exceptions_(exceptions) {
    for (const T value : format.dictionary) ++indices_.count(0, value_bits(value));
  }

  struct Exception {
    std::uint64_t place;
    T value;
  };

  std::uint64_t field(T value, std::uint64_t place, std::vector<Exception>& exceptions) const {
    const std::uint64_t bits = value_bits(value);
    if (!format_.dictionary.empty()) return indices_.find(0, bits) - 1;
    const std::uint64_t magnitude = bits & ValueFormat<T>::magnitude_mask;
    const std::uint64_t offset = (magnitude - format_.least) >> format_.shift;
    const std::uint64_t sign =
        format_.sign ? bits >> ValueFormat<T>::magnitude_bits << (format_.bits - 1) : 0;
    const std::uint64_t room = format_.sign ? format_.marker() >> 1 : format_.marker();
    if (!exceptions_) return sign | offset;
    if (magnitude >= format_.least && offset <= room &&
        (offset << format_.shift) + format_.least == magnitude &&
        (sign | offset) != format_.marker())
      return sign | offset;
    exceptions.push_back({place, value});
    return format_.marker();
  }

 private:
  const ValueFormat<T>& format_;
  const bool exceptions_;
  PairMap indices_;
};

/// Fills slice_offsets, words and column_words.
template <class T>
class FieldEncoder {
 public:
  FieldEncoder(const Csr<T>& matrix, bool value_exceptions, CompressedParts<T>& parts)
      : parts_(parts),
        matrix_(matrix),
        rows_(matrix, parts.arrays.order),
        values_(parts.arrays.values, value_exceptions) {
    const std::int64_t slices = (rows_.size() + warp_size - 1) / warp_size;
    parts.slice_offsets.assign(slices + 1, 0);
    for (std::int64_t s = 0; s < slices; ++s) {
      std::int64_t width = 0;
      for (std::int64_t v = s * warp_size; v < std::min((s + 1) * warp_size, rows_.size()); ++v)
        width = std::max(width, rows_[v].end - rows_[v].begin);
      parts.slice_offsets[s + 1] = parts.slice_offsets[s] + width;
    }
    parts.words.assign(parts.slice_offsets.back() * parts.arrays.values.bits, 0);
    if (packed()) parts.arrays.column_words.assign(parts.slice_offsets.back() * column_bits(), 0);
  }

  void encode(int threads, const Progress& progress) {
    constexpr std::int64_t per_task = 1 << 9;
    const std::int64_t slices = std::ssize(parts_.slice_offsets) - 1;
    const std::int64_t tasks = (slices + per_task - 1) / per_task;
    std::vector<std::vector<typename ValueEncoder<T>::Exception>> exceptions(tasks);
    parallel_tasks(
        threads, tasks,
        [&](std::int64_t t) {
          Buffers buffers;
          for (std::int64_t s = t * per_task; s < std::min((t + 1) * per_task, slices); ++s)
            encode_slice(s, buffers, exceptions[t]);
          std::sort(exceptions[t].begin(), exceptions[t].end(),
                    [](const auto& a, const auto& b) { return a.place < b.place; });
        },
        progress);
    for (const auto& of_task : exceptions)
      for (const auto& [place, value] : of_task) {
        parts_.arrays.values.exception_places.push_back(place);
        parts_.arrays.values.exceptions.push_back(value);
      }
  }

 private:
  bool packed() const { return parts_.plan.coding == Coding::packed; }
  int column_bits() const { return parts_.arrays.columns.bits; }

  /// The fields of a slice.
  struct Buffers {
    std::vector<std::uint64_t> values, columns;
  };

  void encode_slice(std::int64_t s, Buffers& buffers,
                    std::vector<typename ValueEncoder<T>::Exception>& exceptions) {
    const auto first = static_cast<std::int64_t>(parts_.slice_offsets[s]);
    const auto entries = static_cast<std::int64_t>(parts_.slice_offsets.back());
    const FieldSlice slice = {first,
                              static_cast<std::int64_t>(parts_.slice_offsets[s + 1]) - first};
    const ColumnFormat& format = parts_.arrays.columns;
    buffers.values.assign(slice.width * warp_size, 0);
    buffers.columns.assign(slice.width * warp_size, 0);
    for (int j = 0; j < warp_size && s * warp_size + j < rows_.size(); ++j) {
      const auto [row, begin, end] = rows_[s * warp_size + j];
      const std::uint32_t origin =
          (format.relative ? static_cast<std::uint32_t>(row) : 0) + format.first;
      for (std::int64_t k = 0; k < end - begin; ++k) {
        const std::int64_t at = k * warp_size + j;
        buffers.values[at] =
            values_.field(matrix_.values()[begin + k],
                          static_cast<std::uint64_t>(first * warp_size + at), exceptions);
        buffers.columns[at] = static_cast<std::uint32_t>(matrix_.columns()[begin + k]) - origin;
      }
    }
    const auto& values = parts_.arrays.values;
    FieldPlanes(parts_.words.data(), values.bits, entries).put(slice, buffers.values.data());
    if (packed())
      FieldPlanes(parts_.arrays.column_words.data(), format.bits, entries)
          .put(slice, buffers.columns.data());
  }

  CompressedParts<T>& parts_;
  const Csr<T>& matrix_;
  CodedRows<T> rows_;
  ValueEncoder<T> values_;
};

/// Fields of slices of 32 of these whole rows in turn over their entries.
template <class T>
double padding_of(const Csr<T>& matrix, const std::vector<std::uint32_t>& rows) {
  std::int64_t padded = 0, entries = 0;
  for (std::int64_t first = 0; first < std::ssize(rows); first += warp_size) {
    std::int64_t longest = 0;
    for (std::int64_t v = first; v < std::min(first + warp_size, std::ssize(rows)); ++v) {
      longest = std::max(longest, matrix.row_nnz(rows[v]));
      entries += matrix.row_nnz(rows[v]);
    }
    padded += longest * warp_size;
  }
  return entries == 0 ? 1 : static_cast<double>(padded) / static_cast<double>(entries);
}

/// Lengths of the coded rows.
template <class T>
std::vector<std::uint32_t> coded_lengths(const Csr<T>& matrix, const RowOrder& order) {
  const CodedRows<T> rows(matrix, order);
  std::vector<std::uint32_t> lengths(rows.size());
  for (std::int64_t v = 0; v < rows.size(); ++v)
    lengths[v] = static_cast<std::uint32_t>(rows[v].end - rows[v].begin);
  return lengths;
}

}  // namespace

std::int64_t longest_piece(std::int64_t rows, std::int64_t nnz) {
  constexpr std::int64_t least = 256;
  return std::max(least, rows == 0 ? 0 : 16 * nnz / rows);
}

template <class T>
double padded_share(const Csr<T>& matrix, const RowOrder& order) {
  const CodedRows<T> rows(matrix, order);
  std::int64_t padded = 0;
  for (std::int64_t first = 0; first < rows.size(); first += warp_size) {
    std::int64_t longest = 0;
    for (std::int64_t v = first; v < std::min(first + warp_size, rows.size()); ++v)
      longest = std::max(longest, rows[v].end - rows[v].begin);
    padded += longest * warp_size;
  }
  return matrix.nnz() == 0 ? 1 : static_cast<double>(padded) / static_cast<double>(matrix.nnz());
}

template <class T>
RowOrder choose_order(const Csr<T>& matrix) {
  const std::int64_t most = longest_piece(matrix.rows(), matrix.nnz());
  RowOrder order;
  std::vector<std::uint32_t> whole, pieces;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (matrix.row_nnz(i) <= most) {
      whole.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    if (order.long_starts.empty()) order.long_starts = {0};
    order.long_rows.push_back(static_cast<std::uint32_t>(i));
    for (std::int64_t p = 0; p < (matrix.row_nnz(i) + most - 1) / most; ++p)
      pieces.push_back(static_cast<std::uint32_t>(matrix.rows() + std::ssize(pieces)));
    order.long_starts.push_back(static_cast<std::uint32_t>(pieces.size()));
  }
  if (padding_of(matrix, whole) > most_padding) {
    std::vector<std::uint32_t> sorted;
    for (std::int64_t window = 64; window <= widest_window; window *= 2) {
      sorted = whole;
      const auto begin = sorted.begin();
      for (std::int64_t first = 0; first < std::ssize(sorted); first += window)
        std::stable_sort(begin + first, begin + std::min(first + window, std::ssize(sorted)),
                         [&](std::uint32_t a, std::uint32_t b) {
                           return matrix.row_nnz(a) > matrix.row_nnz(b);
                         });
      if (padding_of(matrix, sorted) <= most_padding) break;
    }
    whole = std::move(sorted);
  } else if (pieces.empty()) {
    return order;
  }
  order.order = std::move(whole);
  order.order.insert(order.order.end(), pieces.begin(), pieces.end());
  return order;
}

template <class T>
ColumnFormat choose_column_format(const Csr<T>& matrix, const RowOrder& order) {
  struct Range {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    void add(std::int64_t number) {
      least = std::min(least, number);
      most = std::max(most, number);
    }
    int bits() const {
      return whole_bytes(std::bit_width(static_cast<std::uint64_t>(most - least)));
    }
  };
  ColumnFormat format;
  if (matrix.nnz() == 0) return format;
  Range absolute, relative;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (matrix.row_nnz(i) == 0) continue;
    const std::int64_t first = matrix.columns()[matrix.offsets()[i]];
    const std::int64_t last = matrix.columns()[matrix.offsets()[i + 1] - 1];
    absolute.add(first);
    absolute.add(last);
    relative.add(first - i);
    relative.add(last - i);
  }
  // Kernels know no row for pieces.
  format.relative = order.long_rows.empty() && relative.bits() < absolute.bits();
  const Range& range = format.relative ? relative : absolute;
  format.bits = std::min(range.bits(), 32);
  format.first = static_cast<std::uint32_t>(range.least);
  return format;
}

template <class T>
void encode_arrays(const Csr<T>& matrix, int threads, const Progress& progress,
                   CompressedParts<T>& parts) {
  constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  ArrayParts<T>& arrays = parts.arrays;
  if (parts.plan.coding == Coding::packed) {
    arrays.order = choose_order(matrix);
    arrays.columns = choose_column_format(matrix, arrays.order);
    parts.row_lengths = RowNumbers(coded_lengths(matrix, arrays.order));
  } else {
    std::optional<PatternsOfRows<T>> found;
    if (parts.plan.coding == Coding::patterns)
      found = find_patterns(matrix, PatternKind::values, no_limit, threads);
    else
      found = find_patterns(matrix, PatternKind::signs, most_signed_patterns, threads);
    if (!found && parts.plan.coding == Coding::shapes)
      found = find_patterns(matrix, PatternKind::columns, no_limit, threads);
    if (!found)
      throw Error(ErrorCode::not_supported, "encode: more than 2^32 entries in distinct patterns");
    arrays.patterns = std::move(found->patterns);
    parts.row_lengths = RowNumbers(found->rows);
  }
  if (parts.plan.coding == Coding::patterns) {
    if (progress) progress(1);
    return;
  }
  auto choice = choose_value_format(matrix, arrays.patterns.negative.empty(), threads);
  arrays.values = std::move(choice.format);
  if (arrays.values.sign || !arrays.values.dictionary.empty()) arrays.patterns.negative.clear();
  FieldEncoder<T>(matrix, choice.exceptions > 0, parts).encode(threads, progress);
}

#define TANSOLVE_INSTANTIATE(T)                                               \
  template double padded_share(const Csr<T>&, const RowOrder&);               \
  template RowOrder choose_order(const Csr<T>&);                              \
  template ColumnFormat choose_column_format(const Csr<T>&, const RowOrder&); \
  template void encode_arrays(const Csr<T>&, int, const Progress&, CompressedParts<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
