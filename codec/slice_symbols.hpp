// SPDX-License-Identifier: BSD-3-Clause
// The rows of a slice as the symbols of its lanes: what the coder is given.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/dtans/warp_encoder.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/pair_map.hpp>
#include <tansolve/codec/repeats.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tansolve::detail {

template <class T>
void put_value(T value, std::vector<std::uint32_t>& raw) {
  const std::uint64_t bits = value_bits(value);
  raw.push_back(static_cast<std::uint32_t>(bits));
  if constexpr (sizeof(T) == 8) raw.push_back(static_cast<std::uint32_t>(bits >> 32));
}

/// From what nonzeros hold to their symbols: the inverse of the tables.
template <class T, int tables>
class SymbolFinder {
 public:
  explicit SymbolFinder(const std::vector<SymbolTable<T>>& symbol_tables) : tables_(symbol_tables) {
    for (int t = 0; t < tables; ++t) {
      const auto& [code, deltas, values] = tables_[t];
      for (std::size_t s = 0; s < std::max(deltas.size(), values.size()); ++s)
        ++maps_[t].count(deltas.empty() ? 0 : deltas[s],
                         values.empty() ? 0 : value_bits(values[s]));
    }
  }

  /// Appends the symbols of a row to a lane, and the raw words of those that escape.
  void append(const RowBlock<T>& rows, std::int64_t row, LaneSymbols& lane) const {
    const std::int64_t length = rows.row_nnz(row);
    const std::int32_t* columns = rows.columns(row);
    const T* values = rows.values(row);
    const std::size_t before = lane.symbols.size();
    lane.symbols.resize(before + length * tables);
    std::uint32_t* symbols = lane.symbols.data() + before;
    auto previous = static_cast<std::uint32_t>(row);
    for (std::int64_t k = 0; k < length; ++k) {
      const auto column = static_cast<std::uint32_t>(columns[k]);
      const std::uint32_t delta = column - previous;
      previous = column;
      if constexpr (tables == 1) {
        const std::uint32_t number = maps_[0].find(delta, value_bits(values[k]));
        symbols[k] = symbol<0>(number, delta, values[k], lane.raw);
      } else {
        const std::uint32_t of_delta = maps_[0].find(delta, 0);
        const std::uint32_t of_value = maps_[1].find(0, value_bits(values[k]));
        symbols[2 * k] = symbol<0>(of_delta, delta, values[k], lane.raw);
        symbols[2 * k + 1] = symbol<1>(of_value, delta, values[k], lane.raw);
      }
    }
  }

  std::uint32_t padding(std::size_t position) const {
    return tables_[position % tables].code.padding;
  }

 private:
  template <int table>
  std::uint32_t symbol(std::uint32_t number, std::uint32_t delta, T value,
                       std::vector<std::uint32_t>& raw) const {
    if (number != 0) return number - 1;
    if (tables == 1 || table == 0) raw.push_back(delta);
    if (tables == 1 || table == 1) put_value(value, raw);
    const std::uint32_t escape = tables_[table].code.escape;
    if (escape == CodingTable::no_escape)
      throw Error(ErrorCode::bad_input,
                  "encode: a pair that was not there when pairs were counted: the histogram is of "
                  "another matrix, or the source of the rows gave others before");
    return escape;
  }

  const std::vector<SymbolTable<T>>& tables_;
  std::array<PairMap, tables> maps_;
};

/// Fills one slice after the other of a block of rows with symbols.
template <class T, Geometry G, int tables>
class SliceSymbols {
 public:
  SliceSymbols(const RowBlock<T>& rows, const Plan& plan, const SymbolFinder<T, tables>& finder,
               std::int64_t distance)
      : rows_(rows), plan_(plan), finder_(finder), distance_(distance) {}

  const std::array<LaneSymbols, warp_size>& fill(std::int64_t slice) {
    for (int j = 0; j < warp_size; ++j) fill_lane(slice * plan_.rows_per_slice() + j, j);
    return lanes_;
  }

 private:
  /// Where the symbols of a row end in its lane, padding included.
  struct End {
    std::size_t symbols;
    std::size_t raw;
  };

  void fill_lane(std::int64_t first_row, int j) {
    const int earlier = distance_ > 0 && j >= distance_ ? j - static_cast<int>(distance_) : -1;
    LaneSymbols& lane = lanes_[j];
    lane.symbols.clear();
    lane.raw.clear();
    ends_[j].clear();
    bool repeats = earlier >= 0;
    for (int i = 0; i < plan_.rows_per_lane; ++i) {
      const std::int64_t row = first_row + std::int64_t{warp_size} * i;
      if (row >= rows_.end()) {
        repeats = repeats && row - distance_ >= rows_.end();
        break;
      }
      if (earlier >= 0 && same_pairs(rows_, row, row - distance_)) {
        append_row(lanes_[earlier], ends_[earlier], i, lane);
      } else {
        repeats = false;
        finder_.append(rows_, row, lane);
        if (plan_.row_ends == RowEnds::aligned) pad(lane);
      }
      ends_[j].push_back({lane.symbols.size(), lane.raw.size()});
    }
    pad(lane);
    lane.twin = repeats ? earlier : -1;
  }

  /// Row i of another lane.
  static void append_row(const LaneSymbols& from, const std::vector<End>& ends, int i,
                         LaneSymbols& to) {
    const End begin = i == 0 ? End{0, 0} : ends[i - 1], end = ends[i];
    const auto part = [](const std::vector<std::uint32_t>& all, std::size_t first, std::size_t last,
                         std::vector<std::uint32_t>& target) {
      target.insert(target.end(), all.data() + first, all.data() + last);
    };
    part(from.symbols, begin.symbols, end.symbols, to.symbols);
    part(from.raw, begin.raw, end.raw, to.raw);
  }

  void pad(LaneSymbols& lane) const {
    while (lane.symbols.size() % G.l != 0)
      lane.symbols.push_back(finder_.padding(lane.symbols.size()));
  }

  const RowBlock<T>& rows_;
  const Plan& plan_;
  const SymbolFinder<T, tables>& finder_;
  const std::int64_t distance_;
  std::array<LaneSymbols, warp_size> lanes_;
  std::array<std::vector<End>, warp_size> ends_;
};

}  // namespace tansolve::detail
