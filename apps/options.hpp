// SPDX-License-Identifier: BSD-3-Clause
// Options that subcommands share, each group with the function that adds it to a parser.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/planner.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tansolve::app {

enum class Precision { f64, f32 };
enum class Format { automatic, dtans, csr, coo, sell };
/// Whether the matrix stays uncompressed.
constexpr bool is_plain(Format format) {
  return format != Format::automatic && format != Format::dtans;
}
std::string format_name(Format format);

/// Where the matrix comes from.
struct InputOptions {
  std::string matrix;  ///< a path or gen:SPEC
  std::string folder;  ///< of the files that the generators tile and tiles copy
  Duplicates duplicates = Duplicates::sum;
  std::optional<Precision> precision;  ///< not given: f64, or what a container holds
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: as many as prepare_threads() leaves to OpenMP
};

struct PlanOptions {
  Format format = Format::automatic;
  PlanRequest request;
  bool smallest_fixed = false;  ///< geometry=fixed: which one is known once the pairs are counted
  bool forced = false;          ///< --plan was given
};

struct DeviceOptions {
  std::string device = "auto";
  bool deterministic = true;
};

/// Refuses what is not a number of at least 0: also NaN and infinity.
extern const CLI::Validator not_negative;
/// Refuses what is not an integer from 0 to `most`.
CLI::Validator whole_number(std::uint64_t most);

/// Adds --threads, --seed and --matrices.
void add_generator_options(CLI::App& parser, InputOptions& options);
void add_precision_option(CLI::App& parser, InputOptions& options);
/// Adds MATRIX, --precision, --duplicates and those.
void add_input_options(CLI::App& parser, InputOptions& options);
/// Adds --optimize and --plan, which throws Error(invalid_argument) for what it does not know.
void add_plan_options(CLI::App& parser, PlanOptions& options);
/// Adds --format.
void add_format_option(CLI::App& parser, PlanOptions& options);
/// Adds --device and --deterministic.
void add_device_options(CLI::App& parser, DeviceOptions& options);
void add_json_option(CLI::App& parser, bool& json);

/// The GPU to run on, or none for the host; says on stderr where `auto` ends. Throws Error(device)
/// when a GPU was asked for and there is none.
std::optional<int> choose_gpu(const DeviceOptions& options);

/// An option whose values have names; `target` is an enumeration, a flag or an optional of one.
template <class E, class Target>
void add_choice(CLI::App& parser, const std::string& option,
                std::vector<std::pair<std::string, E>> choices, Target& target,
                const std::string& help) {
  std::string names;
  for (const auto& [name, value] : choices) names += (names.empty() ? "" : "|") + name;
  parser
      .add_option_function<std::string>(
          option,
          [=, &target](const std::string& given) {
            for (const auto& [name, value] : choices)
              if (name == given) {
                target = value;
                return;
              }
            throw CLI::ValidationError(option, fmt::format("'{}' must be one of {}", given, names));
          },
          help)
      ->type_name(names);
}

}  // namespace tansolve::app
