// SPDX-License-Identifier: BSD-3-Clause
// tansolve bench: products with compressed matrices against those of the standard formats: of
// cuSPARSE on a GPU, else of Eigen, and our own with CSR.
#include "bench.hpp"

#include "commands.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <utility>

namespace tansolve::app {

template <class T>
std::vector<T> bench_vector(std::int64_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(size);
  for (T& element : x) element = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return x;
}

template std::vector<double> bench_vector(std::int64_t, std::uint64_t);
template std::vector<float> bench_vector(std::int64_t, std::uint64_t);

template <class T>
ExpectedProduct<T>::ExpectedProduct(const Csr<T>& A, const std::vector<T>& x) : y_(A.rows()) {
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    long double sum = 0;
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      sum += static_cast<long double>(A.values()[k]) * x[A.columns()[k]];
    y_[i] = static_cast<double>(sum);
  }
}

template <class T>
double ExpectedProduct<T>::error(const std::vector<T>& y) const {
  long double difference = 0, norm = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const long double d = static_cast<long double>(y[i]) - y_[i];
    difference += d * d;
    norm += static_cast<long double>(y_[i]) * y_[i];
  }
  return static_cast<double>(std::sqrt(norm > 0 ? difference / norm : difference));
}

template class ExpectedProduct<double>;
template class ExpectedProduct<float>;

