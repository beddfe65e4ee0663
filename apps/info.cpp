// SPDX-License-Identifier: BSD-3-Clause
// tansolve info: what a matrix is like, what it entropy-codes to, and by which plan.
#include "commands.hpp"
#include "prepare.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace tansolve::app {
namespace {

struct InfoOptions {
  InputOptions input;
  PlanOptions plan;
  bool json = false;
};

struct RowLengthStatistics {
  std::int64_t least = 0, most = 0, empty = 0;
  double mean = 0;
};

RowLengthStatistics row_length_statistics(std::span<const std::int64_t> offsets) {
  const std::int64_t rows = std::ssize(offsets) - 1;
  if (rows == 0) return {};
  RowLengthStatistics statistics{.least = offsets[1] - offsets[0]};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t length = offsets[i + 1] - offsets[i];
    statistics.least = std::min(statistics.least, length);
    statistics.most = std::max(statistics.most, length);
    if (length == 0) ++statistics.empty;
  }
  statistics.mean = static_cast<double>(offsets[rows]) / static_cast<double>(rows);
  return statistics;
}

template <class T>
bool has_symmetric_pattern(const Csr<T>& matrix) {
  return is_symmetric(Csr<float>::from_arrays(matrix.rows(), matrix.cols(), matrix.offsets().data(),
                                              matrix.columns().data(),
                                              std::vector<float>(matrix.nnz(), 1).data()));
}

/// Symmetry of the values and of the pattern; row lengths.
template <class T>
void describe_shape(const Console& console, const Prepared<T>& matrix, Json& document) {
  std::string symmetry = "symmetry is not looked at in a container";
  Json about = matrix_json(matrix.name, matrix);
  if (matrix.csr) {
    const bool values = is_symmetric(*matrix.csr);
    const bool pattern = values || has_symmetric_pattern(*matrix.csr);
    about["symmetric"] = values;
    about["symmetric_pattern"] = pattern;
    symmetry = values ? "symmetric" : pattern ? "symmetric in its pattern only" : "not symmetric";
  }
  const RowLengthStatistics rows = matrix.csr
                                       ? row_length_statistics(matrix.csr->offsets())
                                       : row_length_statistics(matrix.compressed->row_offsets());
  about["row_lengths"] = {
      {"min", rows.least}, {"mean", rows.mean}, {"max", rows.most}, {"empty", rows.empty}};
  document["matrix"] = about;
  say_matrix(console, matrix.name, matrix, symmetry);
  console.say("rows      {} to {} nonzeros, {:.4g} on average; {} empty\n", rows.least, rows.most,
              rows.mean, rows.empty);
}

/// Entropy of the sign and exponent of values of so many bytes.
double exponent_entropy(const std::vector<PairCount>& values, std::size_t value_bytes) {
  const int mantissa_bits = value_bytes == 8 ? 52 : 23;
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const PairCount& value : values) counts[value.value >> mantissa_bits] += value.count;
  std::vector<PairCount> exponents;
  for (const auto& [exponent, count] : counts)
    exponents.push_back({.value = exponent, .count = count});
  return Histogram::entropy(exponents);
}

void describe_symbols(const Console& console, const Histogram& histogram, std::size_t value_bytes,
                      Json& document) {
  Json symbols = {{"counted", histogram.total}, {"sampled", histogram.sampled}};
  console.say("symbols   of {}{} nonzeros; entropies in bits a nonzero\n", histogram.total,
              histogram.sampled ? " sampled" : "");
  const auto describe = [&](const char* name, const std::vector<PairCount>& counts) {
    const double entropy = Histogram::entropy(counts);
    symbols[name] = {{"distinct", counts.size()}, {"entropy_bits", entropy}};
    console.say("          {:<7} {:>10} distinct, entropy {:7.4f}\n", name, counts.size(), entropy);
  };
  describe("deltas", histogram.deltas);
  describe("values", histogram.values);
  describe("pairs", histogram.pairs);
  const double exponents = exponent_entropy(histogram.values, value_bytes);
  symbols["exponent_entropy_bits"] = exponents;
  console.say("          sign and exponent of a value: entropy {:7.4f}\n", exponents);
  document["symbols"] = symbols;
}

