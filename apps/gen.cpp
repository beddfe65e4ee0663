// SPDX-License-Identifier: BSD-3-Clause
// tansolve gen: from a generator to a Matrix Market file.
#include "commands.hpp"
#include "options.hpp"
#include "output.hpp"
#include "source.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <memory>

namespace tansolve::app {
namespace {

struct GenOptions {
  InputOptions input;
  bool list = false;
  bool json = false;
  std::string output;
};

ExitCode run(GenOptions& options) {
  std::string& spec = options.input.matrix;
  if (options.list) {
    std::fputs(generator_help().c_str(), stdout);
    return ExitCode::done;
  }
  if (spec.empty() || options.output.empty())
    throw Error(ErrorCode::invalid_argument,
                "gen: it needs SPEC and -o M.mtx; --list prints the generators");
  const auto [path, console] = open_output(options.output, options.json);
  if (!spec.starts_with("gen:")) spec = "gen:" + spec;
  const Source<double> source = std::get<Source<double>>(load(options.input));
  const auto& matrix = std::get<Csr<double>>(source.matrix);
  write_matrix_market(path, matrix);
  say_matrix(console, spec, matrix, fmt::format("made in {:.3g} s", source.read_seconds));
  console.document({{"matrix", matrix_json(spec, matrix)},
                    {"generate", {{"seconds", source.read_seconds}}},
                    {"output", options.output}});
  return ExitCode::done;
}

}  // namespace

Command add_gen(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("gen", "Write a generated matrix as Matrix Market");
  const auto options = std::make_shared<GenOptions>();
  parser.add_option("SPEC", options->input.matrix, "NAME:ARGUMENT:...[@SEED]; see --list");
  parser.add_flag("--list", options->list, "Print the generators and their arguments");
  add_output_option(parser, options->output, "The matrix; compressed if it ends in .gz", "M.mtx");
  add_generator_options(parser, options->input);
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
