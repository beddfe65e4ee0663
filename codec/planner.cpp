// SPDX-License-Identifier: BSD-3-Clause
// The cost model: bytes from the histogram, time from what was measured.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/array_plans.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/gather.hpp>
#include <tansolve/codec/planner.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tansolve {
namespace {

/// Nanoseconds a nonzero on one core (AMD Zen 2 at about 3 GHz, AVX2): to recover the words of a
/// segment, and to multiply where eight rows go in step and where each goes its own way.
struct HostCost {
  double recover;
  double step;
  double walk;
};
constexpr std::array<HostCost, stream_codings> host_costs = {{
    {7.8, 1.2, 3.3},  // paper
    {4.6, 1.2, 2.9},  // joint
    {2.6, 1.2, 2.9},  // byte
    {0.3, 1.2, 2.3},  // fixed8
    {0.5, 1.3, 2.8},  // fixed12
    {0.5, 1.4, 2.5},  // fixed16
}};
/// What an escape takes longer than a look-up.
constexpr double escape_nanoseconds = 8;
/// Bytes a nanosecond that one core streams from memory, and the least time of a CSR nonzero.
constexpr double core_bandwidth = 9.7;
constexpr double csr_least_nanoseconds = 0.9;

/// Picoseconds on an H200: of a nonzero or padding, by coding (poisson27:128 and fem3:72, within
/// 15 %), of a row and of a lane (poisson7:200 with 1 and 4 rows a lane), of an escape
/// (varcoef7:128 and er:1000000:16, whose gather of x it includes).
constexpr std::array<double, stream_codings> gpu_costs = {2.25, 1.45, 1.35, 1.1, 1.1, 1.4};
constexpr double gpu_row_cost = 1.4, gpu_lane_cost = 3.7, gpu_escape_cost = 3.5;
/// Of a nonzero whose symbol's entry does not lie in shared memory (tile:50:Si5H12), and the bytes
/// that do.
constexpr double gpu_far_entry_cost = 2.1, gpu_shared_entries = 114 << 10;
/// Of a nonzero where some lane of a warp has an escape in most segments, as from one nonzero in so
/// many on (tile:50:Si5H12 by paper, within 25 %).
constexpr double gpu_escapes_cost = 2.5, nonzeros_a_warp_segment = 256;
/// And of an entry of the longest row, which one lane decodes alone (laplacian:ba:2000000:12).
constexpr double gpu_serial_cost = 120'000;
/// Nanoseconds of launching, copying the tables and waiting for the first words (poisson27:20).
constexpr double gpu_least_nanoseconds = 8000;
/// What it streams, the time of a nonzero of cuSPARSE's reproducible CSR product, and bytes of x a
/// nanosecond that it reads from beyond the L1 cache (er:3000000:16).
constexpr double gpu_bandwidth = 4000, gpu_csr_cost = 5, gpu_csr_gather = 3900;

/// Slices that keep a large GPU's warps busy (132 multiprocessors of 32 warps), and threads
/// balanced.
constexpr std::int64_t slices_for_time = 4224, slices_for_memory = 256;
constexpr int most_rows_per_lane = 16;

/// On a GPU rows a lane save time until a lane has some 32 nonzeros; beyond, what neighbours share
/// of x is lost.
int choose_rows_per_lane(std::int64_t rows, std::int64_t nnz, const PlanRequest& request) {
  const bool time = request.objective_or_default() == Objective::time;
  const std::int64_t slices = time ? slices_for_time : slices_for_memory;
  const bool on_gpu = time && request.processor == Processor::gpu;
  int rows_per_lane = 1;
  while (2 * rows_per_lane <= most_rows_per_lane &&
         !(on_gpu && nnz * 2 * rows_per_lane > 32 * rows) &&
         rows / (std::int64_t{2} * rows_per_lane * warp_size) >= slices)
    rows_per_lane *= 2;
  return rows_per_lane;
}

/// Share of the nonzeros in groups of eight consecutive rows that have the same pairs throughout,
/// on a sample of groups.
template <class T>
double share_in_step(const Csr<T>& matrix) {
  constexpr std::int64_t group = 8, sample = 4096;
  const auto offsets = matrix.offsets();
  const auto columns = matrix.columns();
  const auto values = matrix.values();
  const std::int64_t groups = matrix.rows() / group;
  // An odd stride does not keep step with grids, whose sides are powers of two more often than not.
  const std::int64_t stride = groups / sample | 1;
  double all = 0, alike = 0;
  for (std::int64_t g = 0; g < groups; g += stride) {
    const std::int64_t row = g * group, first = offsets[row], length = matrix.row_nnz(row);
    bool same = length > 0;
    for (std::int64_t j = 1; j < group && same; ++j) {
      same = matrix.row_nnz(row + j) == length;
      const std::int64_t other = offsets[row + j];
      for (std::int64_t k = 0; k < length && same; ++k)
        same = columns[other + k] == columns[first + k] + j &&
               value_bits(values[other + k]) == value_bits(values[first + k]);
    }
    const auto nonzeros = static_cast<double>(offsets[row + group] - first);
    all += nonzeros;
    if (same) alike += nonzeros;
  }
  return all == 0 ? 0 : alike / all;
}

/// Coded bits and escapes of one table for all nonzeros.
struct TableCost {
  double bits = 0;
  double escapes = 0;
  double padding_bits = 0;  ///< of one padding symbol
};

template <class T>
TableCost cost_of(const SymbolTable<T>& table, const std::vector<PairCount>& counts, int k,
                  double scale, double total) {
  const auto& slots = table.code.slots;
  const std::size_t coded = std::max(table.deltas.size(), table.values.size());
  TableCost cost;
  double counted = 0;
  for (std::size_t s = 0; s < coded; ++s) {
    const double count = static_cast<double>(counts[s].count) * scale;
    cost.bits += count * (k - std::log2(slots[s]));
    counted += count;
  }
  if (table.code.escape != CodingTable::no_escape) {
    cost.escapes = total - counted;
    cost.bits += cost.escapes * (k - std::log2(slots[coded]) + 32 * table.code.raw_words);
  }
  cost.padding_bits = k - std::log2(slots[table.code.padding]);
  return cost;
}

template <class T>
double padding_symbols(const Csr<T>& matrix, const Plan& plan) {
  const auto& [coding, name, geometry, tables] = traits(plan.coding);
  const auto pad_to_segment = [l = geometry.l](std::int64_t symbols) {
    return -symbols & (l - 1);  // l is a power of two
  };
  std::int64_t padding = 0;
  if (plan.row_ends == RowEnds::aligned) {
    for (std::int64_t i = 0; i < matrix.rows(); ++i)
      padding += pad_to_segment(matrix.row_nnz(i) * tables);
    return static_cast<double>(padding);
  }
  for (std::int64_t base = 0; base < matrix.rows(); base += plan.rows_per_slice())
    for (int j = 0; j < warp_size; ++j) {
      std::int64_t symbols = 0;
      for (int i = 0; i < plan.rows_per_lane; ++i)
        if (const std::int64_t row = base + j + std::int64_t{warp_size} * i; row < matrix.rows())
          symbols += matrix.row_nnz(row) * tables;
      padding += pad_to_segment(symbols);
    }
  return static_cast<double>(padding);
}

template <class T>
Candidate predict(const Csr<T>& matrix, const Histogram& histogram, const Plan& plan,
                  double in_step, double row_length_bytes, Processor processor,
                  const detail::Gather& gather) {
  const auto& [coding, name, geometry, tables] = traits(plan.coding);
  const auto nnz = static_cast<double>(matrix.nnz());
  const double scale = histogram.total == 0 ? 0 : nnz / static_cast<double>(histogram.total);
  const auto symbol_tables = build_tables<T>(histogram, plan.coding);

  Candidate candidate{.plan = plan};
  double bits = 0, padding_bits = 0, entry_bytes = 0;
  for (std::size_t t = 0; t < symbol_tables.size(); ++t) {
    const auto& counts = tables == 1 ? histogram.pairs
                         : t == 0    ? histogram.deltas
                                     : histogram.values;
    const TableCost cost = cost_of(symbol_tables[t], counts, geometry.k, scale, nnz);
    bits += cost.bits;
    candidate.escapes += cost.escapes;
    padding_bits += cost.padding_bits / tables;
    entry_bytes += 2 * sizeof(T) * static_cast<double>(symbol_tables[t].values.size());
    candidate.bytes += static_cast<double>(2 * symbol_tables[t].code.slots.size() +
                                           4 * symbol_tables[t].deltas.size() +
                                           sizeof(T) * symbol_tables[t].values.size());
  }
  const double padding = padding_symbols(matrix, plan);
  bits += padding * padding_bits;
  // A lane loses the digits of its last segment, k bits a symbol being read there, and what the
  // checks before leave in r: half a word, or all when it never fills one.
  const double lanes = std::ceil(static_cast<double>(matrix.rows()) / plan.rows_per_lane);
  const double symbols = nnz * tables + padding;
  if (geometry.f > 0 && nnz > 0) {
    const double segment_digits = std::max(0.0, geometry.l * (geometry.k - bits / symbols));
    const double before_last = segment_digits * std::max(0.0, symbols / lanes / geometry.l - 1);
    bits += lanes * (segment_digits + (before_last < 32 ? before_last : 16));
  }
  candidate.bytes += bits / 8 + lanes / warp_size * 8 + row_length_bytes;

  if (processor == Processor::gpu) {
    const auto rows = static_cast<double>(matrix.rows());
    // Lanes wait for the longest row of their warp.
    const double lanes_padding = detail::padded_share(matrix);
    const double picoseconds =
        (gpu_costs[static_cast<std::size_t>(plan.coding)] +
         (entry_bytes > gpu_shared_entries ? gpu_far_entry_cost : 0)) *
            (nnz + padding / tables) * lanes_padding +
        gpu_escapes_cost * std::min(nnz, nonzeros_a_warp_segment * candidate.escapes) +
        gpu_row_cost * rows + gpu_lane_cost * lanes + gpu_escape_cost * candidate.escapes;
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < matrix.rows(); ++i) longest = std::max(longest, matrix.row_nnz(i));
    const auto longest_row = static_cast<double>(longest);
    const double vectors = 2 * static_cast<double>(sizeof(T)) * rows;
    // What the gather of x takes beyond that of a stencil, three lines a load, which is in the
    // costs.
    const double scattered = detail::gather_nanoseconds(gather) -
                             detail::gather_nanoseconds({.lines = 3 * nnz / warp_size});
    candidate.nanoseconds = std::max(
        {picoseconds * 1e-3 + std::max(scattered, 0.0), longest_row * gpu_serial_cost * 1e-3,
         (candidate.bytes + vectors) / gpu_bandwidth, gpu_least_nanoseconds});
    return candidate;
  }
  const HostCost& cost = host_costs[static_cast<std::size_t>(plan.coding)];
  candidate.nanoseconds =
      std::max(candidate.bytes / core_bandwidth,
               nnz * (cost.recover + in_step * cost.step + (1 - in_step) * cost.walk) +
                   candidate.escapes * escape_nanoseconds);
  return candidate;
}

