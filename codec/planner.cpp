// SPDX-License-Identifier: BSD-3-Clause
// The cost model: bytes from the histogram, time from what was measured.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/array_plans.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/gather.hpp>
#include <tansolve/codec/planner.hpp>
#include <tansolve/codec/repeats.hpp>

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
constexpr std::array<double, stream_codings> gpu_costs = {2.25, 1.45, 1.2, 1.1, 1.1, 1.4};
constexpr double gpu_row_cost = 1.4, gpu_lane_cost = 3.7, gpu_escape_cost = 3.5;
/// Of a nonzero whose symbol's entry does not lie in shared memory (tile:50:Si5H12), and the bytes
/// that do.
constexpr double gpu_far_entry_cost = 2.1, gpu_shared_entries = 114 << 10;
/// Of a nonzero where some lane of a warp has an escape in most segments, as from one nonzero in so
/// many on (tile:50:Si5H12 by paper, within 25 %).
constexpr double gpu_escapes_cost = 2.5, nonzeros_a_warp_segment = 256;
/// And, after a launch, of an entry of the longest row, which one lane decodes alone
/// (laplacian:ba:2000000:12).
constexpr double gpu_serial_cost = 120'000, gpu_launch_cost = 4'000'000;
/// Nanoseconds of launching, copying the tables and waiting for the first words (poisson27:20).
constexpr double gpu_least_nanoseconds = 8000;
/// What it streams, the time of a nonzero of cuSPARSE's reproducible CSR product, and bytes of x a
/// nanosecond that it reads from beyond the L1 cache (er:3000000:16, laplacian:ba:2000000:12).
constexpr double gpu_bandwidth = 4000, gpu_csr_cost = 5, gpu_csr_gather = 3700;
/// Nanoseconds that its two kernels take at least (1138_bus, bcsstk13, s3rmt3m3).
constexpr double gpu_csr_least_nanoseconds = 8500;

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
double share_in_step(const RowSource<T>& source) {
  constexpr std::int64_t group = 8, sample = 4096;
  const std::int64_t groups = source.rows() / group;
  // An odd stride does not keep step with grids, whose sides are powers of two more often than not.
  const std::int64_t stride = groups / sample | 1;
  double all = 0, alike = 0;
  RowBuffer<T> buffer;
  for (std::int64_t g = 0; g < groups; g += stride) {
    const std::int64_t row = g * group;
    const RowBlock<T> rows = source.block(row, row + group, buffer);
    bool same = rows.row_nnz(row) > 0;
    for (std::int64_t j = 1; j < group && same; ++j) same = detail::same_pairs(rows, row + j, row);
    const auto nonzeros = static_cast<double>(rows.nnz());
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
    // What a sample has once stands for what it has not at all (Good and Turing's estimate).
    const auto times = static_cast<double>(counts[s].count);
    const double count = times == 1 ? 1 : times * scale;
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

/// What predictions need of the lengths of rows: above all how many runs of entries that are padded
/// on their own have each length: rows, or the rows of a lane where they cross segments.
class Lengths {
 public:
  Lengths(std::span<const std::int64_t> offsets, RowEnds row_ends, int rows_per_lane)
      : padded_share_(detail::padded_share(offsets)),
        number_bytes_(static_cast<double>(RowNumbers::lengths(offsets).bytes().size())) {
    const std::int64_t rows = std::ssize(offsets) - 1;
    for (std::int64_t i = 0; i < rows; ++i)
      longest_ = std::max(longest_, offsets[i + 1] - offsets[i]);
    for (std::int64_t base = 0; base < rows; base += std::int64_t{warp_size} * rows_per_lane)
      for (int j = 0; j < warp_size; ++j) {
        std::int64_t of_lane = 0;
        for (int i = 0; i < rows_per_lane; ++i) {
          const std::int64_t row = base + j + std::int64_t{warp_size} * i;
          const std::int64_t length = row < rows ? offsets[row + 1] - offsets[row] : 0;
          if (row_ends == RowEnds::aligned) count(length);
          of_lane += length;
        }
        if (row_ends == RowEnds::crossing) count(of_lane);
        if (of_lane > 0) ++busy_lanes_;
      }
  }

  std::int64_t longest() const { return longest_; }
  double padded_share() const { return padded_share_; }  ///< detail::padded_share
  double number_bytes() const { return number_bytes_; }  ///< of the lengths
  /// Lanes with entries.
  double busy_lanes() const { return static_cast<double>(busy_lanes_); }

  /// Symbols of padding.
  double symbols(const CodingTraits& coding) const {
    std::int64_t padding = 0;
    for (std::size_t n = 0; n < counts_.size(); ++n)
      padding += counts_[n] * (-(static_cast<std::int64_t>(n) * coding.tables) &
                               (coding.geometry.l - 1));  // l is a power of two
    return static_cast<double>(padding);
  }

 private:
  /// Modulo the longest segment, which padding depends on alone.
  void count(std::int64_t length) { ++counts_[length % std::ssize(counts_)]; }

  double padded_share_, number_bytes_;
  std::int64_t longest_ = 0, busy_lanes_ = 0;
  std::array<std::int64_t, 8> counts_{};
};

template <class T>
Candidate predict(Survey<T>& survey, const Plan& plan, const Lengths& lengths, double in_step,
                  Processor processor, const detail::Gather& gather) {
  const auto& [coding, name, geometry, tables] = traits(plan.coding);
  const RowSource<T>& source = survey.source();
  const Histogram& histogram = survey.histogram();
  const auto nnz = static_cast<double>(source.nnz()), rows = static_cast<double>(source.rows());
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
  const double padding = lengths.symbols(traits(plan.coding));
  bits += padding * padding_bits;
  // A lane loses the digits of its last segment, k bits a symbol being read there, and what the
  // checks before leave in r: half a word, or all when it never fills one.
  const double lanes = std::ceil(rows / plan.rows_per_lane);
  const double symbols = nnz * tables + padding;
  if (geometry.f > 0 && nnz > 0) {
    const double segment_digits = std::max(0.0, geometry.l * (geometry.k - bits / symbols));
    const double before_last =
        segment_digits * std::max(0.0, symbols / lengths.busy_lanes() / geometry.l - 1);
    bits += lengths.busy_lanes() * (segment_digits + (before_last < 32 ? before_last : 16));
  }
  candidate.bytes += bits / 8 + lanes / warp_size * 8 + lengths.number_bytes();

  if (processor == Processor::gpu) {
    // Lanes wait for the longest row of their warp.
    const double lanes_padding = lengths.padded_share();
    const double picoseconds =
        (gpu_costs[static_cast<std::size_t>(plan.coding)] +
         (entry_bytes > gpu_shared_entries ? gpu_far_entry_cost : 0)) *
            (nnz + padding / tables) * lanes_padding +
        gpu_escapes_cost * std::min(nnz, nonzeros_a_warp_segment * candidate.escapes) +
        gpu_row_cost * rows + gpu_lane_cost * lanes + gpu_escape_cost * candidate.escapes;
    const auto longest_row = static_cast<double>(lengths.longest());
    const double vectors = 2 * static_cast<double>(sizeof(T)) * rows;
    // What the gather of x takes beyond that of a stencil, three lines a load, which is in the
    // costs.
    const double scattered = detail::gather_nanoseconds(gather) -
                             detail::gather_nanoseconds({.lines = 3 * nnz / warp_size});
    candidate.nanoseconds =
        std::max({picoseconds * 1e-3 + std::max(scattered, 0.0),
                  (gpu_launch_cost + longest_row * gpu_serial_cost) * 1e-3,
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
PlanChoice choose_plan(Survey<T>& survey, const PlanRequest& request) {
  if (request.rows_per_lane &&
      (*request.rows_per_lane < 1 || *request.rows_per_lane > max_rows_per_lane))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows per lane: {} is not within 1 to {}", *request.rows_per_lane,
                            max_rows_per_lane));
  const bool time = request.objective_or_default() == Objective::time;
  const RowSource<T>& source = survey.source();
  const double in_step = share_in_step(source);
  const detail::Gather gather =
      request.processor == Processor::gpu ? detail::estimate_gather(source) : detail::Gather();
  const RowEnds row_ends = request.row_ends.value_or(time ? RowEnds::aligned : RowEnds::crossing);
  const int rows_per_lane =
      request.rows_per_lane.value_or(choose_rows_per_lane(source.rows(), source.nnz(), request));
  const Lengths lengths(source.offsets(), row_ends, rows_per_lane);
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
              survey, coding.coding, request.coding.has_value(), request.processor, gather))
        choice.considered.push_back(*candidate);
      continue;
    }
    const Plan plan = {
        .coding = coding.coding, .rows_per_lane = rows_per_lane, .row_ends = row_ends};
    choice.considered.push_back(predict(survey, plan, lengths, in_step, request.processor, gather));
  }
  if (choice.considered.empty())
    throw Error(ErrorCode::not_supported, "plan: more than 2^32 entries in distinct patterns");
  std::stable_sort(choice.considered.begin(), choice.considered.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     return time ? a.nanoseconds < b.nanoseconds : a.bytes < b.bytes;
                   });
  choice.chosen = choice.considered.front();
  choice.csr_bytes = static_cast<double>(standard_bytes(source.offsets(), sizeof(T)).csr);
  const auto nnz = static_cast<double>(source.nnz());
  choice.csr_nanoseconds =
      request.processor == Processor::gpu
          ? std::max({choice.csr_bytes / gpu_bandwidth, nnz * gpu_csr_cost * 1e-3,
                      gather.bytes / gpu_csr_gather, gpu_csr_least_nanoseconds})
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

template PlanChoice choose_plan(Survey<double>&, const PlanRequest&);
template PlanChoice choose_plan(Survey<float>&, const PlanRequest&);

}  // namespace tansolve
