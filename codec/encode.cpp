// SPDX-License-Identifier: BSD-3-Clause
// From CSR to CSR-dtANS: tables from the histogram, then slice by slice.
#include <tansolve/codec/dtans/warp_encoder.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/pair_map.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tansolve {
namespace {

template <class T>
constexpr int value_words = sizeof(T) / 4;

template <class T>
void put_value(T value, std::vector<std::uint32_t>& raw) {
  const std::uint64_t bits = value_bits(value);
  raw.push_back(static_cast<std::uint32_t>(bits));
  if constexpr (value_words<T> == 2) raw.push_back(static_cast<std::uint32_t>(bits >> 32));
}

/// Which part of a pair a table codes.
struct Half {
  bool delta;
  bool value;
};

Half half_of(Coding coding, int table) {
  if (traits(coding).tables == 1) return {true, true};
  return {table == 0, table == 1};
}

template <class T>
SymbolTable<T> build_table(const std::vector<PairCount>& counted, std::uint64_t total, Half half,
                           const Geometry& geometry) {
  const int raw_words = (half.delta ? 1 : 0) + (half.value ? value_words<T> : 0);
  const std::size_t most = std::min<std::size_t>(counted.size(), geometry.slots());
  std::vector<std::uint64_t> counts(most);
  for (std::size_t s = 0; s < most; ++s) counts[s] = counted[s].count;

  const std::size_t coded = choose_coded_symbols(counts, total, geometry, 32 * raw_words);
  std::uint64_t escaped = total;
  for (std::size_t s = 0; s < coded; ++s) escaped -= counts[s];
  counts.resize(coded);
  if (escaped > 0) counts.push_back(escaped);

  SymbolTable<T> table;
  table.code = CodingTable(allocate_slots(counts, geometry),
                           escaped > 0 ? static_cast<std::uint32_t>(coded) : CodingTable::no_escape,
                           raw_words, geometry);
  for (std::size_t s = 0; s < coded; ++s) {
    if (half.delta) table.deltas.push_back(counted[s].delta);
    if (half.value) table.values.push_back(value_of_bits<T>(counted[s].value));
  }
  return table;
}

/// From what a nonzero holds to its symbols: the inverse of the tables.
template <class T>
class SymbolFinder {
 public:
  SymbolFinder(const std::vector<SymbolTable<T>>& tables) : tables_(tables), maps_(tables.size()) {
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const auto& [code, deltas, values] = tables[t];
      for (std::size_t s = 0; s < std::max(deltas.size(), values.size()); ++s)
        maps_[t].at(deltas.empty() ? 0 : deltas[s], values.empty() ? 0 : value_bits(values[s])) =
            s + 1;
    }
  }

  /// Appends the symbols of a nonzero to a lane, and the raw words of those that escape.
  void append(std::uint32_t delta, T value, detail::LaneSymbols& lane) const {
    const std::uint64_t bits = value_bits(value);
    if (maps_.size() == 1) {
      if (const std::uint64_t number = maps_[0].find(delta, bits); number != 0) {
        lane.symbols.push_back(static_cast<std::uint32_t>(number - 1));
        return;
      }
      lane.symbols.push_back(escape_of(0));
      lane.raw.push_back(delta);
      put_value(value, lane.raw);
      return;
    }
    const std::uint64_t of_delta = maps_[0].find(delta, 0), of_value = maps_[1].find(0, bits);
    lane.symbols.push_back(of_delta != 0 ? static_cast<std::uint32_t>(of_delta - 1) : escape_of(0));
    lane.symbols.push_back(of_value != 0 ? static_cast<std::uint32_t>(of_value - 1) : escape_of(1));
    if (of_delta == 0) lane.raw.push_back(delta);
    if (of_value == 0) put_value(value, lane.raw);
  }

 private:
  /// A histogram that was sampled may miss a pair although its own pairs all found slots.
  std::uint32_t escape_of(int table) const {
    const std::uint32_t escape = tables_[table].code.escape;
    if (escape == CodingTable::no_escape)
      throw Error(ErrorCode::invalid_argument, "encode: the histogram is not of this matrix");
    return escape;
  }

  const std::vector<SymbolTable<T>>& tables_;
  std::vector<detail::PairMap> maps_;
};

template <class T>
void fill_lane(const Csr<T>& matrix, const Plan& plan, const SymbolFinder<T>& finder,
               const std::vector<SymbolTable<T>>& tables, std::int64_t first_row,
               detail::LaneSymbols& lane) {
  const auto offsets = matrix.offsets();
  const auto columns = matrix.columns();
  const auto values = matrix.values();
  const std::size_t l = traits(plan.coding).geometry.l;
  const auto pad = [&] {
    while (lane.symbols.size() % l != 0)
      lane.symbols.push_back(tables[lane.symbols.size() % tables.size()].code.padding);
  };
  lane.clear();
  for (int i = 0; i < plan.rows_per_lane; ++i) {
    const std::int64_t row = first_row + std::int64_t{warp_size} * i;
    if (row >= matrix.rows()) break;
    auto previous = static_cast<std::uint32_t>(row);
    for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
      const auto column = static_cast<std::uint32_t>(columns[k]);
      finder.append(column - previous, values[k], lane);
      previous = column;
    }
    if (plan.row_ends == RowEnds::aligned) pad();
  }
  pad();
}

