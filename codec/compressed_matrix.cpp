// SPDX-License-Identifier: BSD-3-Clause
// What a compressed matrix is made of, and the proof that it can be decoded without checks.
#include <tansolve/codec/array_checks.hpp>
#include <tansolve/codec/array_reader.hpp>
#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/dtans/reference_decoder.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace tansolve {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::bad_input, "compressed matrix: " + what);
}

/// Calls entry(row, column, value) for the nonzeros of a slice, each row's in order; checks that
/// the stream ends where the slice does, that columns increase within the matrix, and that no
/// padding escapes.
template <class T, class Entry>
class SliceDecoder {
 public:
  SliceDecoder(const CompressedMatrix<T>& matrix, const ReferenceDecoder& decoder,
               std::int64_t slice, Entry& entry)
      : matrix_(matrix), geometry_(traits(matrix.plan().coding).geometry), entry_(entry) {
    for (int j = 0; j < warp_size; ++j) {
      lanes_[j].row = slice * matrix.plan().rows_per_slice() + j;
      lanes_[j].rows_left = matrix.plan().rows_per_lane;
      settle(lanes_[j]);
    }
    const auto words = matrix.slice_words(slice);
    const std::size_t taken =
        decoder.decode(matrix.lane_segments(slice), words,
                       [this](int j, std::uint32_t symbol, std::span<const std::uint32_t> raw) {
                         take(lanes_[j], symbol, raw);
                       });
    if (taken != words.size())
      refuse(
          fmt::format("slice {} has {} words, of which {} are used", slice, words.size(), taken));
  }

 private:
  struct Lane {
    std::int64_t row = 0;
    int rows_left = 0;
    std::uint32_t position = 0;  ///< entries of the row so far
    std::uint32_t column = 0;    ///< of the last of them, or the row's index
    std::uint32_t delta = 0;     ///< of the entry whose value symbol comes next
    std::int64_t symbols = 0;    ///< so far, padding included
    bool pads = false;           ///< up to the end of the segment
  };

  bool has_row(const Lane& lane) const { return lane.rows_left > 0 && lane.row < matrix_.rows(); }

  /// Moves on from rows that are complete to the next that is not.
  void settle(Lane& lane) const {
    while (has_row(lane) && lane.position == matrix_.parts().row_lengths[lane.row]) {
      lane.row += warp_size;
      --lane.rows_left;
      lane.position = 0;
    }
    if (lane.position == 0) lane.column = static_cast<std::uint32_t>(lane.row);
  }

  void take(Lane& lane, std::uint32_t symbol, std::span<const std::uint32_t> raw) {
    const auto& tables = matrix_.parts().tables;
    const std::size_t table = lane.symbols % tables.size();
    const bool segment_starts = lane.symbols++ % geometry_.l == 0;
    if (segment_starts) lane.pads = false;
    if (!has_row(lane) || lane.pads) {
      if (!raw.empty()) refuse(fmt::format("padding before row {} escapes", lane.row));
      return;
    }
    T value{};
    read_symbol(tables[table], symbol, raw, lane.delta, value);
    if (table + 1 < tables.size()) return;

    const std::uint32_t column = lane.column + lane.delta;
    if (column >= matrix_.cols() || (lane.position > 0 && column <= lane.column))
      refuse(fmt::format("row {}: column {} after {} in a matrix of {} columns", lane.row, column,
                         lane.column, matrix_.cols()));
    entry_(lane.row, lane.position, column, value);
    lane.column = column;
    const std::int64_t row = lane.row;
    ++lane.position;
    settle(lane);
    const bool aligned = matrix_.plan().row_ends == RowEnds::aligned;
    lane.pads = aligned && lane.row != row;
  }

  static void read_symbol(const SymbolTable<T>& table, std::uint32_t symbol,
                          std::span<const std::uint32_t> raw, std::uint32_t& delta, T& value) {
    if (raw.empty()) {
      if (!table.deltas.empty()) delta = table.deltas[symbol];
      if (!table.values.empty()) value = table.values[symbol];
      return;
    }
    if (!table.deltas.empty()) {
      delta = raw[0];
      raw = raw.subspan(1);
    }
    if (!table.values.empty())
      value = value_of_bits<T>(sizeof(T) == 4 ? raw[0] : raw[0] | std::uint64_t{raw[1]} << 32);
  }

  const CompressedMatrix<T>& matrix_;
  const Geometry& geometry_;
  Entry& entry_;
  std::array<Lane, warp_size> lanes_;
};

