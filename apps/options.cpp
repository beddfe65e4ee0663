// SPDX-License-Identifier: BSD-3-Clause
// The shared options and the small language of --plan.
#include "options.hpp"

#include "console.hpp"

#include <tansolve/codec/error.hpp>

#include <omp.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

namespace tansolve::app {
namespace {

const std::vector<std::pair<std::string, Format>> all_formats = {{"auto", Format::automatic},
                                                                 {"dtans", Format::dtans},
                                                                 {"csr", Format::csr},
                                                                 {"coo", Format::coo},
                                                                 {"sell", Format::sell}};

/// More threads than this are a slip of the keyboard, and OpenMP would abort on them.
constexpr int most_threads = 1024;

constexpr std::string_view plan_parts =
    "geometry=paper|joint|byte|fixed8|fixed12|fixed16|fixed|patterns|shapes|packed, "
    "rows-per-lane=N, row-ends=aligned|crossing, symbols=split|joint";

[[noreturn]] void refuse_plan(std::string_view item, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("--plan: '{}' {}", item, why));
}

[[noreturn]] void refuse_unknown(std::string_view item, std::string_view expected) {
  refuse_plan(item, fmt::format("is unknown; there are {}", expected));
}

int parse_rows_per_lane(std::string_view item, std::string_view value) {
  int rows = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), rows);
  if (error != std::errc() || end != value.data() + value.size() || rows < 1 ||
      rows > max_rows_per_lane)
    refuse_plan(item, fmt::format("must be an integer from 1 to {}", max_rows_per_lane));
  return rows;
}

void force_geometry(PlanOptions& options, std::string_view item, std::string_view value) {
  options.smallest_fixed = value == "fixed";
  options.request.coding = std::nullopt;
  if (options.smallest_fixed) return;
  std::string known;
  for (const CodingTraits& coding : all_codings) {
    if (coding.name == value) options.request.coding = coding.coding;
    known += fmt::format("geometry={}, ", coding.name);
  }
  if (!options.request.coding) refuse_unknown(item, known + "geometry=fixed");
}

void force(PlanOptions& options, std::string_view item) {
  const std::size_t equals = std::min(item.find('='), item.size());
  const std::string_view key = item.substr(0, equals);
  const std::string_view value = item.substr(std::min(equals + 1, item.size()));
  if (key == "geometry")
    force_geometry(options, item, value);
  else if (key == "rows-per-lane")
    options.request.rows_per_lane = parse_rows_per_lane(item, value);
  else if (item == "row-ends=aligned")
    options.request.row_ends = RowEnds::aligned;
  else if (item == "row-ends=crossing")
    options.request.row_ends = RowEnds::crossing;
  else if (key == "row-ends")
    refuse_unknown(item, "row-ends=aligned, row-ends=crossing");
  else if (item == "symbols=split")
    options.request.coding = Coding::paper;
  else if (item == "symbols=joint")
    options.request.coding = Coding::joint;
  else
    refuse_unknown(item, plan_parts);
}

/// Items apart by commas, each part of the plan at most once.
void force_all(PlanOptions& options, const std::string& items) {
  std::set<std::string_view> given;
  for (std::size_t begin = 0; begin <= items.size();) {
    const std::size_t end = std::min(items.find(',', begin), items.size());
    const std::string_view item = std::string_view(items).substr(begin, end - begin);
    if (item.empty())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--plan: an item of '{}' is empty; there are {}", items, plan_parts));
    force(options, item);
    std::string_view part = item.substr(0, item.find('='));
    if (part == "symbols") part = "geometry";  // which it says in other words
    if (!given.insert(part).second) refuse_plan(item, "comes after another item for the same part");
    begin = end + 1;
  }
  options.forced = true;
}

}  // namespace

const CLI::Validator not_negative(
    [](std::string& text) {
      double number = 0;
      const bool good =
          CLI::detail::lexical_cast(text, number) && number >= 0 && std::isfinite(number);
      return good ? std::string() : fmt::format("'{}' is not a finite number of at least 0", text);
    },
    "");

CLI::Validator whole_number(std::uint64_t most) {
  return CLI::Validator(
      [most](std::string& text) {
        std::uint64_t number = 0;
        const char* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, number);
        const bool good = error == std::errc() && end == last && number <= most;
        return good ? std::string()
                    : fmt::format("'{}' is not an integer from 0 to {}", text, most);
      },
      "");
}

