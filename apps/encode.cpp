// SPDX-License-Identifier: BSD-3-Clause
// tansolve encode: from any matrix to a container.
#include "commands.hpp"
#include "output.hpp"
#include "prepare.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>

#include <memory>
#include <utility>

namespace tansolve::app {
namespace {

struct EncodeOptions {
  InputOptions input;
  PlanOptions plan;
  bool json = false;
  bool stream = false;
  std::string output;
};

template <class T>
ExitCode save(const EncodeOptions& options, const Output& output, const Prepared<T>& matrix,
              const std::string& remark) {
  const Console& console = output.console;
  save_container(output.path, *matrix.compressed);
  say_matrix(console, matrix.name, matrix, remark);
  say_plan_and_storage(console, matrix);
  console.document({{"matrix", matrix_json(matrix.name, matrix)},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"output", options.output}});
  return ExitCode::done;
}

template <class T>
ExitCode encode_to_file(const EncodeOptions& options, const Output& output, Source<T> source) {
  const std::string remark = fmt::format("read in {:.3g} s", source.read_seconds);
  source.matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  return save(options, output, prepare(std::move(source), options.plan, options.input.threads),
              remark);
}

/// Rows of a generator as they are needed.
ExitCode encode_stream(const EncodeOptions& options, const Output& output) {
  const InputOptions& input = options.input;
  const std::string_view matrix = input.matrix;
  if (input.precision == Precision::f32)
    throw Error(ErrorCode::invalid_argument, "--stream: rows are read in f64 only");
  const auto rows =
      matrix.starts_with(generator_prefix)
          ? generate_rows(matrix.substr(generator_prefix.size()),
                          {.seed = input.seed, .matrices = {}, .threads = input.threads})
          : nullptr;
  if (!rows)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--stream: the rows of {} cannot be had one by one; those of gen: "
                            "grids, finite elements, bands and chains can",
                            matrix));
  return save(options, output, prepare_rows(input.matrix, *rows, options.plan, input.threads),
              "rows made as they are encoded");
}

ExitCode run(const EncodeOptions& options) {
  const Output output = open_output(options.output, options.json);
  if (options.stream) return encode_stream(options, output);
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
  parser.add_flag("--stream", options->stream,
                  "Make the rows of a generator again and again, instead of holding the matrix");
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
