// SPDX-License-Identifier: BSD-3-Clause
// tansolve encode: from any matrix to a container.
#include "commands.hpp"
#include "output.hpp"
#include "prepare.hpp"

#include <tansolve/codec/container.hpp>

#include <memory>
#include <utility>

namespace tansolve::app {
namespace {

struct EncodeOptions {
  InputOptions input;
  PlanOptions plan;
  bool json = false;
  std::string output;
};

template <class T>
ExitCode encode_to_file(const EncodeOptions& options, const Output& output, Source<T> source) {
  const Console& console = output.console;
  const double read_seconds = source.read_seconds;
  source.matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  const auto matrix = prepare(std::move(source), options.plan, options.input.threads);
  save_container(output.path, *matrix.compressed);
  say_matrix(console, matrix.name, matrix, fmt::format("read in {:.3g} s", read_seconds));
  say_plan_and_storage(console, matrix);
  console.document({{"matrix", matrix_json(matrix.name, matrix)},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"output", options.output}});
  return ExitCode::done;
}

ExitCode run(const EncodeOptions& options) {
  const Output output = open_output(options.output, options.json);
  return std::visit(
      [&](auto&& source) {
        return encode_to_file(options, output, std::forward<decltype(source)>(source));
      },
      load(options.input));
}

}  // namespace

Command add_encode(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("encode", "Write a matrix as a .tans container");
  const auto options = std::make_shared<EncodeOptions>();
  options->plan.format = Format::dtans;
  add_input_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_output_option(parser, options->output, "The container", "F.tans")->required();
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
