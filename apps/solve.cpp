// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve: A x = b.
#include "commands.hpp"
#include "interrupt.hpp"
#include "method.hpp"
#include "prepare.hpp"
#include "system.hpp"

#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/cg.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace tansolve::app {
namespace {

struct Options {
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  bool json = false;
  bool verbose = false;
  Solver solver = Solver::automatic;
  Preconditioner preconditioner = Preconditioner::automatic;
  std::string rhs = "ones";
  std::string x0;
  std::string output;
  std::optional<double> rtol, atol, time_limit;
  std::optional<std::int64_t> max_iterations;
};

template <class T, class B>
std::unique_ptr<LinearOperator<T, B>> make_operator(Context<B>& context,
                                                    const Prepared<T>& matrix) {
  if (matrix.compressed)
    return std::make_unique<CompressedOperator<T, B>>(context, *matrix.compressed);
  return std::make_unique<CsrOperator<T, B>>(context, *matrix.csr);
}

template <class T, class B>
SolveOptions<T, B> solve_options(const Options& options, const LinearOperator<T, B>* M) {
  SolveOptions<T, B> result{.preconditioner = M};
  result.rtol = options.rtol.value_or(result.rtol);
  result.atol = options.atol.value_or(result.atol);
  result.max_iterations = options.max_iterations.value_or(result.max_iterations);
  result.time_limit = options.time_limit.value_or(result.time_limit);
  return result;
}

/// Shows each iteration, or a status line, and passes Ctrl-C on.
Monitor make_monitor(bool verbose, const Interrupt& interrupt, StatusLine& line) {
  return [verbose, &interrupt, &line](std::int64_t iteration, double residual) {
    if (verbose)
      complain("{:8} {:.6e}\n", iteration, residual);
    else
      line.show(fmt::format("iteration {}, residual {:.3e}", iteration, residual));
    return !interrupt.requested();
  };
}

Json solve_json(const Report& report, const Method& method, double verified) {
  const double iterations = static_cast<double>(report.iterations);
  return {
      {"solver", report.solver},
      {"solver_reason", method.solver_reason},
      {"preconditioner", report.preconditioner_name.empty() ? "none" : report.preconditioner_name},
      {"preconditioner_reason", method.preconditioner_reason},
      {"status", name(report.status)},
      {"status_text", text(report.status)},
      {"detail", report.detail},
      {"warnings", report.warnings},
      {"iterations", report.iterations},
      {"restarts", report.restarts},
      {"operator_applications", report.operator_applications},
      {"rhs_norm", report.baseline},
      {"threshold", report.threshold},
      {"initial_residual", report.initial_residual},
      {"recurrence_residual", report.residual},
      {"true_residual", report.true_residual},
      {"verified_residual", verified},
      {"relative_residual", report.true_residual / report.baseline},
      {"seconds", report.setup_seconds + report.solve_seconds},
      {"seconds_per_iteration", report.solve_seconds / iterations},
      {"workspace_bytes", report.workspace_bytes}};
}

template <class T>
void write_answer(const std::string& path, const std::vector<T>& x) {
  write_dense(path, {.rows = std::ssize(x), .cols = 1, .values = {x.begin(), x.end()}});
}

template <class T, class B>
ExitCode solve_on(Context<B>& context, const std::string& device, const Options& options,
                  const Prepared<T>& matrix, std::optional<bool> symmetric,
                  const Dense& rhs_inside) {
  const Console console(options.json);
  const auto A = make_operator(context, matrix);
  const Traits traits = look_at(*A, symmetric);
  say_matrix(console, matrix.name, matrix,
             !symmetric   ? "symmetry unknown"
             : *symmetric ? "symmetric"
                          : "not symmetric");
  say_plan_and_storage(console, matrix);
  const Method method = choose_method(traits, options.solver, options.preconditioner);
  console.say("solver    cg: {}\nprecond   {}: {}\n", method.solver_reason,
              method.jacobi ? "jacobi" : "none", method.preconditioner_reason);

  const auto b = right_hand_side(options.rhs, options.input.seed, rhs_inside, *A);
  auto x = initial_guess<T>(options.x0, A->cols());
  Vector<T, B> device_b(context, A->rows()), device_x(context, A->cols());
  copy_from_host(context, b, device_b.span());
  copy_from_host(context, x, device_x.span());
  std::optional<Jacobi<T, B>> jacobi;
  if (method.jacobi) jacobi.emplace(context, *A);

  const Report report = [&] {
    const Interrupt interrupt;
    StatusLine line;
    auto solving = solve_options<T, B>(options, jacobi ? &*jacobi : nullptr);
    solving.monitor = make_monitor(options.verbose, interrupt, line);
    return cg(*A, device_b, device_x, solving);
  }();
  copy_to_host<T>(context, device_x, x);
  if (!options.output.empty()) write_answer(options.output, x);

  const double verified = verified_residual(matrix, b, x);
  std::ostringstream printed;
  printed << report;
  console.say("{}  residual recomputed apart from the solver: {:.3e}\n", printed.str(), verified);
  Json about = matrix_json(matrix.name, matrix);
  about["symmetric"] = symmetric ? Json(*symmetric) : Json();
  console.document({{"matrix", about},
                    {"device", device},
                    {"threads", context.threads()},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"solve", solve_json(report, method, verified)},
                    {"history", report.history}});
  return report.converged() ? ExitCode::done : ExitCode::not_converged;
}

