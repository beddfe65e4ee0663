// SPDX-License-Identifier: BSD-3-Clause
// The benchmark on a GPU: every plan against every format of cuSPARSE, in the same run.
#include "bench_cuda_timer.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/cuda/vendor_operator.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::app {
namespace {

constexpr int gpu_rows_per_lane[] = {1, 2, 4, 16};

struct DeviceTiming {
  double warm = 0, cold = 0;  ///< seconds
  double error = 0;           ///< the larger of both
};

/// A product's operands on the GPU.
template <class T>
class DeviceProblem {
 public:
  DeviceProblem(Context<Cuda>& context, const Csr<T>& A, std::uint64_t seed)
      : DeviceProblem(context, A, bench_vector<T>(A.cols(), seed)) {}

  /// y is poisoned before each series, so that an element left out shows in the error.
  DeviceTiming time(const LinearOperator<T, Cuda>& A, DeviceTimer& timer) {
    const auto product = [&] { A.apply(x_, y_); };
    DeviceTiming timing;
    poison(y_);
    timing.warm = timer.warm(product);
    const double error = relative_error();
    poison(y_);
    timing.cold = timer.cold(product);
    timing.error = std::isnan(error) ? error : std::max(relative_error(), error);
    return timing;
  }

 private:
  DeviceProblem(Context<Cuda>& context, const Csr<T>& A, const std::vector<T>& x)
      : x_(context, A.cols()), y_(context, A.rows()), expected_(A, x), found_(A.rows()) {
    copy_from_host(context, x, x_.span());
  }
  double relative_error() {
    copy_to_host<T>(x_.context(), y_, found_);
    return expected_.error(found_);
  }

  Vector<T, Cuda> x_, y_;
  ExpectedProduct<T> expected_;
  std::vector<T> found_;
};

/// Rows of the table and of the document, one a format; cuSPARSE's come first.
template <class T>
class DeviceTable {
 public:
  DeviceTable(const Console& console, const Csr<T>& matrix)
      : console_(&console),
        nnz_(static_cast<double>(matrix.nnz())),
        vector_bytes_(static_cast<double>(matrix.rows() + matrix.cols()) * sizeof(T)) {
    const StandardBytes standard = standard_bytes(matrix);
    smallest_ = static_cast<double>(std::min({standard.csr, standard.coo, standard.sell}));
    console.say("{:>9} {:>4} {:>9} {:>7} {:>6} {:>8} {:>14} {:>14} {:>6} {:>7} {:>8}\n", "format",
                "R", "row ends", "B/nnz", "size", "encode", "warm", "cold", "warm", "break-",
                "error");
    console.say("{:>9} {:>4} {:>9} {:>7} {:>6} {:>8} {:>7} {:>6} {:>7} {:>6} {:>6} {:>7} {:>8}\n",
                "", "", "", "", "ratio", "Mnnz/s", "Gnnz/s", "ratio", "Gnnz/s", "ratio", "GB/s",
                "even", "");
  }

  /// `block`: of BSR, else 0.
  void add_vendor(const VendorOperator<T>& A, int block, const DeviceTiming& timing) {
    const VendorFormat format = A.format();
    const auto bytes = static_cast<double>(A.matrix_bytes());
    smallest_ = std::min(smallest_, bytes);
    Json row = figures("cusparse", name(format), bytes, timing);
    if (block > 0) row["block"] = block;
    const bool right = !row["wrong"].get<bool>();
    if (right && (vendor_.warm == 0 || timing.warm < vendor_.warm)) {
      vendor_.warm = timing.warm;
      fastest_warm_ = name(format);
    }
    if (right && (vendor_.cold == 0 || timing.cold < vendor_.cold)) {
      vendor_.cold = timing.cold;
      fastest_cold_ = name(format);
    }
    row["device_bytes"] = A.device_bytes();
    row["reproducible"] = VendorOperator<T>::reproducible(format);
    rows_.push_back(row);
  }
  void add_missing(VendorFormat format, const char* reason) {
    rows_.push_back({{"library", "cusparse"}, {"format", name(format)}, {"missing", reason}});
    console_->say("{:>9}      {}\n", name(format), reason);
  }
  /// Ratios are against the fastest of those that are right, so that it must be known: says their
  /// rows, and which the fastest is.
  void end_of_vendors() {
    for (Json& row : rows_)
      if (!row.contains("missing")) {
        compare(row);
        say(row);
      }
    if (vendor_.warm > 0)
      console_->say("the fastest of cuSPARSE, = 1: warm {}, cold {}\n", fastest_warm_,
                    fastest_cold_);
  }
  /// Returns the row, to be said or not.
  Json add(const Plan& plan, const PlanChoice& choice, double bytes, double encode_seconds,
           const DeviceTiming& timing) {
    Json row = figures("tansolve", traits(plan.coding).name, bytes, timing);
    row["rows_per_lane"] = plan.rows_per_lane;
    row["row_ends"] = row_ends_name(plan.row_ends);
    row["chosen"] = plan == choice.chosen.plan;
    const auto predicted = std::ranges::find(choice.considered, plan, &Candidate::plan);
    if (predicted != choice.considered.end())
      row["predicted"] = {{"seconds", predicted->nanoseconds * 1e-9}, {"bytes", predicted->bytes}};
    row["encode"] = {{"seconds", encode_seconds}, {"nnz_per_second", nnz_ / encode_seconds}};
    compare(row);
    const double gain = vendor_.warm - timing.warm;
    row["break_even_products"] = gain > 0 ? Json(encode_seconds / gain) : Json(nullptr);
    rows_.push_back(row);
    return row;
  }