/// Runs work(begin, end) over tasks of neighbouring coded rows.
template <class T, class Work>
void for_coded_rows(const CompressedParts<T>& parts, int threads, const Progress& progress,
                    const Work& work) {
  constexpr std::int64_t per_task = 1 << 14;
  const std::int64_t rows = parts.arrays.order.coded_rows(parts.rows);
  detail::parallel_tasks(
      threads, (rows + per_task - 1) / per_task,
      [&](std::int64_t t) { work(t * per_task, std::min((t + 1) * per_task, rows)); }, progress);
}

/// Calls entry(row, position, column, value) for every nonzero, from several threads.
template <class T, class Entry>
void decode_arrays(const CompressedParts<T>& parts, int threads, Entry&& entry) {
  const detail::ArrayReader<T> reader(parts);
  for_coded_rows(parts, threads, {}, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v)
      for (std::uint32_t k = 0; k < reader.length(v); ++k)
        entry(reader.row(v), reader.first(v) + k, reader.column(v, k), reader.value(v, k));
  });
}

/// The same of the streams.
template <class T, class Entry>
void decode_streams(const CompressedMatrix<T>& matrix, int threads, Entry&& entry,
                    const Progress& progress = {}) {
  std::vector<CodingTable> codes;
  for (const auto& table : matrix.parts().tables) codes.push_back(table.code);
  const ReferenceDecoder decoder(traits(matrix.plan().coding).geometry, codes);
  constexpr std::int64_t per_task = 64;
  detail::parallel_tasks(
      threads, (matrix.slices() + per_task - 1) / per_task,
      [&](std::int64_t t) {
        for (std::int64_t s = t * per_task; s < std::min((t + 1) * per_task, matrix.slices()); ++s)
          SliceDecoder<T, Entry>(matrix, decoder, s, entry);
      },
      progress);
}

template <class T, class Entry>
void decode_all(const CompressedMatrix<T>& matrix, int threads, Entry&& entry) {
  if (is_stream(matrix.plan().coding))
    decode_streams(matrix, threads, entry);
  else
    decode_arrays(matrix.parts(), threads, entry);
}

/// That pieces of a long row follow each other in its columns.
template <class T>
void check_pieces(const CompressedParts<T>& parts, const detail::ArrayReader<T>& reader) {
  const auto& [order, long_rows, long_starts] = parts.arrays.order;
  if (long_rows.empty()) return;
  std::vector<std::int64_t> coded(parts.arrays.order.pieces());
  for (std::int64_t v = 0; v < std::ssize(order); ++v)
    if (order[v] >= parts.rows) coded[order[v] - parts.rows] = v;
  for (std::size_t i = 0; i < long_rows.size(); ++i) {
    std::int64_t before = -1;
    for (std::uint32_t s = long_starts[i]; s < long_starts[i + 1]; ++s) {
      const std::uint32_t length = reader.length(coded[s]);
      if (length == 0) continue;
      if (reader.column(coded[s], 0) <= before)
        refuse(fmt::format("row {}: column {} after {}", long_rows[i], reader.column(coded[s], 0),
                           before));
      before = reader.column(coded[s], length - 1);
    }
  }
}

template <class T>
void check_dimensions(const CompressedParts<T>& parts) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (parts.rows < 0 || parts.cols < 0 || parts.rows > most || parts.cols > most || parts.nnz < 0)
    refuse(
        fmt::format("{} x {} with {} nonzeros; the dimensions must lie in 0 to {}, the nonzeros "
                    "not be negative",
                    parts.rows, parts.cols, parts.nnz, most));
  if (static_cast<std::size_t>(parts.plan.coding) >= all_codings.size())
    refuse(fmt::format("coding {}, it must be 0 to {}", static_cast<int>(parts.plan.coding),
                       all_codings.size() - 1));
  if (parts.plan.rows_per_lane < 1 || parts.plan.rows_per_lane > max_rows_per_lane)
    refuse(fmt::format("{} rows a lane, there must be 1 to {}", parts.plan.rows_per_lane,
                       max_rows_per_lane));
  if (parts.plan.row_ends != RowEnds::aligned && parts.plan.row_ends != RowEnds::crossing)
    refuse(fmt::format("row ends of kind {}, it must be 0 (aligned) or 1 (crossing)",
                       static_cast<int>(parts.plan.row_ends)));
  if (!is_stream(parts.plan.coding) &&
      (parts.plan.rows_per_lane != 1 || parts.plan.row_ends != RowEnds::aligned))
    refuse(
        fmt::format("{} has one row a lane and aligned row ends", traits(parts.plan.coding).name));
}