void add_generator_options(CLI::App& parser, InputOptions& options) {
  parser
      .add_option_function<int>(
          "--threads",
          [&options](int threads) {
            options.threads = threads;
            if (threads > 0) omp_set_num_threads(threads);  // the readers take OpenMP's number
          },
          "OpenMP threads; 0, the default: OMP_NUM_THREADS, at most one a processor")
      ->check(whole_number(most_threads))
      ->type_name("N");
  parser.add_option("--seed", options.seed, "Seed of what is random")
      ->check(whole_number(std::numeric_limits<std::uint64_t>::max()))
      ->type_name("N")
      ->capture_default_str();
  parser
      .add_option("--matrices", options.folder,
                  "Folder of the files that gen:tile and gen:tiles copy")
      ->envname("TANSOLVE_MATRICES")
      ->type_name("DIR");
}

void add_precision_option(CLI::App& parser, InputOptions& options) {
  add_choice<Precision>(parser, "--precision", {{"f64", Precision::f64}, {"f32", Precision::f32}},
                        options.precision, "Value type: f64 by default; a container keeps its own");
}

void add_input_options(CLI::App& parser, InputOptions& options) {
  parser
      .add_option("MATRIX", options.matrix,
                  "Matrix Market, Harwell-Boeing or Rutherford-Boeing file (or .gz), SciPy's .npz, "
                  ".tans container, gen:SPEC, or - for standard input")
      ->required();
  add_precision_option(parser, options);
  add_choice<Duplicates>(parser, "--duplicates",
                         {{"sum", Duplicates::sum}, {"refuse", Duplicates::refuse}},
                         options.duplicates, "Entries given twice in a file: sum by default");
  add_generator_options(parser, options);
}

void add_plan_options(CLI::App& parser, PlanOptions& options) {
  add_choice<Objective>(
      parser, "--optimize", {{"time", Objective::time}, {"memory", Objective::memory}},
      options.request.objective,
      "What the plan shall save: by default memory on the CPU, where decoding costs time, and time "
      "on a GPU");
  parser
      .add_option_function<std::string>(
          "--plan", [&options](const std::string& items) { force_all(options, items); },
          fmt::format("Force parts of the plan: {}", plan_parts))
      ->type_name("KEY=VALUE,...");
}

std::string format_name(Format format) {
  const auto at = std::ranges::find(all_formats, format, &std::pair<std::string, Format>::second);
  return at->first;
}

void add_format_option(CLI::App& parser, PlanOptions& options) {
  add_choice<Format>(parser, "--format", all_formats, options.format,
                     "auto, the default: dtans where compression pays by --optimize, else csr; coo "
                     "and sell are cuSPARSE's");
}

void add_device_options(CLI::App& parser, DeviceOptions& options) {
  parser.add_option("--device", options.device, "auto, cpu, cuda or cuda:I")
      ->check([](const std::string& device) {
        const bool known = device == "auto" || device == "cpu" || device == "cuda" ||
                           (device.starts_with("cuda:") && device.size() > 5 &&
                            device.find_first_not_of("0123456789", 5) == std::string::npos);
        return known ? "" : fmt::format("'{}' must be auto, cpu, cuda or cuda:I", device);
      })
      ->type_name("auto|cpu|cuda[:I]")
      ->capture_default_str();
  add_choice<bool>(parser, "--deterministic", {{"on", true}, {"off", false}}, options.deterministic,
                   "on, the default: the same bits in every run; off: also products of cuSPARSE "
                   "that do not promise it");
}

void add_json_option(CLI::App& parser, bool& json) {
  parser.add_flag("--json", json, "One JSON document on stdout, the text for people on stderr");
}

std::optional<int> choose_gpu(const DeviceOptions& options) {
  if (options.device == "cpu") return {};
#if TANSOLVE_HAS_CUDA
  const int count = cuda_device_count();
  std::string reason = cuda_unavailable_reason();
  if (options.device == "auto" && count > 0) {
    try {
      const Context<Cuda> context;  // that it works
    } catch (const Error& error) {
      reason = error.what();
    }
  }
#else
  const int count = 0;
  const std::string reason = "this build has no CUDA backend";
#endif
  if (options.device == "auto") {
    complain("device: {}\n", reason.empty() ? "cuda:0" : fmt::format("cpu ({})", reason));
    return reason.empty() ? std::optional(0) : std::nullopt;
  }
  if (count == 0)
    throw Error(ErrorCode::device, fmt::format("--device {}: {}; --device cpu runs on the host",
                                               options.device, reason));
  if (options.device == "cuda") return 0;
  int device = 0;
  const char* end = options.device.data() + options.device.size();
  const auto [at, error] = std::from_chars(options.device.data() + 5, end, device);
  if (error != std::errc() || at != end || device >= count)
    throw Error(ErrorCode::device,
                fmt::format("--device {}: there are {}, counted from 0", options.device, count));
  return device;
}

}  // namespace tansolve::app
