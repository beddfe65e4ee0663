// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve: A x = b.
#include "advice.hpp"
#include "commands.hpp"
#include "finite.hpp"
#include "interrupt.hpp"
#include "method.hpp"
#include "operators.hpp"
#include "output.hpp"
#include "precondition.hpp"
#include "prepare.hpp"
#include "report_json.hpp"
#include "system.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/with_transpose.hpp>
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

/// Says what the preconditioner that was chosen took, if one was.
template <class T, class B>
void say_preconditioning(const Console& console, const Preconditioning<T, B>& preconditioning) {
  if (preconditioning.M == nullptr) return;
  const std::string& note = preconditioning.note;
  console.say("          built in {:.3g} s, {}{}{}\n", preconditioning.seconds,
              bytes_text(static_cast<double>(preconditioning.bytes)), note.empty() ? "" : ": ",
              note);
}

/// Solves for every column of b; where the constant vectors are to be projected out of A and M,
/// also out of b.
template <class T, class B>
MultiReport run_solver(const SolverEntry<T, B>& solver, const SolveCommandOptions& options,
                       const LinearOperator<T, B>& A, const LinearOperator<T, B>* M,
                       std::int64_t columns, Span<T, B> b, Span<T, B> x,
                       const Interrupt& interrupt) {
  StatusLine line;
  auto solving = solve_options<T, B>(options, M);
  solving.monitor = make_monitor(options.verbose, interrupt, line);
  const auto run = [&](const LinearOperator<T, B>& system) {
    if (columns > 1 && solver.solve_columns != nullptr)
      return solver.solve_columns(system, columns, b, x, solving, options.tuning);
    const Stopwatch stopwatch;
    MultiReport all;
    for (std::int64_t c = 0; c < columns; ++c)
      all.columns.push_back(solver.solve(system, b.subspan(c * A.rows(), A.rows()),
                                         x.subspan(c * A.cols(), A.cols()), solving,
                                         options.tuning));
    for (const Report& report : all.columns) all.products += report.operator_applications;
    all.block_products = all.products;
    all.seconds = stopwatch.seconds();
    return all;
  };
  if (!options.project_constants) return run(A);
  if (solver.takes == Kind::rectangular)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--null-space: {} does without, and finds the solution of least norm",
                            solver.name));
  const NullSpace<T, B> constants(A.context(), A.rows());
  const Projected<T, B> projected(A, constants);
  std::optional<Projected<T, B>> preconditioner;
  if (M != nullptr) solving.preconditioner = &preconditioner.emplace(*M, constants);
  for (std::int64_t c = 0; c < columns; ++c) constants.project(b.subspan(c * A.rows(), A.rows()));
  return run(projected);
}

/// The program has looked at the matrix itself, and names it as the user does.
void add_findings(const std::string& name, const Traits& traits, Kind taken, Report& report) {
  if (!traits.not_finite.empty()) report.detail = fmt::format("{}: {}", name, traits.not_finite);
  if (taken >= Kind::general) return;
  if (!traits.asymmetry.empty())
    report.warnings.push_back(traits.asymmetry);
  else if (traits.symmetric == false)
    report.warnings.push_back(
        fmt::format("{} is not symmetric, which {} needs", name, report.solver));
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
Look look_at_source(Source<T>& source, const std::string& solver, int threads) {
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
        require_fit(source.name, matrix.rows(), matrix.cols(), solver);
      },
      source.matrix);
  return look;
}

/// A matrix with its transpose, which is encoded for the solvers that need it.
template <class T, class B>
class WithOwnTranspose {
 public:
  WithOwnTranspose(const LinearOperator<T, B>& A, const Prepared<T>& matrix,
                   const SolveCommandOptions& options)
      : matrix_(prepare_transpose(matrix, options.plan, options.input.threads)),
        transpose_(make_operator(A.context(), matrix_, options.device.deterministic)),
        both_(A, *transpose_) {}

  const LinearOperator<T, B>& both() const { return both_; }
  const Prepared<T>& matrix() const { return matrix_; }
  Json json() const {
    return {{"plan", plan_json(matrix_)},
            {"storage", storage_json(matrix_)},
            {"encode", encode_json(matrix_)}};
  }

 private:
  Prepared<T> matrix_;
  std::unique_ptr<LinearOperator<T, B>> transpose_;
  WithTranspose<T, B> both_;
};

/// The systems that were solved and their reports, one a column.
template <class T>
struct Solved {
  Columns<T> b, x;
  MultiReport report;
  std::vector<double> verified = {};  ///< residuals, computed apart from the solver

  /// What `of` says of each column: of one alone, or of all in an array.
  template <class Of>
  Json json(const Of& of) const {
    if (b.count == 1) return of(0);
    Json all = Json::array();
    for (std::int64_t c = 0; c < b.count; ++c) all.push_back(of(c));
    return all;
  }
};

template <class T, class B>
Solved<T> solve_columns(const SolverEntry<T, B>& solver, const SolveCommandOptions& options,
                        const LinearOperator<T, B>& A, const LinearOperator<T, B>* M,
                        const Prepared<T>& matrix, const Dense& inside) {
  Context<B>& context = A.context();
  Solved<T> solved;
  solved.b = right_hand_sides(options.rhs, options.input.seed, inside, A);
  solved.x = initial_guesses<T>(options.x0, A.cols(), solved.b.count);
  Vector<T, B> b(context, std::ssize(solved.b.values)), x(context, std::ssize(solved.x.values));
  copy_from_host(context, solved.b.values, b.span());
  copy_from_host(context, solved.x.values, x.span());
  const Interrupt interrupt;  // until x is here
  solved.report = run_solver(solver, options, A, M, solved.b.count, b.span(), x.span(), interrupt);
  copy_to_host<T>(context, b, solved.b.values);
  copy_to_host<T>(context, x, solved.x.values);
  for (std::int64_t c = 0; c < solved.b.count; ++c)
    solved.verified.push_back(verified_residual(matrix, solved.b.column(c), solved.x.column(c)));
  return solved;
}

