// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve: A x = b.
#include "advice.hpp"
#include "commands.hpp"
#include "finite.hpp"
#include "interrupt.hpp"
#include "method.hpp"
#include "multigrid.hpp"
#include "operators.hpp"
#include "output.hpp"
#include "precondition.hpp"
#include "prepare.hpp"
#include "refined.hpp"
#include "report_json.hpp"
#include "solve_options.hpp"
#include "system.hpp"
#include "transposed.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/preconditioners/null_space.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

namespace tansolve::app {
namespace {

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
void say_preconditioning(const Console& console, const PreconditioningFacts& facts) {
  if (facts.bytes == 0) return;
  console.say("          built in {:.3g} s, {}{}{}\n", facts.seconds,
              bytes_text(static_cast<double>(facts.bytes)), facts.note.empty() ? "" : ": ",
              facts.note);
  console.say("{}", facts.table);
}

/// The solver that was chosen, on its own or refined, and its preconditioner, if it has one.
template <class T, class B>
struct Chosen {
  const SolverEntry<T, B>& solver;
  const LinearOperator<T, B>* M;
  const Refined<B>* refined;

  Report solve(const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
               const SolveOptions<T, B>& options, const Tuning& tuning) const {
    if constexpr (std::is_same_v<T, double>)
      if (refined != nullptr) return refined->solve(A, b, x, options, tuning);
    return solver.solve(A, b, x, options, tuning);
  }
};

/// Solves for every column of b; where the constant vectors are to be projected out of A and M,
/// also out of b.
template <class T, class B>
MultiReport run_solver(const Chosen<T, B>& chosen, const SolveCommandOptions& options,
                       const LinearOperator<T, B>& A, std::int64_t columns, Span<T, B> b,
                       Span<T, B> x, const Interrupt& interrupt) {
  const auto& [solver, M, refined] = chosen;
  StatusLine line;
  auto solving = solve_options<T, B>(options, M);
  solving.monitor = make_monitor(options.verbose, interrupt, line);
  const auto run = [&](const LinearOperator<T, B>& system) {
    if (columns > 1 && chosen.solver.solve_columns != nullptr && chosen.refined == nullptr)
      return chosen.solver.solve_columns(system, columns, b, x, solving, options.tuning);
    const Stopwatch stopwatch;
    MultiReport all;
    for (std::int64_t c = 0; c < columns; ++c)
      all.columns.push_back(chosen.solve(system, b.subspan(c * A.rows(), A.rows()),
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
  if (refined != nullptr)
    throw Error(ErrorCode::invalid_argument, "--refine: it does not go with --null-space");
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
Solved<T> solve_columns(const Chosen<T, B>& chosen, const SolveCommandOptions& options,
                        const LinearOperator<T, B>& A, const Prepared<T>& matrix,
                        const Dense& inside) {
  Context<B>& context = A.context();
  Solved<T> solved;
  solved.b = right_hand_sides(options.rhs, options.input.seed, inside, A);
  solved.x = initial_guesses<T>(options.x0, A.cols(), solved.b.count);
  Vector<T, B> b(context, std::ssize(solved.b.values)), x(context, std::ssize(solved.x.values));
  copy_from_host(context, solved.b.values, b.span());
  copy_from_host(context, solved.x.values, x.span());
  const Interrupt interrupt;  // until x is here
  solved.report = run_solver(chosen, options, A, solved.b.count, b.span(), x.span(), interrupt);
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
      choose_method(traits, options.solver, options.preconditioner.name, options.tuning);
  if (options.near_null.given() && method.preconditioner != "amg")
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--near-null and --coordinates are for --precond amg, not {}",
                            method.preconditioner));
  const auto& solver = solver_named<T, B>(method.solver);
  console.say("solver    {}: {}\nprecond   {}, {}: {}\n", solver.name, method.solver_reason,
              method.preconditioner, preconditioner_named<T, B>(method.preconditioner).about,
              method.preconditioner_reason);
  std::optional<WithOwnTranspose<T, B>> transposed;
  if (solver.takes == Kind::rectangular) {
    transposed.emplace(*A, matrix, options.plan, options.input.threads,
                       options.device.deterministic);
    console.say("transposed matrix, for {}\n", solver.name);
    say_plan_and_storage(console, transposed->matrix());
  }
  const PreconditionerInput<T, B> input{.A = *A,
                                        .matrix = matrix,
                                        .symmetric = traits.seems_symmetric(),
                                        .threads = options.input.threads,
                                        .objective = options.plan.request.objective,
                                        .request = options.preconditioner,
                                        .amg = with_near_null(options.near_null, A->rows())};
  const auto expected = expected_bytes(method, input, look.rows_a_block);
  if (expected)
    console.say("set-up    takes up to about {} MB of host memory, its result up to {} MB\n",
                expected->setup / 1'000'000 + 1, expected->held / 1'000'000 + 1);
  std::optional<Refined<B>> refined;
  if constexpr (std::is_same_v<T, double>) {
    if (options.refine)
      refined.emplace(context, matrix, method, options.plan, options.device, input);
  } else if (options.refine) {
    throw Error(ErrorCode::invalid_argument,
                "--refine: what is refined in f32 must be f64; leave out --precision f32");
  }
  const auto preconditioning =
      refined ? Preconditioning<T, B>() : build_preconditioner<T, B>(method, input);
  const auto& facts = refined ? refined->preconditioning().facts : preconditioning.facts;
  if (refined) {
    console.say("in f32, to be refined\n");
    say_plan_and_storage(console, refined->matrix());
  }
  say_preconditioning(console, facts);

  const Chosen<T, B> chosen{solver, preconditioning.M.get(), refined ? &*refined : nullptr};
  auto solved =
      solve_columns(chosen, options, transposed ? transposed->both() : *A, matrix, look.rhs);
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
                       json["preconditioner_note"] = facts.note;
                       json["preconditioner_seconds"] = facts.seconds;
                       json["preconditioner_bytes"] = facts.bytes;
                       if (expected)
                         json["preconditioner_expected"] = {{"setup_bytes", expected->setup},
                                                            {"held_bytes", expected->held}};
                       if (!facts.hierarchy.is_null())
                         json["preconditioner_hierarchy"] = facts.hierarchy;
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

}  // namespace

Command add_solve(CLI::App& program) {
  CLI::App& parser = *program.add_subcommand("solve", "Solve A x = b");
  const auto options = std::make_shared<SolveCommandOptions>();
  add_solve_options(parser, *options);
  return {&parser, [options] { return run(*options); }};
}

}  // namespace tansolve::app