double median(std::vector<double>& numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

namespace {

constexpr int host_rows_per_lane[] = {1, 2, 4, 8, 16};

struct HostTiming {
  double seconds = 0;  ///< median of the repetitions
  double error = 0;
};

/// A product's operands.
template <class T>
struct HostProblem {
  HostProblem(const Csr<T>& A, std::uint64_t seed)
      : x(bench_vector<T>(A.cols(), seed)), y(A.rows()), expected(A, x) {}

  /// y is poisoned before each product, so that an element left out shows in the error.
  template <class Product>
  HostTiming time(const Product& product) {
    std::vector<double> seconds;
    for (int i = 0; i < bench_warm_ups + bench_repetitions; ++i) {
      std::ranges::fill(y, std::numeric_limits<T>::quiet_NaN());
      const Stopwatch stopwatch;
      product();
      if (i >= bench_warm_ups) seconds.push_back(stopwatch.seconds());
    }
    return {.seconds = median(seconds), .error = expected.error(y)};
  }

  std::vector<T> x, y;
  ExpectedProduct<T> expected;
};

template <class T>
HostTiming time_operator(const LinearOperator<T, Host>& A, HostProblem<T>& problem) {
  return problem.time([&] {
    A.apply({problem.x.data(), std::ssize(problem.x)}, {problem.y.data(), std::ssize(problem.y)});
  });
}

/// Rows of the table and of the document, one a format; an error beyond `bound` is wrong.
class HostTable {
 public:
  HostTable(const Console& console, std::int64_t nnz, double bound)
      : console_(&console), nnz_(nnz), bound_(bound) {
    console.say("{:>8} {:>4} {:>9} {:>8} {:>11} {:>9} {:>7} {:>9}\n", "format", "R", "row ends",
                "B/nnz", "encode", "product", "Eigen", "error");
    console.say("{:>8} {:>4} {:>9} {:>8} {:>11} {:>9} {:>7} {:>9}\n", "", "", "", "", "Mnnz/s",
                "Gnnz/s", "= 1", "");
  }

  void add(const char* format, std::int64_t bytes, const HostTiming& timing) {
    if (eigen_ == 0) eigen_ = timing.seconds;
    rows_.push_back(figures(format, bytes, timing));
    say(rows_.back(), "", "", 0);
  }
  /// Returns the row, to be said or not.
  Json add(const Plan& plan, std::int64_t bytes, double encode_seconds, const HostTiming& timing) {
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
  bool right() const { return right_; }

 private:
  Json figures(std::string_view format, std::int64_t bytes, const HostTiming& timing) {
    const auto nnz = static_cast<double>(nnz_);
    const bool wrong = !(timing.error <= bound_);
    right_ = right_ && !wrong;
    return {{"format", format},
            {"bytes_per_nnz", static_cast<double>(bytes) / nnz},
            {"product_seconds", timing.seconds},
            {"product_nnz_per_second", nnz / timing.seconds},
            {"speed_against_eigen", eigen_ / timing.seconds},
            {"error", timing.error},
            {"wrong", wrong}};
  }
  void say(const Json& row, const std::string& rows_per_lane, const std::string& row_ends,
           double encode_speed) const {
    console_->say("{:>8} {:>4} {:>9} {:>8.3f} {:>11} {:>9.3f} {:>7.2f} {:>9.1e}{}\n",
                  row["format"].get<std::string>(), rows_per_lane, row_ends,
                  row["bytes_per_nnz"].get<double>(),
                  encode_speed > 0 ? fmt::format("{:.1f}", encode_speed * 1e-6) : "",
                  row["product_nnz_per_second"].get<double>() * 1e-9,
                  row["speed_against_eigen"].get<double>(), row["error"].get<double>(),
                  row["wrong"].get<bool>() ? " WRONG" : "");
  }

  const Console* console_;
  std::int64_t nnz_;
  double bound_;
  double eigen_ = 0;  // the first row's seconds
  bool right_ = true;
  Json rows_ = Json::array();
};

/// Measures a coding with each R, where it has streams; says R = 1 and the fastest.
template <class T>
void bench_coding(Context<Host>& context, const Csr<T>& matrix, PlanRequest request,
                  HostProblem<T>& problem, HostTable& table) {
  const std::optional<int> forced = request.rows_per_lane;
  Json first, fastest;
  for (const int rows_per_lane : host_rows_per_lane) {
    const bool streams = is_stream(*request.coding);
    if (streams) request.rows_per_lane = forced.value_or(rows_per_lane);
    const Stopwatch stopwatch;
    const auto compressed = compress(matrix, {.plan = request, .threads = context.threads()});
    const double encode_seconds = stopwatch.seconds();
    const CompressedOperator<T, Host> A(context, compressed);
    const Json row = table.add(compressed.plan(), compressed.storage().total(), encode_seconds,
                               time_operator(A, problem));
    if (first.is_null()) first = row;
    if (fastest.is_null() || row["product_seconds"] < fastest["product_seconds"]) fastest = row;
    if (forced || !streams) break;
  }
  table.say(first);
  if (fastest != first) table.say(fastest);
}

template <class T>
Json bench_matrix(const BenchOptions& options, const Console& console, Source<T> source,
                  bool& right) {
  const std::string name = source.name;
  const Csr<T> matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  if (matrix.nnz() == 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no nonzeros to bench", name));
  Context<Host> context(options.input.threads);
  HostProblem<T> problem(matrix, options.input.seed);
  say_matrix(console, name, matrix,
             fmt::format("on {} thread{}", context.threads(), context.threads() == 1 ? "" : "s"));
  HostTable table(console, matrix.nnz(), error_bound<T>);
  const std::int64_t csr_bytes = standard_bytes(matrix).csr;
  table.add(
      "eigen", csr_bytes,
      problem.time(eigen_product(matrix, context.threads(), problem.x.data(), problem.y.data())));
  table.add("csr", csr_bytes, time_operator(CsrOperator<T, Host>(context, matrix), problem));
  for (const CodingTraits& coding : all_codings) {
    PlanRequest request = options.plan.request;
    if (request.coding && *request.coding != coding.coding) continue;
    const bool of_streams = request.rows_per_lane || request.row_ends;
    if (!request.coding && of_streams && !is_stream(coding.coding)) continue;
    request.coding = coding.coding;
    bench_coding(context, matrix, request, problem, table);
  }
  right = right && table.right();
  return {{"matrix", matrix_json(name, matrix)}, {"device", "cpu"},
          {"threads", context.threads()},        {"precision", sizeof(T) == 8 ? "f64" : "f32"},
          {"error_bound", error_bound<T>},       {"products", table.rows()}};
}

BenchOutcome bench_on_host(const BenchOptions& options, const Console& console) {
  BenchOutcome outcome;
  outcome.document = {{"warm_ups", bench_warm_ups}, {"repetitions", bench_repetitions}};
  bool right = true;
  bench_each(options, outcome, [&]<class T>(Source<T> source) {
    return bench_matrix(options, console, std::move(source), right);
  });
  if (!right) outcome.code = ExitCode::internal;
  return outcome;
}

BenchOutcome bench_where_asked(const BenchOptions& options, const Console& console) {
  [[maybe_unused]] const std::optional<int> gpu = choose_gpu(options.device);
#if TANSOLVE_HAS_CUDA
  if (gpu) return bench_on_gpu(options, *gpu, console);
#endif
  return bench_on_host(options, console);
}

ExitCode run(const BenchOptions& options) {
  if (options.plan.smallest_fixed)
    throw Error(ErrorCode::invalid_argument,
                "--plan: bench takes geometry=fixed8, fixed12 or fixed16, not fixed");
  const Console console(options.json);
  const BenchOutcome outcome = bench_where_asked(options, console);
  console.document(outcome.document);
  return outcome.code;
}

}  // namespace

Command add_bench(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand(
      "bench", "Time products in every format against cuSPARSE's, or Eigen's on the host");
  const auto options = std::make_shared<BenchOptions>();
  parser.add_option("MATRIX", options->matrices, "As in solve; one or more")->required();
  add_precision_option(parser, options->input);
  add_generator_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_choice<BenchPlans>(parser, "--plans",
                         {{"all", BenchPlans::all}, {"chosen", BenchPlans::chosen}}, options->plans,
                         "On a GPU: every plan (that --plan allows), or the planner's alone");
  parser
      .add_option("--columns", options->columns,
                  "On a GPU: also products of the planner's plan with so many vectors at once")
      ->check(whole_number(64))
      ->type_name("K");
  add_device_options(parser, options->device);
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