const char* time_unit(const PlanRequest& request) {
  return request.processor == Processor::gpu ? "ms a product on an H200"
                                             : "ms a product on one core";
}

std::string reason_for(const PlanChoice& choice, const PlanRequest& request) {
  const CodingTraits& coding = traits(choice.chosen.plan.coding);
  if (request.coding) return fmt::format("{} was asked for", coding.name);
  const bool time = request.objective_or_default() == Objective::time;
  return fmt::format("{} is predicted to take the {}: {:.3g} {} against {:.3g} of CSR", coding.name,
                     time ? "least time" : "fewest bytes",
                     time ? choice.chosen.nanoseconds * 1e-6 : choice.chosen.bytes * 1e-6,
                     time ? time_unit(request) : "MB",
                     time ? choice.csr_nanoseconds * 1e-6 : choice.csr_bytes * 1e-6);
}

}  // namespace

template <class T>
PlanChoice choose_plan(const Csr<T>& matrix, const Histogram& histogram,
                       const PlanRequest& request) {
  if (request.rows_per_lane &&
      (*request.rows_per_lane < 1 || *request.rows_per_lane > max_rows_per_lane))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows per lane: {} is not within 1 to {}", *request.rows_per_lane,
                            max_rows_per_lane));
  const bool time = request.objective_or_default() == Objective::time;
  const double in_step = share_in_step(matrix);
  const auto row_length_bytes =
      static_cast<double>(RowNumbers::lengths(matrix.offsets()).bytes().size());
  const detail::Gather gather =
      request.processor == Processor::gpu ? detail::estimate_gather(matrix) : detail::Gather();
  PlanChoice choice;
  for (const CodingTraits& coding : all_codings) {
    if (request.coding && *request.coding != coding.coding) continue;
    if (!is_stream(coding.coding)) {
      if (request.rows_per_lane || request.row_ends) {
        if (!request.coding) continue;
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("plan: {} has no streams, hence neither rows a lane nor row ends",
                                coding.name));
      }
      if (const auto candidate = detail::predict_arrays(
              matrix, coding.coding, request.coding.has_value(), request.processor, gather))
        choice.considered.push_back(*candidate);
      continue;
    }
    const Plan plan = {
        .coding = coding.coding,
        .rows_per_lane = request.rows_per_lane.value_or(
            choose_rows_per_lane(matrix.rows(), matrix.nnz(), request)),
        .row_ends = request.row_ends.value_or(time ? RowEnds::aligned : RowEnds::crossing)};
    choice.considered.push_back(
        predict(matrix, histogram, plan, in_step, row_length_bytes, request.processor, gather));
  }
  std::stable_sort(choice.considered.begin(), choice.considered.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     return time ? a.nanoseconds < b.nanoseconds : a.bytes < b.bytes;
                   });
  choice.chosen = choice.considered.front();
  choice.csr_bytes = static_cast<double>(standard_bytes(matrix).csr);
  const auto nnz = static_cast<double>(matrix.nnz());
  choice.csr_nanoseconds =
      request.processor == Processor::gpu
          ? std::max({choice.csr_bytes / gpu_bandwidth, nnz * gpu_csr_cost * 1e-3,
                      gather.bytes / gpu_csr_gather})
          : std::max(choice.csr_bytes / core_bandwidth, nnz * csr_least_nanoseconds);
  choice.compression_pays = time ? choice.chosen.nanoseconds < choice.csr_nanoseconds
                                 : choice.chosen.bytes < choice.csr_bytes;
  choice.reason = reason_for(choice, request);
  return choice;
}

Coding parse_coding(const std::string& name) {
  std::string known;
  for (const CodingTraits& coding : all_codings) {
    if (coding.name == name) return coding.coding;
    known += (known.empty() ? "" : ", ") + std::string(coding.name);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("geometry \"{}\": unknown, there are {}", name, known));
}

template PlanChoice choose_plan(const Csr<double>&, const Histogram&, const PlanRequest&);
template PlanChoice choose_plan(const Csr<float>&, const Histogram&, const PlanRequest&);

}  // namespace tansolve