  void say(const Json& row) const {
    const auto number = [&](const Json& of, const char* field, const char* format, double scale) {
      return of.contains(field) && of[field].is_number()
                 ? fmt::format(fmt::runtime(format), of[field].get<double>() * scale)
                 : std::string();
    };
    const bool ours = row.contains("encode");
    const Json none = Json::object();
    const Json& encode = ours ? row["encode"] : none;
    console_->say(
        "{:>9} {:>4} {:>9} {:>7} {:>6} {:>8} {:>7} {:>6} {:>7} {:>6} {:>6} {:>7} {:>8}{}{}\n",
        row["format"].get<std::string>(), ours ? row["rows_per_lane"].dump() : "",
        ours ? row["row_ends"].get<std::string>() : "", number(row, "bytes_per_nnz", "{:.3f}", 1),
        number(row, "size_ratio", "{:.2f}", 1), number(encode, "nnz_per_second", "{:.1f}", 1e-6),
        number(row["warm"], "nnz_per_second", "{:.1f}", 1e-9),
        number(row["warm"], "speed_up", "{:.2f}", 1),
        number(row["cold"], "nnz_per_second", "{:.1f}", 1e-9),
        number(row["cold"], "speed_up", "{:.2f}", 1),
        number(row["warm"], "bytes_per_second", "{:.0f}", 1e-9),
        number(row, "break_even_products", "{:.0f}", 1), number(row, "error", "{:.1e}", 1),
        row.value("chosen", false) ? " *" : "", row["wrong"].get<bool>() ? " WRONG" : "");
  }
  const Json& rows() const { return rows_; }
  double smallest_bytes() const { return smallest_; }
  std::string_view fastest_warm() const { return fastest_warm_; }
  std::string_view fastest_cold() const { return fastest_cold_; }
  bool right() const { return right_; }

 private:
  Json figures(const char* library, std::string_view format, double bytes,
               const DeviceTiming& timing) {
    const bool wrong = !(timing.error <= error_bound<T>);
    right_ = right_ && !wrong;
    const auto speed = [&](double seconds) -> Json {
      return {{"seconds", seconds},
              {"nnz_per_second", nnz_ / seconds},
              {"bytes_per_second", (bytes + vector_bytes_) / seconds}};
    };
    return {{"library", library},
            {"format", format},
            {"bytes_per_nnz", bytes / nnz_},
            {"warm", speed(timing.warm)},
            {"cold", speed(timing.cold)},
            {"error", timing.error},
            {"wrong", wrong}};
  }
  /// Against the fastest and the smallest standard format.
  void compare(Json& row) const {
    row["size_ratio"] = smallest_ / (row["bytes_per_nnz"].get<double>() * nnz_);
    if (vendor_.warm == 0) return;  // cuSPARSE could hold the matrix in no format
    row["warm"]["speed_up"] = vendor_.warm / row["warm"]["seconds"].get<double>();
    row["cold"]["speed_up"] = vendor_.cold / row["cold"]["seconds"].get<double>();
  }

  const Console* console_;
  double nnz_, vector_bytes_;
  DeviceTiming vendor_;                           // the fastest, warm and cold
  std::string_view fastest_warm_, fastest_cold_;  // of cuSPARSE's formats
  double smallest_ = 0;                           // bytes of a standard format
  bool right_ = true;
  Json rows_ = Json::array();
};

template <class T>
void bench_vendor(Context<Cuda>& context, const Csr<T>& matrix, DeviceTimer& timer,
                  DeviceProblem<T>& problem, DeviceTable<T>& table) {
  const std::optional<BlockChoice> blocks = choose_block(matrix);
  for (const VendorFormat format : all_vendor_formats) {
    if (in_blocks(format) && !blocks) continue;
    const int block = in_blocks(format) ? blocks->block : 0;
    try {
      const VendorOperator<T> A(context, matrix, format, block);
      table.add_vendor(A, block, problem.time(A, timer));
    } catch (const Error& error) {
      context.synchronize();  // throws where the GPU is lost to this process, and all is over
      table.add_missing(format, error.what());
    }
  }
  table.end_of_vendors();
}

/// The planner's plan first, then the others of the grid, or none.
std::vector<Plan> bench_plans(const BenchOptions& options, const Plan& chosen) {
  const PlanRequest& request = options.plan.request;
  std::vector<Plan> plans = {chosen};
  if (options.plans == BenchPlans::chosen) return plans;
  for (const CodingTraits& coding : all_codings)
    for (const RowEnds ends : {RowEnds::aligned, RowEnds::crossing})
      for (const int rows_per_lane : gpu_rows_per_lane) {
        Plan plan = {request.coding.value_or(coding.coding),
                     request.rows_per_lane.value_or(rows_per_lane),
                     request.row_ends.value_or(ends)};
        if (!is_stream(plan.coding)) {
          if (request.rows_per_lane || request.row_ends) continue;
          plan = {.coding = plan.coding};
        }
        if (std::ranges::find(plans, plan) == plans.end()) plans.push_back(plan);
      }
  return plans;
}

/// Says the planner's plan, and of each coding one row a lane, aligned, and the fastest.
class PlanRows {
 public:
  template <class T>
  void add(const Plan& plan, const Json& row, const DeviceTable<T>& table) {
    if (!coding_ || *coding_ != plan.coding) flush(table);
    coding_ = plan.coding;
    if (row["chosen"].get<bool>() || (plan.rows_per_lane == 1 && plan.row_ends == RowEnds::aligned))
      table.say(row);
    else if (fastest_.is_null() || row["warm"]["seconds"] < fastest_["warm"]["seconds"])
      fastest_ = row;
  }
  template <class T>
  void flush(const DeviceTable<T>& table) {
    if (!fastest_.is_null()) table.say(fastest_);
    fastest_ = nullptr;
  }

