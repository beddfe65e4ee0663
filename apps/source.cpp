// SPDX-License-Identifier: BSD-3-Clause
// Generators by their prefix, files by their content.
#include "source.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/harwell_boeing.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace tansolve::app {
namespace {

constexpr std::string_view generator_prefix = "gen:";

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

/// Refuses a matrix that f32 would fill with infinities.
void require_f32_range(const std::string& name, const Csr<double>& matrix) {
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k)
      if (const double value = matrix.values()[k];
          std::isfinite(value) && std::isinf(static_cast<float>(value)))
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: entry ({}, {}), {}, is beyond f32; use --precision f64", name,
                                i + 1, matrix.columns()[k] + 1, value));
}

AnySource from_csr(const InputOptions& options, Csr<double> matrix, Dense rhs = {}) {
  if (options.precision == Precision::f32) {
    require_f32_range(options.matrix, matrix);
    return Source<float>{options.matrix, convert<float>(matrix), std::move(rhs)};
  }
  return Source<double>{options.matrix, std::move(matrix), std::move(rhs)};
}

AnySource find(const InputOptions& options) {
  if (options.matrix.starts_with(generator_prefix))
    return from_csr(
        options,
        generate(std::string_view(options.matrix).substr(4),
                 {.seed = options.seed, .matrices = options.folder, .threads = options.threads}));
  switch (recognise(options.matrix)) {
    case FileKind::container:
      return std::visit(
          [&](auto&& matrix) {
            return from_container(options, std::forward<decltype(matrix)>(matrix));
          },
          load_container(options.matrix, options.threads));
    case FileKind::harwell_boeing: {
      HarwellBoeing file = read_harwell_boeing(options.matrix, options.duplicates);
      return from_csr(options, std::move(file.matrix), std::move(file.rhs));
    }
    case FileKind::matrix_market:
      break;
  }
  return from_csr(options, read_matrix(options.matrix, options.duplicates));
}

}  // namespace

AnySource load(const InputOptions& options) {
  const Stopwatch stopwatch;
  StatusLine line;
  line.show(fmt::format("reading {}", options.matrix));
  AnySource source = find(options);
  std::visit([&](auto& found) { found.read_seconds = stopwatch.seconds(); }, source);
  return source;
}

template <class T>
Csr<T> take_csr(std::variant<Csr<T>, CompressedMatrix<T>> matrix, int threads) {
  if (auto* csr = std::get_if<Csr<T>>(&matrix)) return std::move(*csr);
  return std::get<CompressedMatrix<T>>(matrix).decode(threads);
}

template <class T>
std::vector<std::int64_t> row_offsets(const CompressedMatrix<T>& matrix) {
  std::vector<std::int64_t> offsets(matrix.rows() + 1, 0);
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    offsets[i + 1] = offsets[i] + matrix.parts().row_lengths[i];
  return offsets;
}

#define TANSOLVE_INSTANTIATE(T)                                             \
  template Csr<T> take_csr(std::variant<Csr<T>, CompressedMatrix<T>>, int); \
  template std::vector<std::int64_t> row_offsets(const CompressedMatrix<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