template <class T>
void check_tables(const CompressedParts<T>& parts) {
  const std::size_t needed = parts.nnz == 0 ? 0 : traits(parts.plan.coding).tables;
  if (parts.tables.size() != needed)
    refuse(fmt::format("{} tables, there must be {}", parts.tables.size(), needed));
  for (std::size_t t = 0; t < parts.tables.size(); ++t) {
    const auto& [code, deltas, values] = parts.tables[t];
    const bool escapes = code.escape != CodingTable::no_escape;
    const std::size_t coded = code.slots.size() - (escapes ? 1 : 0);
    const bool delta = needed == 1 || t == 0, value = needed == 1 || t == 1;
    const int raw_words = (delta ? 1 : 0) + (value ? static_cast<int>(sizeof(T)) / 4 : 0);
    if (deltas.size() != (delta ? coded : 0) || values.size() != (value ? coded : 0) ||
        (escapes && code.escape != coded) || code.raw_words != raw_words)
      refuse(fmt::format("table {}: {} deltas and {} values for {} symbols", t, deltas.size(),
                         values.size(), coded));
  }
}

template <class T>
void check_layout(const CompressedParts<T>& parts) {
  const std::int64_t per_slice = parts.plan.rows_per_slice();
  const std::int64_t slices = (parts.rows + per_slice - 1) / per_slice;
  if (std::ssize(parts.slice_offsets) != slices + 1)
    refuse(fmt::format("{} slice offsets for {} slices", parts.slice_offsets.size(), slices));
  if (parts.slice_offsets.front() != 0 || parts.slice_offsets.back() != parts.words.size())
    refuse(fmt::format("slices span words {} to {} of {}", parts.slice_offsets.front(),
                       parts.slice_offsets.back(), parts.words.size()));
  for (std::int64_t s = 0; s < slices; ++s)
    if (parts.slice_offsets[s + 1] < parts.slice_offsets[s])
      refuse(fmt::format("slice {} ends before it begins", s));

  const RowNumbers& lengths = parts.row_lengths;
  if (std::ssize(lengths.bytes()) != parts.rows * lengths.width())
    refuse(fmt::format("{} bytes of row lengths for {} rows", lengths.bytes().size(), parts.rows));
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < parts.rows; ++i) {
    if (lengths[i] > parts.cols)
      refuse(fmt::format("row {} has {} entries in {} columns", i, lengths[i], parts.cols));
    total += lengths[i];
  }
  if (total != parts.nnz)
    refuse(fmt::format("rows have {} entries in all, not {}", total, parts.nnz));
}

}  // namespace

RowNumbers::RowNumbers(std::span<const std::uint32_t> numbers) {
  std::uint32_t least = numbers.empty() ? 0 : numbers[0], most = least;
  for (const std::uint32_t number : numbers) least = std::min(least, number);
  for (const std::uint32_t number : numbers) most = std::max(most, number);
  constant_ = least == most ? most : 0;
  width_ = least == most ? 0 : most < 0x100 ? 1 : most < 0x10000 ? 2 : 4;
  const auto put = [&]<class Number>(Number) {
    bytes_.resize(numbers.size() * sizeof(Number));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto number = static_cast<Number>(numbers[i]);
      std::memcpy(bytes_.data() + i * sizeof number, &number, sizeof number);
    }
  };
  if (width_ == 1) put(std::uint8_t());
  if (width_ == 2) put(std::uint16_t());
  if (width_ == 4) put(std::uint32_t());
}

RowNumbers RowNumbers::lengths(std::span<const std::int64_t> offsets) {
  std::vector<std::uint32_t> lengths(std::max<std::ptrdiff_t>(std::ssize(offsets) - 1, 0));
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
  return RowNumbers(lengths);
}

RowNumbers::RowNumbers(std::int64_t rows, int width, std::uint32_t constant,
                       std::vector<std::uint8_t> bytes)
    : width_(width), constant_(constant), bytes_(std::move(bytes)) {
  if (width != 0 && width != 1 && width != 2 && width != 4)
    refuse(fmt::format("row lengths of {} bytes, they must have 0, 1, 2 or 4", width));
  if (std::ssize(bytes_) != rows * width)
    refuse(fmt::format("{} bytes of row lengths for {} rows of {}", bytes_.size(), rows, width));
}

