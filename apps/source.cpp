// SPDX-License-Identifier: BSD-3-Clause
// Generators by their prefix, files by their content.
#include "source.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/harwell_boeing.hpp>
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/npz.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tansolve::app {
namespace {

template <class T>
AnySource from_container(const InputOptions& options, CompressedMatrix<T> matrix) {
  constexpr Precision own = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
  if (options.precision && *options.precision != own)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--precision: {} holds {} values and keeps them; decode it and encode "
                            "anew for others",
                            options.matrix, own == Precision::f64 ? "f64" : "f32"));
  return Source<T>{options.matrix, std::move(matrix)};
}

AnySource from_file(const InputOptions& options, StatusLine& line) {
  line.show("reading", 0);
  InputFile file(input_path(options.matrix), [&](double done) { line.show("reading", done); });
  switch (recognise(file)) {
    case FileKind::container:
      return std::visit(
          [&](auto&& matrix) {
            return from_container(options, std::forward<decltype(matrix)>(matrix));
          },
          parse_container(file.text(), file.name(), options.threads,
                          [&](double done) { line.show("checking", done); }));
    case FileKind::harwell_boeing: {
      HarwellBoeing found = read_harwell_boeing(file, options.duplicates);
      return Source<double>{options.matrix, std::move(found.matrix), std::move(found.rhs)};
    }
    case FileKind::npz:
      return Source<double>{options.matrix, read_npz(file, options.duplicates)};
    case FileKind::matrix_market:
      break;
  }
  return Source<double>{options.matrix,
                        read_matrix_market(std::move(file), options.duplicates,
                                           [&](double done) { line.show("parsing", done); })};
}

AnySource find(const InputOptions& options) {
  StatusLine line;
  if (!options.matrix.starts_with(generator_prefix)) return from_file(options, line);
  line.show(fmt::format("generating {}", options.matrix));
  return Source<double>{
      options.matrix,
      generate(std::string_view(options.matrix).substr(generator_prefix.size()),
               {.seed = options.seed, .matrices = options.folder, .threads = options.threads})};
}

}  // namespace

Source<float> round_to_f32(Source<double> source, const char* remedy) {
  const auto& matrix = std::get<Csr<double>>(source.matrix);
  std::int64_t vanished = 0;
  std::string first;
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k) {
      const double value = matrix.values()[k];
      const auto rounded = static_cast<float>(value);
      const bool beyond = std::isinf(rounded) && !std::isinf(value);
      const bool vanishes = rounded == 0 && value != 0;
      if (!beyond && (!vanishes || vanished++ > 0)) continue;
      first = fmt::format("row {}, column {} (counting from 1): {}", i + 1, matrix.columns()[k] + 1,
                          value);
      if (beyond)
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: {} is beyond f32; {}", source.name, first, remedy));
    }
  if (vanished > 0)
    complain("warning: {}: {} of {} entries are so small that f32 makes them 0, first {}\n",
             source.name, vanished, matrix.nnz(), first);
  return {source.name, convert<float>(matrix), std::move(source.rhs)};
}

std::string input_path(const std::string& given) {
  return given == "-" ? "/dev/stdin" : given;
}

AnySource load(const InputOptions& options) {
  const Stopwatch stopwatch;
  AnySource source = find(options);
  auto* const wide = std::get_if<Source<double>>(&source);
  if (wide != nullptr && options.precision == Precision::f32)
    source = round_to_f32(std::move(*wide), "use --precision f64");
  std::visit([&](auto& found) { found.read_seconds = stopwatch.seconds(); }, source);
  return source;
}

template <class T>
Csr<T> take_csr(std::variant<Csr<T>, CompressedMatrix<T>> matrix, int threads) {
  if (auto* csr = std::get_if<Csr<T>>(&matrix)) return std::move(*csr);
  return std::get<CompressedMatrix<T>>(matrix).decode(threads);
}

template Csr<double> take_csr(std::variant<Csr<double>, CompressedMatrix<double>>, int);
template Csr<float> take_csr(std::variant<Csr<float>, CompressedMatrix<float>>, int);

}  // namespace tansolve::app
