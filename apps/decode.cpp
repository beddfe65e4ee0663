// SPDX-License-Identifier: BSD-3-Clause
// tansolve decode: from a container back to Matrix Market, bit for bit.
#include "commands.hpp"
#include "output.hpp"
#include "source.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <memory>
#include <utility>

namespace tansolve::app {
namespace {

struct DecodeOptions {
  InputOptions input;
  bool json = false;
  std::string output;
};

template <class T>
ExitCode decode_to_file(const DecodeOptions& options, const Output& output, Source<T> source) {
  if (!source.is_container())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: not a tansolve container, which decode needs", source.name));
  const Stopwatch stopwatch;
  const Csr<T> matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  const double seconds = stopwatch.seconds();
  write_matrix_market(output.path, matrix);
  const Console& console = output.console;
  say_matrix(console, source.name, matrix, fmt::format("decoded in {:.3g} s", seconds));
  console.document({{"matrix", matrix_json(source.name, matrix)},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"decode", {{"seconds", seconds}}},
                    {"output", options.output}});
  return ExitCode::done;
}

ExitCode run(const DecodeOptions& options) {
  const Output output = open_output(options.output, options.json);
  return std::visit(
      [&](auto&& source) {
        return decode_to_file(options, output, std::forward<decltype(source)>(source));
      },
      load(options.input));
}

}  // namespace

Command add_decode(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("decode", "Write a container as Matrix Market");
  const auto options = std::make_shared<DecodeOptions>();
  parser.add_option("F.tans", options->input.matrix, "The container; -: standard input")
      ->required();
  add_output_option(parser, options->output, "The matrix; compressed if it ends in .gz", "M.mtx")
      ->required();
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