 private:
  std::optional<Coding> coding_;
  Json fastest_;
};

/// Returns the document of products with several vectors, if they were asked for.
template <class T>
Json bench_compressed(const BenchOptions& options, Context<Cuda>& context, const Csr<T>& matrix,
                      DeviceTimer& timer, DeviceProblem<T>& problem, DeviceTable<T>& table,
                      const Console& console, bool& right) {
  Json block;
  const Stopwatch counting;
  const Histogram histogram = count_pairs(matrix, options.input.threads);
  PlanRequest request = options.plan.request;
  request.processor = Processor::gpu;
  const PlanChoice choice = choose_plan(matrix, histogram, request);
  const double counting_seconds = counting.seconds();
  PlanRows rows;
  for (const Plan& plan : bench_plans(options, choice.chosen.plan)) {
    const Stopwatch encoding;
    const auto compressed = encode(matrix, plan, histogram, {.threads = options.input.threads});
    const double encode_seconds = counting_seconds + encoding.seconds();
    const CompressedOperator<T, Cuda> A(context, compressed);
    const auto bytes = static_cast<double>(compressed.storage().total());
    rows.add(plan, table.add(plan, choice, bytes, encode_seconds, problem.time(A, timer)), table);
    if (plan == choice.chosen.plan && options.columns > 1)
      block = bench_block(matrix, A, options.columns, options.input.seed, timer, console, right);
  }
  rows.flush(table);
  return block;
}

template <class T>
Json bench_matrix(const BenchOptions& options, Context<Cuda>& context, DeviceTimer& timer,
                  const Console& console, Source<T> source, bool& right) {
  const std::string name = source.name;
  const Csr<T> matrix = take_csr<T>(std::move(source.matrix), options.input.threads);
  if (matrix.nnz() == 0)
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no nonzeros to bench", name));
  DeviceProblem<T> problem(context, matrix, options.input.seed);
  say_matrix(console, name, matrix, sizeof(T) == 8 ? "f64" : "f32");
  DeviceTable<T> table(console, matrix);
  bench_vendor(context, matrix, timer, problem, table);
  const Json block =
      bench_compressed(options, context, matrix, timer, problem, table, console, right);
  right = right && table.right();
  Json about = matrix_json(name, matrix);
  about["mean_row_length"] = static_cast<double>(matrix.nnz()) / static_cast<double>(matrix.rows());
  return {{"matrix", about},
          {"precision", sizeof(T) == 8 ? "f64" : "f32"},
          {"error_bound", error_bound<T>},
          {"smallest_standard_bytes_per_nnz",
           table.smallest_bytes() / static_cast<double>(matrix.nnz())},
          {"fastest_vendor", {{"warm", table.fastest_warm()}, {"cold", table.fastest_cold()}}},
          {"products", table.rows()},
          {"block", block}};
}

}  // namespace

BenchOutcome bench_on_gpu(const BenchOptions& options, int device, const Console& console) {
  Context<Cuda> context(device);
  console.note("device: cuda:{} ({})\n", device, context.properties().name);
  DeviceTimer timer(context);
  BenchOutcome outcome;
  outcome.document = {{"warm_ups", bench_warm_ups},
                      {"repetitions", bench_repetitions},
                      {"flush_bytes", timer.flush_bytes()},
                      {"device", device_json(context, timer)}};
  console.say("copy      {:.0f} GB/s from device memory to device memory\n",
              outcome.document["device"]["copy_bytes_per_second"].get<double>() * 1e-9);
  outcome.document["primitives"] = bench_primitives(context, timer, console);
  bool right = true;
  bench_each(options, outcome, [&]<class T>(Source<T> source) {
    return bench_matrix(options, context, timer, console, std::move(source), right);
  });
  if (!right) outcome.code = ExitCode::internal;
  return outcome;
}

}  // namespace tansolve::app