/// Encodes slices [begin, end) one behind the other; offsets[s - begin] is where slice s ends.
template <class T, Geometry G, int tables>
void encode_slices(const Csr<T>& matrix, const Plan& plan, const SymbolFinder<T>& finder,
                   const std::vector<SymbolTable<T>>& symbol_tables, std::int64_t begin,
                   std::int64_t end, std::vector<std::uint32_t>& words, std::uint64_t* ends) {
  std::vector<CodingTable> codes;
  for (const auto& table : symbol_tables) codes.push_back(table.code);
  detail::WarpEncoder<G, tables> encoder(codes);
  std::array<detail::LaneSymbols, warp_size> lanes;
  for (std::int64_t s = begin; s < end; ++s) {
    for (int j = 0; j < warp_size; ++j)
      fill_lane(matrix, plan, finder, symbol_tables, s * plan.rows_per_slice() + j, lanes[j]);
    encoder.encode(lanes, words);
    ends[s - begin] = words.size();
  }
}

template <class T, class... Args>
void dispatch_slices(Coding coding, Args&&... args) {
  switch (coding) {
    case Coding::paper:
      return encode_slices<T, wide_geometry, 2>(args...);
    case Coding::joint:
      return encode_slices<T, wide_geometry, 1>(args...);
    case Coding::byte:
      return encode_slices<T, byte_geometry, 1>(args...);
    case Coding::fixed8:
      return encode_slices<T, fixed8_geometry, 1>(args...);
    case Coding::fixed12:
      return encode_slices<T, fixed12_geometry, 1>(args...);
    case Coding::fixed16:
      return encode_slices<T, fixed16_geometry, 1>(args...);
  }
}

/// About so many nonzeros a task: enough to hide its overhead, few enough to balance.
constexpr std::int64_t task_nonzeros = 1 << 17;

}  // namespace

template <class T>
std::vector<SymbolTable<T>> build_tables(const Histogram& histogram, Coding coding) {
  std::vector<SymbolTable<T>> tables;
  for (int t = 0; t < traits(coding).tables && histogram.total > 0; ++t) {
    const Half half = half_of(coding, t);
    const auto& counts = half.delta && half.value ? histogram.pairs
                         : half.delta             ? histogram.deltas
                                                  : histogram.values;
    // A sample misses pairs: one more makes sure that there is an escape for them.
    const std::uint64_t total = histogram.total + (histogram.sampled ? 1 : 0);
    tables.push_back(build_table<T>(counts, total, half, traits(coding).geometry));
  }
  return tables;
}

template <class T>
CompressedMatrix<T> encode(const Csr<T>& matrix, const Plan& plan, const Histogram& histogram,
                           const EncodeOptions& options) {
  if (plan.rows_per_lane < 1 || plan.rows_per_lane > max_rows_per_lane)
    throw Error(ErrorCode::invalid_argument, fmt::format("rows per lane: {} is not within 1 to {}",
                                                         plan.rows_per_lane, max_rows_per_lane));
  CompressedParts<T> parts;
  parts.rows = matrix.rows();
  parts.cols = matrix.cols();
  parts.nnz = matrix.nnz();
  parts.plan = plan;
  parts.tables = build_tables<T>(histogram, plan.coding);
  if (parts.nnz > 0 && parts.tables.empty())
    throw Error(ErrorCode::invalid_argument, "encode: the histogram is not of this matrix");
  parts.row_lengths = RowLengths(matrix.offsets());

  const std::int64_t per_slice = plan.rows_per_slice();
  const std::int64_t slices = (matrix.rows() + per_slice - 1) / per_slice;
  parts.slice_offsets.assign(slices + 1, 0);
  if (parts.nnz == 0) return detail::Trusted::matrix(std::move(parts));

  const std::int64_t per_task =
      std::clamp<std::int64_t>(task_nonzeros * slices / matrix.nnz(), 1, slices);
  const std::int64_t tasks = (slices + per_task - 1) / per_task;
  const SymbolFinder<T> finder(parts.tables);
  std::vector<std::vector<std::uint32_t>> words(tasks);
  detail::parallel_tasks(
      options.threads, tasks,
      [&](std::int64_t t) {
        const std::int64_t begin = t * per_task, end = std::min(begin + per_task, slices);
        dispatch_slices<T>(plan.coding, matrix, plan, finder, parts.tables, begin, end, words[t],
                           &parts.slice_offsets[begin + 1]);
        words[t].shrink_to_fit();
      },
      options.progress);

  std::vector<std::uint64_t> firsts(tasks + 1, 0);
  for (std::int64_t t = 0; t < tasks; ++t) firsts[t + 1] = firsts[t] + words[t].size();
  parts.words.resize(firsts[tasks]);
  detail::parallel_tasks(options.threads, tasks, [&](std::int64_t t) {
    std::copy(words[t].begin(), words[t].end(),
              parts.words.begin() + static_cast<std::ptrdiff_t>(firsts[t]));
    words[t] = {};
    for (std::int64_t s = t * per_task; s < std::min((t + 1) * per_task, slices); ++s)
      parts.slice_offsets[s + 1] += firsts[t];
  });
  return detail::Trusted::matrix(std::move(parts));
}

#define TANSOLVE_INSTANTIATE(T)                                                     \
  template CompressedMatrix<T> encode(const Csr<T>&, const Plan&, const Histogram&, \
                                      const EncodeOptions&);                        \
  template std::vector<SymbolTable<T>> build_tables(const Histogram&, Coding);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