ExitCode run(const Options& options) {
  if (!options.output.empty()) require_writable(options.output);
  require_host(options.device);
  return std::visit(
      [&]<class T>(Source<T> source) {
        const auto* csr = std::get_if<Csr<T>>(&source.matrix);
        const auto symmetric = csr ? std::optional(is_symmetric(*csr)) : std::nullopt;
        std::visit(
            [&](const auto& matrix) {
              require_solver(source.name, matrix.rows(), matrix.cols(), options.solver, symmetric);
            },
            source.matrix);
        const Dense rhs_inside = std::move(source.rhs);
        const auto matrix = prepare(std::move(source), options.plan, options.input.threads);
        Context<Host> context(options.input.threads);
        return solve_on(context, "cpu", options, matrix, symmetric, rhs_inside);
      },
      load(options.input));
}

void add_stopping_options(CLI::App& parser, Options& options) {
  parser
      .add_option("--rtol", options.rtol,
                  "Converged: ||b - A x|| <= max(rtol ||b||, atol); 1e-8, in f32 1e-5")
      ->check(not_negative);
  parser.add_option("--atol", options.atol, "See --rtol; 0")->check(not_negative);
  parser.add_option("--max-iters", options.max_iterations, "Most iterations; 10000")
      ->check(not_negative)
      ->type_name("N");
  parser.add_option("--time-limit", options.time_limit, "Most seconds; none")
      ->check(not_negative)
      ->type_name("S");
}

}  // namespace

Command add_solve(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("solve", "Solve A x = b");
  const auto options = std::make_shared<Options>();
  add_input_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_format_option(parser, options->plan);
  add_device_options(parser, options->device);
  add_choice<Solver>(parser, "--solver", {{"auto", Solver::automatic}, {"cg", Solver::cg}},
                     options->solver, "auto, the default, takes what fits the matrix");
  add_choice<Preconditioner>(parser, "--precond",
                             {{"auto", Preconditioner::automatic},
                              {"none", Preconditioner::none},
                              {"jacobi", Preconditioner::jacobi}},
                             options->preconditioner,
                             "auto, the default: jacobi for a positive diagonal that varies");
  parser
      .add_option("--rhs", options->rhs,
                  "b: ones, random, A*ones, file (the one inside a Harwell-Boeing file), or a "
                  "Matrix Market file of n x 1")
      ->type_name("ones|random|A*ones|file|FILE")
      ->capture_default_str();
  parser.add_option("--x0", options->x0, "The guess, a Matrix Market file of n x 1; zeros")
      ->type_name("FILE");
  add_stopping_options(parser, *options);
  parser.add_option("-o,--output", options->output, "Write x, converged or not, as Matrix Market")
      ->type_name("X.mtx");
  parser.add_flag("-v,--verbose", options->verbose, "Each iteration's residual on stderr");
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