template <class T>
void say_reports(const Console& console, const Solved<T>& solved, const Method& method,
                 const Traits& traits) {
  for (std::int64_t c = 0; c < solved.b.count; ++c) {
    std::ostringstream printed;
    printed << solved.report.columns[c];
    if (solved.b.count > 1) console.say("column {} of {}\n", c + 1, solved.b.count);
    console.say("{}  residual recomputed apart from the solver: {:.3e}\n", printed.str(),
                solved.verified[c]);
    if (const auto next = advice(solved.report.columns[c], method, traits); !next.empty())
      console.say("  try {}\n", next);
  }
  if (solved.b.count > 1)
    console.say("all columns: {} products in {} calls, {:.3g} s\n", solved.report.products,
                solved.report.block_products, solved.report.seconds);
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
  std::optional<WithOwnTranspose<T, B>> transposed;
  if (solver.takes == Kind::rectangular) {
    transposed.emplace(*A, matrix, options);
    console.say("transposed matrix, for {}\n", solver.name);
    say_plan_and_storage(console, transposed->matrix());
  }
  const auto preconditioning =
      build_preconditioner<T, B>(method, {.A = *A,
                                          .matrix = matrix,
                                          .symmetric = traits.seems_symmetric(),
                                          .threads = options.input.threads,
                                          .objective = options.plan.request.objective});
  say_preconditioning(console, preconditioning);

  auto solved = solve_columns(solver, options, transposed ? transposed->both() : *A,
                              preconditioning.M.get(), matrix, look.rhs);
  for (Report& report : solved.report.columns)
    add_findings(matrix.name, traits, solver.takes, report);
  say_reports(console, solved, method, traits);
  Json about = matrix_json(matrix.name, matrix);
  about["symmetric"] = look.symmetric ? Json(*look.symmetric) : Json();
  console.document({{"matrix", about},
                    {"device", device},
                    {"threads", Context<Host>(options.input.threads).threads()},
                    {"precision", sizeof(T) == 8 ? "f64" : "f32"},
                    {"plan", plan_json(matrix)},
                    {"storage", storage_json(matrix)},
                    {"encode", encode_json(matrix)},
                    {"transpose", transposed ? transposed->json() : Json()},
                    {"solve", solved.json([&](std::int64_t c) {
                       Json json = solve_json(solved.report.columns[c], method, solved.verified[c]);
                       json["advice"] = advice(solved.report.columns[c], method, traits);
                       json["preconditioner_note"] = preconditioning.note;
                       json["preconditioner_seconds"] = preconditioning.seconds;
                       json["preconditioner_bytes"] = preconditioning.bytes;
                       return json;
                     })},
                    {"columns",
                     {{"count", solved.b.count},
                      {"products", solved.report.products},
                      {"product_calls", solved.report.block_products},
                      {"seconds", solved.report.seconds}}},
                    {"history", solved.json([&](std::int64_t c) {
                       return Json(solved.report.columns[c].history);
                     })}});
  if (!output.path.empty()) write_columns(output.path, solved.x);  // last: it may fail
  return solved.report.solved() ? ExitCode::done : ExitCode::not_converged;
}

ExitCode run(SolveCommandOptions options) {
  const Output output = open_output(options.output, options.json);
  const std::optional<int> gpu = choose_gpu(options.device);
  if (gpu) options.plan.request.processor = Processor::gpu;
  return std::visit(
      [&]<class T>(Source<T> source) {
        const Look look = look_at_source(source, options.solver, options.input.threads);
        const auto matrix = prepare(std::move(source), options.plan, options.input.threads);
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
      .add_option("--damp", options.tuning.damping,
                  "lsmr, lsqr: minimise ||b - A x||^2 + S^2 ||x - x0||^2; 0")
      ->check(not_negative)
      ->type_name("S");
  parser
      .add_option("--restart", options.tuning.restart,
                  "Vectors of the Krylov basis, for solvers that keep one; 30")
      ->check(whole_number(std::numeric_limits<std::int64_t>::max()))
      ->type_name("M");
  add_choice<BasisStorage>(
      parser, "--basis-precision",
      {{"working", BasisStorage::working},
       {"f32", BasisStorage::fp32},
       {"f16", BasisStorage::fp16}},
      options.tuning.basis,
      "How these vectors are stored: in less precision they are read in less time, while x is as "
      "accurate as ever; working, that of the solve");
}

void add_stopping_options(CLI::App& parser, SolveCommandOptions& options) {
  parser
      .add_option(
          "--rtol", options.rtol,
          "Converged: ||b - A x|| <= max(rtol ||b||, atol), or for lsmr and lsqr ||A'r|| <= "
          "rtol ||A|| ||r||; 1e-8, in f32 1e-5")
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
                  "b: ones, random, A*ones, file (what is inside a Harwell-Boeing file), or a "
                  "Matrix Market or .npy file; every column is solved for")
      ->type_name("ones|random|A*ones|file|FILE")
      ->capture_default_str();
  parser.add_option("--x0", options->x0, "The guess, a file like that of --rhs; zeros")
      ->type_name("FILE");
  add_stopping_options(parser, *options);
  add_output_option(parser, options->output, "Write x, converged or not, as Matrix Market or .npy",
                    "X.mtx|X.npy");
  parser.add_flag("-v,--verbose", options->verbose, "Each iteration's residual on stderr");
  add_json_option(parser, options->json);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
