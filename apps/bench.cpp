// SPDX-License-Identifier: BSD-3-Clause
// tansolve bench: products with compressed matrices against Eigen's and our own with CSR.
#include "commands.hpp"
#include "prepare.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/eigen.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>

#include <Eigen/SparseCore>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <utility>

namespace tansolve::app {
namespace {

constexpr int warm_ups = 3, repetitions = 15;
constexpr int all_rows_per_lane[] = {1, 2, 4, 8, 16};

struct Options {
  std::vector<std::string> matrices;
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  bool json = false;
};

struct Timing {
  double seconds = 0;  ///< median of the repetitions
  double error = 0;    ///< max over i of |y_i - (A x)_i| / (|A| |x|)_i
};

/// A product's operands, and its result in double by plain loops.
template <class T>
struct Problem {
  explicit Problem(const Csr<T>& A, std::uint64_t seed) : x(A.cols()), y(A.rows()) {
    std::mt19937_64 random(seed);
    for (T& element : x)
      element = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    for (std::int64_t i = 0; i < A.rows(); ++i) {
      double sum = 0, magnitude = 0;
      for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) {
        const double term = static_cast<double>(A.values()[k]) * x[A.columns()[k]];
        sum += term;
        magnitude += std::abs(term);
      }
      expected.push_back(sum);
      scale.push_back(magnitude);
    }
  }

  /// y is poisoned before each product, so that an element left out shows in the error.
  template <class Product>
  Timing time(const Product& product) {
    std::vector<double> seconds;
    for (int i = 0; i < warm_ups + repetitions; ++i) {
      std::ranges::fill(y, std::numeric_limits<T>::quiet_NaN());
      const Stopwatch stopwatch;
      product();
      if (i >= warm_ups) seconds.push_back(stopwatch.seconds());
    }
    std::ranges::nth_element(seconds, seconds.begin() + repetitions / 2);
    Timing timing{.seconds = seconds[repetitions / 2]};
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double error = std::abs(y[i] - expected[i]);
      if (error == 0) continue;
      if (std::isnan(error)) return {.seconds = timing.seconds, .error = error};
      timing.error = std::max(timing.error, error / scale[i]);
    }
    return timing;
  }

  std::vector<T> x, y;
  std::vector<double> expected, scale;
};

template <class T>
Timing time_operator(const LinearOperator<T, Host>& A, Problem<T>& problem) {
  return problem.time([&] {
    A.apply({problem.x.data(), std::ssize(problem.x)}, {problem.y.data(), std::ssize(problem.y)});
  });
}

template <class T>
Timing time_eigen(const Csr<T>& matrix, int threads, Problem<T>& problem) {
  using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  Eigen::setNbThreads(threads);
  const auto A = to_eigen<Eigen::SparseMatrix<T, Eigen::RowMajor, int>>(matrix);
  const Eigen::Map<const Column> x(problem.x.data(), matrix.cols());
  Eigen::Map<Column> y(problem.y.data(), matrix.rows());
  return problem.time([&] { y.noalias() = A * x; });
}

/// Rows of the table and of the document, one a format.
class Table {
 public:
  Table(const Console& console, std::int64_t nnz) : console_(&console), nnz_(nnz) {
    console.say("{:>8} {:>4} {:>9} {:>8} {:>11} {:>9} {:>7} {:>9}\n", "format", "R", "row ends",
                "B/nnz", "encode", "product", "Eigen", "error");
    console.say("{:>8} {:>4} {:>9} {:>8} {:>11} {:>9} {:>7} {:>9}\n", "", "", "", "", "Mnnz/s",
                "Gnnz/s", "= 1", "");
  }

  void add(const char* format, std::int64_t bytes, const Timing& timing) {
    if (eigen_ == 0) eigen_ = timing.seconds;
    rows_.push_back(figures(format, bytes, timing));
    say(rows_.back(), "", "", 0);
  }
  /// Returns the row, to be said or not.
  Json add(const Plan& plan, std::int64_t bytes, double encode_seconds, const Timing& timing) {
    Json row = figures(traits(plan.coding).name, bytes, timing);
    row["rows_per_lane"] = plan.rows_per_lane;
    row["row_ends"] = row_ends_name(plan.row_ends);
    row["encode_nnz_per_second"] = static_cast<double>(nnz_) / encode_seconds;
    rows_.push_back(row);
    return row;
  }
  void say(const Json& row) const {
    say(row, row["rows_per_lane"].dump(), row["row_ends"].get<std::string>(),
        row["encode_nnz_per_second"].get<double>());
  }
  const Json& rows() const { return rows_; }

