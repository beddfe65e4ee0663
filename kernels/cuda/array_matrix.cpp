// SPDX-License-Identifier: BSD-3-Clause
// Lays a matrix without streams out for the kernels and sends it to the GPU.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/array_matrix.hpp>
#include <tansolve/kernels/cuda/device_layout.hpp>
#include <tansolve/kernels/cuda/product_vectors.hpp>
#include <tansolve/kernels/cuda/slice_schedule.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tansolve::detail {
namespace {

/// What kernels keep in shared memory where it fits.
struct Tables {
  std::vector<std::byte> bytes;

  /// Appends the elements, 16-byte aligned; returns where.
  template <class E>
  int add(std::span<const E> elements) {
    const std::size_t at = bytes.size();
    if (at + elements.size_bytes() + 16 > std::numeric_limits<int>::max())
      throw Error(ErrorCode::not_supported,
                  "matrix of patterns: more than 2 GiB of them, too many for the GPU's kernels");
    const auto more = std::as_bytes(elements);
    bytes.insert(bytes.end(), more.begin(), more.end());
    bytes.insert(bytes.end(), rounded_up(more.size(), 16) - more.size(), std::byte{});
    return static_cast<int>(at);
  }
};

template <class T>
void add_patterns(const RowPatterns<T>& patterns, Tables& tables, ArrayMatrixView<T>& view) {
  const PatternBases bases = find_bases(patterns);
  std::vector<PatternEntry<T>> entries;
  for (const std::uint32_t e : bases.entries) {
    PatternEntry<T>& entry = entries.emplace_back();
    entry.value = patterns.values[e];
    entry.offset = static_cast<std::int32_t>(patterns.offsets[e]);
  }
  // Beside a lane with a longer pattern, another reads on beyond the end of its own.
  std::uint32_t longest = 0;
  for (const PatternInfo& info : bases.patterns) longest = std::max(longest, info.length);
  entries.resize(entries.size() + rounded_up(longest, warp_size));
  view.finite = std::all_of(patterns.values.begin(), patterns.values.end(),
                            [](T value) { return std::isfinite(value); });
  tables.add<PatternInfo>(bases.patterns);
  view.masks_at = tables.add<std::uint32_t>(bases.masks);
  view.entries_at = tables.add<PatternEntry<T>>(entries);
}

template <class T>
void add_shapes(const RowPatterns<T>& patterns, Tables& tables, ArrayMatrixView<T>& view) {
  std::vector<PatternInfo> infos;
  for (std::uint32_t p = 0; p < patterns.count(); ++p)
    infos.push_back({patterns.starts[p], patterns.length(p), 0, 0});
  std::vector<ShapeEntry> entries;
  for (std::size_t e = 0; e < patterns.offsets.size(); ++e)
    entries.push_back({static_cast<std::int32_t>(patterns.offsets[e]),
                       patterns.negative.empty() ? 0u : std::uint32_t{patterns.negative[e]} << 31});
  tables.add<PatternInfo>(infos);
  view.masks_at = static_cast<int>(tables.bytes.size());
  view.entries_at = tables.add<ShapeEntry>(entries);
}

/// The multiple of 32 rows after which patterns repeat most: a lane's rows, so far apart, then
/// share their look-ups. 3 suits three unknowns a point; even numbers of them repeat after 32
/// anyway.
int best_stride(const RowNumbers& numbers, std::int64_t rows) {
  constexpr std::int64_t sample = 4096;
  const std::int64_t step = rows / sample | 1;
  std::int64_t same1 = 0, same3 = 0;
  for (std::int64_t i = 0; i + 3 * warp_size < rows; i += step) {
    same1 += numbers[i] == numbers[i + warp_size] ? 1 : 0;
    same3 += numbers[i] == numbers[i + 3 * warp_size] ? 1 : 0;
  }
  return same3 > same1 + same1 / 4 ? 3 * warp_size : warp_size;
}

}  // namespace

void DevicePlanes::place() {
  const auto* at = reinterpret_cast<const std::byte*>(words);
  const auto take = [&](int bytes) {
    const std::byte* plane = at;
    if ((bits & 8 * bytes) != 0) at += std::size_t{warp_size} * bytes * entries;
    return plane;
  };
  low = bits == 64 ? take(8) : take(4);
  middle = take(2);
  high = take(1);
  single = reinterpret_cast<const std::uint32_t*>(at);
}

