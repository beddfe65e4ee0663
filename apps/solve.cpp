// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve: A x = b.
#include "commands.hpp"
#include "finite.hpp"
#include "interrupt.hpp"
#include "method.hpp"
#include "operators.hpp"
#include "output.hpp"
#include "precondition.hpp"
#include "prepare.hpp"
#include "system.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/preconditioners/null_space.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

namespace tansolve::app {
namespace {

struct SolveCommandOptions {
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  bool json = false;
  bool verbose = false;
  std::string solver = "auto";
  Tuning tuning;
  std::string preconditioner = "auto";
  bool project_constants = false;
  std::string rhs = "ones";
  std::string x0;
  std::string output;
  std::optional<double> rtol, atol, time_limit;
  std::optional<std::int64_t> max_iterations;
};

template <class T, class B>
SolveOptions<T, B> solve_options(const SolveCommandOptions& options,
                                 const LinearOperator<T, B>* M) {
  SolveOptions<T, B> result{.preconditioner = M, .probe_symmetry = false};
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

template <class T, class B>
Json solve_json(const Report& report, const Method& method,
                const Preconditioning<T, B>& preconditioning, double verified) {
  const double iterations = static_cast<double>(report.iterations);
  return {
      {"solver", report.solver},
      {"solver_reason", method.solver_reason},
      {"preconditioner", report.preconditioner_name.empty() ? "none" : report.preconditioner_name},
      {"preconditioner_reason", method.preconditioner_reason},
      {"preconditioner_note", preconditioning.note},
      {"preconditioner_seconds", preconditioning.seconds},
      {"preconditioner_bytes", preconditioning.bytes},
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

template <class T, class B>
void say_preconditioning(const Console& console, const Preconditioning<T, B>& preconditioning) {
  if (preconditioning.M == nullptr) return;
  const std::string& note = preconditioning.note;
  console.say("          built in {:.3g} s, {}{}{}\n", preconditioning.seconds,
              bytes_text(static_cast<double>(preconditioning.bytes)), note.empty() ? "" : ": ",
              note);
}

/// Runs the solver; where the constant vectors are to be projected out of A and M, also out of b.
template <class T, class B>
Report run_solver(const SolverEntry<T, B>& solver, const SolveCommandOptions& options,
                  const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Span<T, B> b,
                  Span<T, B> x, const Interrupt& interrupt) {
  StatusLine line;
  auto solving = solve_options<T, B>(options, M);
  solving.monitor = make_monitor(options.verbose, interrupt, line);
  if (!options.project_constants) return solver.solve(A, b, x, solving, options.tuning);
  const NullSpace<T, B> constants(A.context(), A.rows());
  const Projected<T, B> projected(A, constants);
  std::optional<Projected<T, B>> preconditioner;
  if (M != nullptr) solving.preconditioner = &preconditioner.emplace(*M, constants);
  constants.project(b);
  return solver.solve(projected, b, x, solving, options.tuning);
}

/// The program has looked at the matrix itself, and names it as the user does.
void add_findings(const std::string& name, const Traits& traits, Kind taken, Report& report) {
  if (!traits.not_finite.empty()) report.detail = fmt::format("{}: {}", name, traits.not_finite);
  if (taken == Kind::general) return;
  if (!traits.asymmetry.empty())
    report.warnings.push_back(traits.asymmetry);
  else if (traits.symmetric == false)
    report.warnings.push_back(
        fmt::format("{} is not symmetric, which {} needs", name, report.solver));
}

template <class T>
void write_answer(const std::string& path, const std::vector<T>& x) {
  write_dense(path, {.rows = std::ssize(x), .cols = 1, .values = {x.begin(), x.end()}});
}

/// What was seen of a matrix and its file before it was encoded.
struct Look {
  std::string not_finite = {};         ///< which entries are not; or empty
  std::optional<bool> symmetric = {};  ///< exactly; not known of a container and of such entries
  double rows_a_block = 1;             ///< of natural blocks; 1 of a container
  Dense rhs = {};                      ///< from inside the file
};

/// Throws Error(invalid_argument) where no solver fits.
template <class T>
Look look_at_source(Source<T>& source, int threads) {
  Look look{.rhs = std::move(source.rhs)};
  std::visit(
      [&](const auto& matrix) {
        if constexpr (std::is_same_v<decltype(matrix), const Csr<T>&>) {
          look.not_finite = not_finite_entries(matrix);
          if (look.not_finite.empty()) look.symmetric = is_symmetric(matrix);
          look.rows_a_block = mean_natural_block(matrix);
        } else {
          look.not_finite = not_finite_entries(matrix, threads);
        }
        require_square(source.name, matrix.rows(), matrix.cols());
      },
      source.matrix);
  return look;
}

template <class T, class B>
ExitCode solve_on(Context<B>& context, const std::string& device,
                  const SolveCommandOptions& options, const Output& output,
                  const Prepared<T>& matrix, const Look& look) {
  const Console& console = output.console;
  const auto A = make_operator(context, matrix, options.device.deterministic);
  Traits traits = look_at(matrix.name, *A, look.symmetric, look.not_finite);
  traits.rows_a_block = look.rows_a_block;
  say_matrix(console, matrix.name, matrix,
             !look.symmetric   ? "symmetry unknown"
             : *look.symmetric ? "symmetric"
                               : "not symmetric");
  say_plan_and_storage(console, matrix);
  const Method method =
      choose_method(traits, options.solver, options.preconditioner, options.tuning);
  const auto& solver = solver_named<T, B>(method.solver);
  console.say("solver    {}: {}\nprecond   {}, {}: {}\n", solver.name, method.solver_reason,
              method.preconditioner, preconditioner_named<T, B>(method.preconditioner).about,
              method.preconditioner_reason);

  auto b = right_hand_side(options.rhs, options.input.seed, look.rhs, *A);
  auto x = initial_guess<T>(options.x0, A->cols());
  Vector<T, B> device_b(context, A->rows()), device_x(context, A->cols());
  copy_from_host(context, b, device_b.span());
  copy_from_host(context, x, device_x.span());
  const auto preconditioning =
      build_preconditioner<T, B>(method, {.A = *A,
                                          .matrix = matrix,
                                          .symmetric = traits.seems_symmetric(),
                                          .threads = options.input.threads,
                                          .objective = options.plan.request.objective});
  say_preconditioning(console, preconditioning);

  const Interrupt interrupt;  // until x is written
  Report report = run_solver(solver, options, *A, preconditioning.M.get(), device_b.span(),
                             device_x.span(), interrupt);
  add_findings(matrix.name, traits, solver.takes, report);
  copy_to_host<T>(context, device_b, b);
  copy_to_host<T>(context, device_x, x);

  const double verified = verified_residual(matrix, b, x);
  std::ostringstream printed;
  printed << report;
  console.say("{}  residual recomputed apart from the solver: {:.3e}\n", printed.str(), verified);
  Json about = matrix_json(matrix.name, matrix);
  about["symmetric"] = look.symmetric ? Json(*look.symmetric) : Json();
  console.document({{"matrix", about},
                    {"device", device},
                    {"threads", Context<Host>(options.input.threads).threads()},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"solve", solve_json(report, method, preconditioning, verified)},
                    {"history", report.history}});
  if (!output.path.empty()) write_answer(output.path, x);  // last: it may fail
  return report.converged() ? ExitCode::done : ExitCode::not_converged;
}

ExitCode run(const SolveCommandOptions& options) {
  const Output output = open_output(options.output, options.json);
  const std::optional<int> gpu = choose_gpu(options.device);
  return std::visit(
      [&]<class T>(Source<T> source) {
        const Look look = look_at_source(source, options.input.threads);
        PlanOptions plan = options.plan;
        if (gpu) plan.request.processor = Processor::gpu;
        const auto matrix = prepare(std::move(source), plan, options.input.threads);
#if TANSOLVE_HAS_CUDA
        if (gpu) {
          Context<Cuda> context(*gpu);
          return solve_on(context, context.properties().name, options, output, matrix, look);
        }
#endif
        Context<Host> context(options.input.threads);
        return solve_on(context, "cpu", options, output, matrix, look);
      },
      load(options.input));
}

void add_solver_options(CLI::App& parser, SolveCommandOptions& options) {
  std::vector<std::pair<std::string, std::string>> choices = {{"auto", "auto"}};
  for (const std::string& name : solver_names()) choices.emplace_back(name, name);
  add_choice<std::string>(parser, "--solver", choices, options.solver,
                          "auto, the default, takes what fits the matrix");
  choices = {{"auto", "auto"}};
  for (const std::string& name : preconditioner_names()) choices.emplace_back(name, name);
  add_choice<std::string>(
      parser, "--precond", choices, options.preconditioner,
      "auto, the default: block-jacobi where rows of a node are found, else jacobi where the "
      "diagonal varies and the solver can use it");
  add_choice<bool>(
      parser, "--null-space", {{"none", false}, {"constant", true}}, options.project_constants,
      "constant: A is singular with the constant vectors for null space, as in Neumann "
      "problems; they are projected out of A, the preconditioner and b");
  parser
      .add_option("--restart", options.tuning.restart,
                  "Vectors of the Krylov basis, for solvers that keep one; 30")
      ->check(whole_number(std::numeric_limits<std::int64_t>::max()))
      ->type_name("M");
  add_choice<BasisStorage>(
      parser, "--basis",
      {{"working", BasisStorage::working},
       {"f32", BasisStorage::fp32},
       {"f16", BasisStorage::fp16}},
      options.tuning.basis,
      "How these vectors are stored: in less precision they are read in less time, while x is as "
      "accurate as ever; working, that of the solve");
}

void add_stopping_options(CLI::App& parser, SolveCommandOptions& options) {
  parser
      .add_option("--rtol", options.rtol,
                  "Converged: ||b - A x|| <= max(rtol ||b||, atol); 1e-8, in f32 1e-5")
      ->check(not_negative);
  parser.add_option("--atol", options.atol, "See --rtol; 0")->check(not_negative);
  parser.add_option("--max-iters", options.max_iterations, "Most iterations; 10000")
      ->check(whole_number(std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  parser.add_option("--time-limit", options.time_limit, "Most seconds; no limit")
      ->check(not_negative)
      ->type_name("S");
}

}  // namespace

Command add_solve(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("solve", "Solve A x = b");
  const auto options = std::make_shared<SolveCommandOptions>();
  add_input_options(parser, options->input);
  add_plan_options(parser, options->plan);
  add_format_option(parser, options->plan);
  add_device_options(parser, options->device);
  add_solver_options(parser, *options);
  parser
      .add_option("--rhs", options->rhs,
                  "b: ones, random, A*ones, file (the one inside a Harwell-Boeing file), or a "
                  "Matrix Market file of n x 1")
      ->type_name("ones|random|A*ones|file|FILE")
      ->capture_default_str();
  parser.add_option("--x0", options->x0, "The guess, a Matrix Market file of n x 1; zeros")
      ->type_name("FILE");
  add_stopping_options(parser, *options);
  add_output_option(parser, options->output, "Write x, converged or not, as Matrix Market",
                    "X.mtx");
  parser.add_flag("-v,--verbose", options->verbose, "Each iteration's residual on stderr");
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
