// SPDX-License-Identifier: BSD-3-Clause
// From CSR to CSR-dtANS: tables from the histogram, then slice by slice.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/dtans/warp_encoder.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/repeats.hpp>
#include <tansolve/codec/slice_symbols.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tansolve {
namespace {

template <class T>
constexpr int value_words = sizeof(T) / 4;

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

/// About so many nonzeros a task: enough to hide its overhead, few enough to balance.
constexpr std::int64_t task_nonzeros = 1 << 17;

/// Fills words and slice_offsets. Tasks of neighbouring slices are encoded on their own, and then
/// put one behind the other.
template <class T, Geometry G, int tables>
void encode_streams(const Survey<T>& survey, const Progress& progress, CompressedParts<T>& parts) {
  const std::int64_t slices = std::ssize(parts.slice_offsets) - 1;
  const std::int64_t per_task =
      std::clamp<std::int64_t>(task_nonzeros * slices / parts.nnz, 1, slices);
  const std::int64_t tasks = (slices + per_task - 1) / per_task;
  const auto end_of = [&](std::int64_t task) { return std::min((task + 1) * per_task, slices); };
  const auto first_row = [&](std::int64_t slice) {
    return std::min(slice * parts.plan.rows_per_slice(), parts.rows);
  };

  std::vector<CodingTable> codes;
  for (const auto& table : parts.tables) codes.push_back(table.code);
  const detail::SymbolFinder<T, tables> finder(parts.tables);
  const std::int64_t distance = detail::repeat_distance(survey.source());
  std::vector<std::vector<std::uint32_t>> words(tasks);
  detail::parallel_tasks(
      survey.threads(), tasks,
      [&](std::int64_t t) {
        RowBuffer<T> buffer;
        const RowBlock<T> rows =
            survey.source().block(first_row(t * per_task), first_row(end_of(t)), buffer);
        detail::SliceSymbols<T, G, tables> symbols(rows, parts.plan, finder, distance);
        detail::WarpEncoder<G, tables> encoder(codes);
        for (std::int64_t s = t * per_task; s < end_of(t); ++s) {
          encoder.encode(symbols.fill(s), words[t]);
          parts.slice_offsets[s + 1] = words[t].size();
        }
        words[t].shrink_to_fit();
      },
      progress);

  std::vector<std::uint64_t> firsts(tasks + 1, 0);
  for (std::int64_t t = 0; t < tasks; ++t) firsts[t + 1] = firsts[t] + words[t].size();
  parts.words.resize(firsts[tasks]);
  detail::parallel_tasks(survey.threads(), tasks, [&](std::int64_t t) {
    std::copy(words[t].begin(), words[t].end(),
              parts.words.begin() + static_cast<std::ptrdiff_t>(firsts[t]));
    words[t] = {};
    for (std::int64_t s = t * per_task; s < end_of(t); ++s) parts.slice_offsets[s + 1] += firsts[t];
  });
}

template <class T>
void encode_streams(const Survey<T>& survey, const Progress& progress, CompressedParts<T>& parts) {
  switch (parts.plan.coding) {
    case Coding::paper:
      return encode_streams<T, wide_geometry, 2>(survey, progress, parts);
    case Coding::joint:
      return encode_streams<T, wide_geometry, 1>(survey, progress, parts);
    case Coding::byte:
      return encode_streams<T, byte_geometry, 1>(survey, progress, parts);
    case Coding::fixed8:
      return encode_streams<T, fixed8_geometry, 1>(survey, progress, parts);
    case Coding::fixed12:
      return encode_streams<T, fixed12_geometry, 1>(survey, progress, parts);
    case Coding::fixed16:
      return encode_streams<T, fixed16_geometry, 1>(survey, progress, parts);
    case Coding::patterns:
    case Coding::shapes:
    case Coding::packed:
      break;
  }
}

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
CompressedMatrix<T> encode(Survey<T>& survey, const Plan& plan, const Progress& progress) {
  if (plan.rows_per_lane < 1 || plan.rows_per_lane > max_rows_per_lane)
    throw Error(ErrorCode::invalid_argument, fmt::format("rows per lane: {} is not within 1 to {}",
                                                         plan.rows_per_lane, max_rows_per_lane));
  CompressedParts<T> parts;
  parts.rows = survey.source().rows();
  parts.cols = survey.source().cols();
  parts.nnz = survey.source().nnz();
  parts.plan = plan;
  if (!is_stream(plan.coding)) {
    parts.plan = {.coding = plan.coding};
    detail::encode_arrays(survey, progress, parts);
    return detail::Trusted::matrix(std::move(parts));
  }
  parts.tables = build_tables<T>(survey.histogram(), plan.coding);
  if (parts.nnz > 0 && parts.tables.empty())
    throw Error(ErrorCode::bad_input,
                "encode: the histogram is of another matrix, without entries");
  parts.row_lengths = RowNumbers::lengths(survey.source().offsets());

  const std::int64_t per_slice = plan.rows_per_slice();
  const std::int64_t slices = (parts.rows + per_slice - 1) / per_slice;
  parts.slice_offsets.assign(slices + 1, 0);
  if (parts.nnz > 0) encode_streams(survey, progress, parts);
  return detail::Trusted::matrix(std::move(parts));
}

template <class T>
CompressedMatrix<T> encode(const Csr<T>& matrix, const Plan& plan, const Histogram& histogram,
                           const EncodeOptions& options) {
  const CsrRows<T> rows(matrix);
  Survey<T> survey(rows, options.threads, histogram);
  return encode(survey, plan, options.progress);
}

#define TANSOLVE_INSTANTIATE(T)                                                     \
  template CompressedMatrix<T> encode(Survey<T>&, const Plan&, const Progress&);    \
  template CompressedMatrix<T> encode(const Csr<T>&, const Plan&, const Histogram&, \
                                      const EncodeOptions&);                        \
  template std::vector<SymbolTable<T>> build_tables(const Histogram&, Coding);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