 private:
  Json figures(std::string_view format, std::int64_t bytes, const Timing& timing) const {
    const auto nnz = static_cast<double>(nnz_);
    return {{"format", format},
            {"bytes_per_nnz", static_cast<double>(bytes) / nnz},
            {"product_seconds", timing.seconds},
            {"product_nnz_per_second", nnz / timing.seconds},
            {"speed_against_eigen", eigen_ / timing.seconds},
            {"error", timing.error}};
  }
  void say(const Json& row, const std::string& rows_per_lane, const std::string& row_ends,
           double encode_speed) const {
    console_->say("{:>8} {:>4} {:>9} {:>8.3f} {:>11} {:>9.3f} {:>7.2f} {:>9.1e}\n",
                  row["format"].get<std::string>(), rows_per_lane, row_ends,
                  row["bytes_per_nnz"].get<double>(),
                  encode_speed > 0 ? fmt::format("{:.1f}", encode_speed * 1e-6) : "",
                  row["product_nnz_per_second"].get<double>() * 1e-9,
                  row["speed_against_eigen"].get<double>(), row["error"].get<double>());
  }

  const Console* console_;
  std::int64_t nnz_;
  double eigen_ = 0;  // the first row's seconds
  Json rows_ = Json::array();
};

/// Measures a coding with each R; says R = 1 and the fastest.
template <class T>
void bench_coding(Context<Host>& context, const Csr<T>& matrix, PlanRequest request,
                  Problem<T>& problem, Table& table) {
  const std::optional<int> forced = request.rows_per_lane;
  Json first, fastest;
  for (const int rows_per_lane : all_rows_per_lane) {
    request.rows_per_lane = forced.value_or(rows_per_lane);
    const Stopwatch stopwatch;
    const auto compressed = compress(matrix, {.plan = request, .threads = context.threads()});
    const double encode_seconds = stopwatch.seconds();
    const CompressedOperator<T, Host> A(context, compressed);
    const Json row = table.add(compressed.plan(), compressed.storage().total(), encode_seconds,
                               time_operator(A, problem));
    if (first.is_null()) first = row;
    if (fastest.is_null() || row["product_seconds"] < fastest["product_seconds"]) fastest = row;
    if (forced) break;
  }
  table.say(first);
  if (fastest != first) table.say(fastest);
}

template <class T>
Json bench(const Options& options, const Console& console, Source<T> source) {
  const std::string name = source.name;
  const Csr<T> matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  Context<Host> context(options.input.threads);
  Problem<T> problem(matrix, options.input.seed);
  say_matrix(console, name, matrix,
             fmt::format("on {} thread{}", context.threads(), context.threads() == 1 ? "" : "s"));
  Table table(console, matrix.nnz());
  const std::int64_t csr_bytes = standard_bytes(matrix).csr;
  table.add("eigen", csr_bytes, time_eigen(matrix, context.threads(), problem));
  table.add("csr", csr_bytes, time_operator(CsrOperator<T, Host>(context, matrix), problem));
  for (const CodingTraits& coding : all_codings) {
    PlanRequest request = options.plan.request;
    if (request.coding && *request.coding != coding.coding) continue;
    request.coding = coding.coding;
    bench_coding(context, matrix, request, problem, table);
  }
  return {{"matrix", matrix_json(name, matrix)},
          {"device", "cpu"},
          {"threads", context.threads()},
          {"precision", sizeof(T) == 8 ? "f64" : "f32"},
          {"products", table.rows()}};
}

ExitCode run(const Options& options) {
  if (choose_gpu(options.device))
    throw Error(ErrorCode::not_supported, "bench: only --device cpu so far");
  if (options.plan.smallest_fixed)
    throw Error(ErrorCode::invalid_argument,
                "--plan: bench takes geometry=fixed8, fixed12 or fixed16, not fixed");
  const Console console(options.json);
  Json results = Json::array();
  for (const std::string& matrix : options.matrices) {
    InputOptions input = options.input;
    input.matrix = matrix;
    results.push_back(std::visit(
        [&](auto&& source) {
          return bench(options, console, std::forward<decltype(source)>(source));
        },
        load(input)));
  }
  console.document({{"warm_ups", warm_ups}, {"repetitions", repetitions}, {"results", results}});
  return ExitCode::done;
}

}  // namespace

Command add_bench(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand(
      "bench", "Time products in every format against Eigen's with CSR, and their encoding");
  const auto options = std::make_shared<Options>();
  parser.add_option("MATRIX", options->matrices, "As in solve; one or more")->required();
  add_precision_option(parser, options->input);
  add_generator_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_device_options(parser, options->device);
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
