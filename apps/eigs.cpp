// SPDX-License-Identifier: BSD-3-Clause
// tansolve eigs: A v = lambda v, and A v = lambda B v.
#include "advice.hpp"
#include "commands.hpp"
#include "eigensolvers.hpp"
#include "finite.hpp"
#include "interrupt.hpp"
#include "operators.hpp"
#include "output.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace tansolve::app {
namespace {

const std::vector<std::pair<std::string, Which>> all_ends = {
    {"smallest", Which::smallest}, {"largest", Which::largest}, {"magnitude", Which::magnitude}};

/// An end, or near:SIGMA. Throws CLI::ValidationError.
void set_which(const std::string& given, EigsCommandOptions& options) {
  for (const auto& [end, which] : all_ends)
    if (given == end) {
      options.which = which;
      return;
    }
  const std::string_view prefix = "near:";
  const char* end = given.data() + given.size();
  double target = 0;
  if (!given.starts_with(prefix) ||
      std::from_chars(given.data() + prefix.size(), end, target) !=
          std::from_chars_result{end, std::errc()} ||
      !std::isfinite(target))
    throw CLI::ValidationError(
        "--which",
        fmt::format("'{}' must be smallest, largest, magnitude or near:SIGMA, a number", given));
  options.which = Which::nearest;
  options.target = target;
}

template <class T>
EigenOptions<T> eigen_options(const EigsCommandOptions& options) {
  EigenOptions<T> result{.nev = options.nev,
                         .which = options.which,
                         .target = options.target,
                         .probe_symmetry = false};
  result.seed = options.input.seed;
  result.tolerance = options.tolerance.value_or(result.tolerance);
  result.time_limit = options.time_limit.value_or(result.time_limit);
  result.max_products = options.max_products.value_or(result.max_products);
  return result;
}

/// Shows each restart, or a status line, and passes Ctrl-C on.
EigenMonitor make_eigen_monitor(bool verbose, const Interrupt& interrupt, StatusLine& line) {
  return [verbose, &interrupt, &line](const EigenState& state) {
    if (verbose)
      complain("{:8} products, {:3} pairs converged, residual {:.6e}{}\n", state.products,
               state.converged, state.residual, state.searching ? ", searching" : "");
    else
      line.show(fmt::format("{} products, {} pairs converged, residual {:.3e}", state.products,
                            state.converged, state.residual));
    return !interrupt.requested();
  };
}

/// Throws Error(invalid_argument) where no eigensolver fits. Of a container symmetry is not known.
template <class T>
std::optional<bool> look_at_symmetry(const Source<T>& source) {
  const auto require = [&](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", source.name, what));
  };
  return std::visit(
      [&](const auto& matrix) -> std::optional<bool> {
        require(
            matrix.rows() == matrix.cols(),
            fmt::format("is {} x {}, eigs takes square matrices", matrix.rows(), matrix.cols()));
        if constexpr (std::is_same_v<decltype(matrix), const Csr<T>&>) {
          const std::string not_finite = not_finite_entries(matrix);
          require(not_finite.empty(), "has no eigenvalues: " + not_finite);
          require(is_symmetric(matrix), "is not symmetric, which the eigensolvers need");
          return true;
        } else {
          return {};
        }
      },
      source.matrix);
}

Json eigs_json(const EigenReport& report, const std::vector<double>& verified,
               const std::vector<double>& seconds) {
  std::vector<double> values, residuals;
  std::vector<bool> converged;
  for (const EigenPair& pair : report.pairs) {
    values.push_back(pair.value);
    residuals.push_back(pair.residual);
    converged.push_back(pair.converged);
  }
  const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  return {{"solver", report.solver},
          {"preconditioner", or_none(report.preconditioner_name)},
          {"mass", or_none(report.mass_name)},
          {"status", name(report.status)},
          {"status_text", text(report.status)},
          {"detail", report.detail},
          {"advice", advice(report)},
          {"warnings", report.warnings},
          {"eigenvalues", values},
          {"residuals", residuals},
          {"verified_residuals", verified},
          {"pair_converged", converged},
          {"converged", report.converged_pairs()},
          {"norm", report.norm},
          {"threshold", report.threshold},
          {"verified", report.verified},
          {"proof", or_none(report.proof)},
          {"restarts", report.iterations},
          {"searches", report.searches},
          {"operator_applications", report.operator_applications},
          {"factorizations", report.factorizations},
          {"solutions", report.solutions},
          {"factor_bytes", report.factor_bytes},
          {"seconds", report.setup_seconds + report.solve_seconds},
          {"seconds_of_each", seconds},
          {"workspace_bytes", report.workspace_bytes}};
}

void require_room(std::int64_t nev, std::int64_t n) {
  if (nev < 1 || nev > n)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--nev {}: there are {} eigenvalues", nev, n));
}

template <class T, class B>
ExitCode find_on(Context<B>& context, const std::string& device, const EigsCommandOptions& options,
                 const Output& output, const Prepared<T>& matrix, std::optional<bool> symmetric) {
  const Console& console = output.console;
  const auto A = make_operator(context, matrix, options.device.deterministic);
  say_matrix(console, matrix.name, matrix, symmetric ? "symmetric" : "symmetry unknown");
  say_plan_and_storage(console, matrix);
  const auto mass = read_mass<T>(options.mass, options.input, A->rows());
  auto finding = eigen_options<T>(options);
  finding.probe_symmetry = !symmetric;
  require_room(options.nev, A->rows());

  Vector<T, B> device_vectors(context, A->rows() * options.nev);
  EigenReport report;
  std::vector<double> seconds;  // of each solve, its workspace included
  const Interrupt interrupt;    // until the vectors are written
  {
    StatusLine line;
    finding.monitor = make_eigen_monitor(options.verbose, interrupt, line);
    while (std::ssize(seconds) < options.repeat && report.status != Status::cancelled) {
      const Stopwatch watch;
      report = find_pairs<T, B>(console, options, finding, *A, matrix, mass, device_vectors);
      seconds.push_back(watch.seconds());
    }
  }
  std::vector<T> vectors(device_vectors.size());
  copy_to_host<T>(context, device_vectors, vectors);
  const auto verified = verified_residuals(matrix, mass, report, vectors);
  const auto unknown_last = [](double residual) {
    return std::pair(std::isnan(residual), residual);
  };
  std::ostringstream printed;
  printed << report;
  console.say("{}  largest residual recomputed apart from the solver: {:.3e}\n", printed.str(),
              *std::ranges::max_element(verified, {}, unknown_last));
  if (options.repeat > 1)
    console.say("  each solve with its workspace: {:.4f} s\n", fmt::join(seconds, ", "));
  if (const auto next = advice(report); !next.empty()) console.say("  try {}\n", next);
  Json about = matrix_json(matrix.name, matrix);
  about["symmetric"] = symmetric ? Json(*symmetric) : Json();
  console.document({{"matrix", about},
                    {"device", device},
                    {"threads", Context<Host>(options.input.threads).threads()},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"eigs", eigs_json(report, verified, seconds)}});
  if (!output.path.empty())
    write_dense(
        output.path,
        {.rows = A->rows(), .cols = options.nev, .values = {vectors.begin(), vectors.end()}});
  return report.converged() ? ExitCode::done : ExitCode::not_converged;
}