template <class T>
ArrayMatrix<T>::ArrayMatrix(Context<Cuda>& context, const CompressedMatrix<T>& matrix)
    : context_(&context) {
  const CompressedParts<T>& parts = matrix.parts();
  const auto& [patterns, columns, values, order, column_words] = parts.arrays;
  if (!parts.slice_offsets.empty() &&
      parts.slice_offsets.back() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCode::not_supported,
                "packed matrix: more than 2^32 entries a lane, too many for the GPU's kernels");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (order.coded_rows(parts.rows) > most || order.pieces() > most ||
      std::ssize(values.exceptions) > most)
    throw Error(ErrorCode::not_supported,
                "packed matrix: more than 2^31 rows, pieces or exceptions, too many for the GPU's "
                "kernels");
  view_.rows = static_cast<std::uint32_t>(parts.rows);
  view_.coded_rows = static_cast<std::uint32_t>(order.coded_rows(parts.rows));
  view_.number_width = parts.row_lengths.width();
  view_.constant_number = parts.row_lengths.constant();
  if (parts.plan.coding == Coding::patterns)
    view_.row_stride = best_stride(parts.row_lengths, parts.rows);
  view_.columns.bits = columns.bits;
  view_.values.bits = values.bits;
  view_.columns.entries = view_.values.entries =
      parts.slice_offsets.empty() ? 0 : static_cast<std::uint32_t>(parts.slice_offsets.back());
  view_.first_column = columns.first;
  view_.relative = columns.relative;
  view_.sign = values.sign;
  view_.shift = values.shift;
  view_.least = values.least;
  view_.dictionary = !values.dictionary.empty();
  view_.exceptions = static_cast<std::uint32_t>(values.exceptions.size());
  view_.long_rows = static_cast<std::uint32_t>(order.long_rows.size());
  view_.piece_count = static_cast<std::uint32_t>(order.pieces());

  Tables tables;
  if (parts.plan.coding == Coding::patterns)
    add_patterns(patterns, tables, view_);
  else if (parts.plan.coding == Coding::shapes)
    add_shapes(patterns, tables, view_);
  view_.dictionary_at = tables.add<T>(values.dictionary);
  view_.table_bytes = static_cast<int>(tables.bytes.size());

  const std::vector<std::uint32_t> offsets(parts.slice_offsets.begin(), parts.slice_offsets.end());
  std::vector<std::uint32_t> schedule;
  if (parts.plan.coding == Coding::packed)
    schedule = balanced_schedule(
        offsets, {context.properties().multiprocessors, packed_threads / warp_size});
  view_.slices = static_cast<std::uint32_t>(std::max<std::int64_t>(std::ssize(offsets) - 1, 0));
  view_.positions = schedule.empty() ? view_.slices : static_cast<std::uint32_t>(schedule.size());
  DeviceLayout layout;
  layout.add<std::uint32_t>(parts.words, view_.values.words);
  layout.add<std::uint32_t>(column_words, view_.columns.words);
  layout.add<std::uint32_t>(offsets, view_.slice_offsets);
  layout.add<std::uint32_t>(schedule, view_.schedule);
  layout.add<std::uint8_t>(parts.row_lengths.bytes(), view_.numbers);
  layout.add<std::byte>(tables.bytes, view_.tables);
  layout.add<std::uint64_t>(values.exception_places, view_.exception_places);
  layout.add<T>(values.exceptions, view_.exception_values);
  layout.add<std::uint32_t>(order.order, view_.order);
  layout.add<std::uint32_t>(order.long_rows, view_.long_row);
  layout.add<std::uint32_t>(order.long_starts, view_.long_starts);
  layout.reserve<T>(most_block_columns * order.pieces(), view_.pieces);
  bytes_ = static_cast<std::int64_t>(layout.bytes());
  memory_ = layout.send(context);
  view_.columns.place();
  view_.values.place();
  if (schedule.empty()) view_.schedule = nullptr;
  if (order.order.empty()) view_.order = nullptr;
}

template class ArrayMatrix<double>;
template class ArrayMatrix<float>;

}  // namespace tansolve::detail