void describe_candidates(const Console& console, const PlanChoice& choice, Json& document) {
  Json candidates = Json::array();
  console.say("predicted {:>8} {:>5} {:>9} {:>12} {:>15} {:>12}\n", "geometry", "R", "row ends",
              "bytes", "ms a product", "escapes");
  for (const Candidate& candidate : choice.considered) {
    const auto& [coding, rows_per_lane, row_ends] = candidate.plan;
    candidates.push_back({{"geometry", traits(coding).name},
                          {"rows_per_lane", rows_per_lane},
                          {"row_ends", row_ends_name(row_ends)},
                          {"predicted_bytes", candidate.bytes},
                          {"predicted_product_seconds", candidate.nanoseconds * 1e-9},
                          {"escapes", candidate.escapes}});
    console.say("          {:>8} {:>5} {:>9} {:>12} {:>15.3g} {:>12.0f}\n", traits(coding).name,
                rows_per_lane, row_ends_name(row_ends), bytes_text(candidate.bytes),
                candidate.nanoseconds * 1e-6, candidate.escapes);
  }
  console.say("          {:>8} {:>5} {:>9} {:>12} {:>15.3g}\n", "csr", "", "",
              bytes_text(choice.csr_bytes), choice.csr_nanoseconds * 1e-6);
  document["candidates"] = candidates;
  document["compression_pays"] = choice.compression_pays;
}

template <class T>
void describe_tables(const Console& console, const CompressedMatrix<T>& matrix, Json& document) {
  Json tables = Json::array();
  for (const SymbolTable<T>& table : matrix.parts().tables) {
    const std::size_t coded = std::max(table.deltas.size(), table.values.size());
    const bool escapes = table.code.escape != CodingTable::no_escape;
    const char* const of = table.deltas.empty()   ? "values"
                           : table.values.empty() ? "deltas"
                                                  : "pairs";
    tables.push_back({{"of", of}, {"symbols", coded}, {"escape", escapes}});
    console.say("table     {} {}{}\n", coded, of, escapes ? " and an escape" : "");
  }
  document["tables"] = tables;
}

template <class T>
ExitCode describe(const InfoOptions& options, Source<T> source) {
  const Console console(options.json);
  const double read_seconds = source.read_seconds;
  const auto matrix = prepare(std::move(source), options.plan, options.input.threads);
  const StandardBytes standard = matrix.standard();
  Json document;
  describe_shape(console, matrix, document);
  document["precision"] = sizeof(T) == 8 ? "f64" : "f32";
  document["read_seconds"] = read_seconds;
  if (matrix.histogram) describe_symbols(console, *matrix.histogram, sizeof(T), document);
  if (matrix.choice) describe_candidates(console, *matrix.choice, document);
  say_plan_and_storage(console, matrix);
  describe_tables(console, *matrix.compressed, document);
  console.say("others    csr {}, coo {}, sell {}\n", bytes_text(standard.csr),
              bytes_text(standard.coo), bytes_text(standard.sell));
  document["plan"] = plan_json(matrix);
  document["storage"] = storage_json(matrix);
  document["encode"] = encode_json(matrix);
  console.document(document);
  return ExitCode::done;
}

ExitCode run(const InfoOptions& options) {
  return std::visit(
      [&](auto&& source) { return describe(options, std::forward<decltype(source)>(source)); },
      load(options.input));
}

}  // namespace

Command add_info(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("info", "Say what a matrix is like and encodes to");
  const auto options = std::make_shared<InfoOptions>();
  options->plan.format = Format::dtans;
  add_input_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