ExitCode find(EigsCommandOptions options) {
  const Output output = open_output(options.output, options.json);
  const std::optional<int> gpu = choose_gpu(options.device);
  return std::visit(
      [&]<class T>(Source<T> source) {
        const auto symmetric = look_at_symmetry(source);
        if (options.nev_by_default)
          options.nev = std::visit(
              [&](const auto& each) {
                return std::clamp<std::int64_t>(each.rows(), 1, options.nev);
              },
              source.matrix);
        PlanOptions plan = options.plan;
        if (gpu) plan.request.processor = Processor::gpu;
        const auto matrix = prepare(std::move(source), plan, options.input.threads);
#if TANSOLVE_HAS_CUDA
        if (gpu) {
          Context<Cuda> context(*gpu);
          return find_on(context, context.properties().name, options, output, matrix, symmetric);
        }
#endif
        Context<Host> context(options.input.threads);
        return find_on(context, "cpu", options, output, matrix, symmetric);
      },
      load(options.input));
}

void add_eigensolver_options(CLI::App& parser, EigsCommandOptions& options) {
  const CLI::Validator count = whole_number(std::numeric_limits<std::int64_t>::max());
  parser
      .add_option_function<std::int64_t>(
          "--nev",
          [&options](std::int64_t nev) {
            options.nev = nev;
            options.nev_by_default = false;
          },
          "Pairs wanted; 6, or all of a smaller matrix")
      ->check(count)
      ->type_name("K");
  parser
      .add_option_function<std::string>(
          "--which", [&](const std::string& given) { set_which(given, options); },
          "The algebraically smallest, the default, the largest, the largest in magnitude, or "
          "those nearest to SIGMA")
      ->type_name("smallest|largest|magnitude|near:SIGMA");
  add_choice<std::string>(parser, "--solver",
                          {{"auto", "auto"},
                           {"lanczos", "lanczos"},
                           {"lobpcg", "lobpcg"},
                           {"shift-invert", "shift-invert"}},
                          options.solver,
                          "auto, the default: lanczos, and where it stalls shift-invert, on the "
                          "host; lobpcg for --precond");
  add_choice<bool>(parser, "--precond", {{"none", false}, {"jacobi", true}}, options.jacobi,
                   "Of lobpcg; none by default");
  parser
      .add_option("--b", options.mass,
                  "B of A v = lambda B v, symmetric positive definite: a "
                  "file as MATRIX; none: the identity")
      ->type_name("FILE");
  parser
      .add_option("--tol", options.tolerance,
                  "Converged: ||A v - lambda v|| <= tol times the largest Ritz value's magnitude; "
                  "1e-8, in f32 1e-5")
      ->check(not_negative);
  parser
      .add_option("--ncv", options.space.ncv,
                  "Vectors of the basis; K and as many again, at least 30. More of them take fewer "
                  "products")
      ->check(count)
      ->type_name("M");
  parser
      .add_option("--block", options.space.block,
                  "Vectors that the space grows from; finds eigenvalues so many fold at once")
      ->check(count)
      ->type_name("P")
      ->capture_default_str();
  parser
      .add_option("--filter", options.space.degree,
                  "Highest degree of the Chebyshev polynomials of A that take over where restarts "
                  "do not lead on; 1: none")
      ->check(count)
      ->type_name("D")
      ->capture_default_str();
  add_choice<BasisStorage>(parser, "--basis-precision",
                           {{"working", BasisStorage::working},
                            {"f32", BasisStorage::fp32},
                            {"f16", BasisStorage::fp16}},
                           options.space.storage,
                           "Of the stored basis; below working precision --tol has a limit");
  add_choice<Verification>(parser, "--verify",
                           {{"on", Verification::search},
                            {"off", Verification::none},
                            {"inertia", Verification::inertia}},
                           options.verification,
                           "on, the default: search for missed copies of multiple eigenvalues "
                           "before saying converged; inertia: count them by a factorisation");
  parser.add_option("--max-products", options.max_products, "Most products with A; 1000000")
      ->check(count)
      ->type_name("N");
  parser.add_option("--time-limit", options.time_limit, "Most seconds; no limit")
      ->check(not_negative)
      ->type_name("S");
  parser
      .add_option("--repeat", options.repeat,
                  "Solve so many times, and tell the seconds of each: the first one also loads the "
                  "kernels of a GPU")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}))
      ->type_name("R")
      ->capture_default_str();
}

}  // namespace

Command add_eigs(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand(
      "eigs", "Eigenvalues of a symmetric A, at an end of the spectrum or within");
  const auto options = std::make_shared<EigsCommandOptions>();
  add_input_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_format_option(parser, options->plan);
  add_device_options(parser, options->device);
  add_eigensolver_options(parser, *options);
  add_output_option(parser, options->output,
                    "Write the vectors, n x K, converged or not, as Matrix Market", "V.mtx",
                    "-o,--output,--vectors");
  parser.add_flag("-v,--verbose", options->verbose, "Each restart on stderr");
  add_json_option(parser, options->json);
  return {&parser, [options] { return find(*options); }};
}

}  // namespace tansolve::app