template <class T>
CompressedMatrix<T>::CompressedMatrix(CompressedParts<T> parts, int threads,
                                      const Progress& progress)
    : parts_(std::move(parts)) {
  check_dimensions(parts_);
  if (!is_stream(parts_.plan.coding)) {
    if (!parts_.tables.empty()) refuse("tables of symbols without streams");
    detail::check_arrays(parts_);
    const detail::ArrayReader<T> reader(parts_);
    for_coded_rows(parts_, threads, progress, [&](std::int64_t begin, std::int64_t end) {
      detail::check_fields(parts_, reader, begin, end);
    });
    detail::check_exceptions(parts_, reader);
    check_pieces(parts_, reader);
    return;
  }
  if (!parts_.arrays.order.order.empty() || !parts_.arrays.patterns.starts.empty() ||
      !parts_.arrays.column_words.empty())
    refuse("arrays besides streams");
  check_tables(parts_);
  check_layout(parts_);
  if (parts_.nnz == 0) {
    if (!parts_.words.empty()) refuse("words without nonzeros");
    return;
  }
  decode_streams(
      *this, threads, [](std::int64_t, std::uint32_t, std::uint32_t, T) {}, progress);
}

template <class T>
std::array<std::int64_t, warp_size> CompressedMatrix<T>::lane_segments(std::int64_t slice) const {
  const auto& [coding, name, geometry, tables] = traits(parts_.plan.coding);
  const std::int64_t l = geometry.l;
  std::array<std::int64_t, warp_size> segments{};
  for (int j = 0; j < warp_size; ++j) {
    std::int64_t crossing = 0;
    for (int i = 0; i < parts_.plan.rows_per_lane; ++i) {
      const std::int64_t row =
          slice * parts_.plan.rows_per_slice() + std::int64_t{warp_size} * i + j;
      if (row >= parts_.rows) break;
      const std::int64_t symbols = std::int64_t{parts_.row_lengths[row]} * tables;
      if (parts_.plan.row_ends == RowEnds::aligned)
        segments[j] += (symbols + l - 1) / l;
      else
        crossing += symbols;
    }
    segments[j] += (crossing + l - 1) / l;
  }
  return segments;
}

template <class T>
StorageBytes CompressedMatrix<T>::storage() const {
  StorageBytes bytes;
  for (const auto& [code, deltas, values] : parts_.tables)
    bytes.symbols += static_cast<std::int64_t>(2 * code.slots.size() + 4 * deltas.size() +
                                               sizeof(T) * values.size());
  const auto& [patterns, columns, values, order, column_words] = parts_.arrays;
  bytes.symbols += static_cast<std::int64_t>(
      4 * (patterns.starts.size() + patterns.offsets.size()) + patterns.negative.size() +
      sizeof(T) * (patterns.values.size() + values.dictionary.size()));
  bytes.payload = static_cast<std::int64_t>(4 * (parts_.words.size() + column_words.size()) +
                                            (8 + sizeof(T)) * values.exceptions.size());
  bytes.row_lengths = std::ssize(parts_.row_lengths.bytes()) +
                      4 * static_cast<std::int64_t>(order.order.size() + order.long_rows.size() +
                                                    order.long_starts.size());
  bytes.offsets = static_cast<std::int64_t>(8 * parts_.slice_offsets.size());
  return bytes;
}

template <class T>
std::vector<std::int64_t> detail::row_offsets(const CompressedParts<T>& parts) {
  std::vector<std::int64_t> offsets(parts.rows + 1, 0);
  if (is_stream(parts.plan.coding)) {
    for (std::int64_t i = 0; i < parts.rows; ++i) offsets[i + 1] = parts.row_lengths[i];
  } else {
    const ArrayReader<T> reader(parts);
    for (std::int64_t v = 0; v < reader.coded_rows(); ++v)
      offsets[reader.row(v) + 1] += reader.length(v);
  }
  for (std::int64_t i = 0; i < parts.rows; ++i) offsets[i + 1] += offsets[i];
  return offsets;
}

template <class T>
void CompressedMatrix<T>::for_each_nonzero(const Visit& visit, int threads) const {
  if (nnz() > 0) decode_all(*this, threads, visit);
}

template <class T>
Csr<T> CompressedMatrix<T>::decode(int threads) const {
  std::vector<std::int64_t> offsets = row_offsets();
  std::vector<std::int32_t> columns(nnz());
  std::vector<T> values(nnz());
  if (nnz() > 0)
    decode_all(*this, threads,
               [&](std::int64_t row, std::uint32_t position, std::uint32_t column, T value) {
                 columns[offsets[row] + position] = static_cast<std::int32_t>(column);
                 values[offsets[row] + position] = value;
               });
  return Csr<T>(rows(), cols(), std::move(offsets), std::move(columns), std::move(values));
}

template std::vector<std::int64_t> detail::row_offsets(const CompressedParts<double>&);
template std::vector<std::int64_t> detail::row_offsets(const CompressedParts<float>&);
template class CompressedMatrix<double>;
template class CompressedMatrix<float>;

}  // namespace tansolve
