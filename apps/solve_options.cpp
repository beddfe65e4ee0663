// SPDX-License-Identifier: BSD-3-Clause
// The options of tansolve solve and their help.
#include "solve_options.hpp"

#include "output.hpp"

#include <fmt/ranges.h>

#include <limits>
#include <utility>
#include <vector>

namespace tansolve::app {
namespace {

void add_solver_options(CLI::App& parser, SolveCommandOptions& options) {
  std::vector<std::pair<std::string, std::string>> choices = {{"auto", "auto"}};
  for (const std::string& name : solver_names()) choices.emplace_back(name, name);
  add_choice<std::string>(parser, "--solver", choices, options.solver,
                          "auto, the default, takes what fits the matrix");
  parser
      .add_option_function<std::string>(
          "--precond",
          [&options](const std::string& text) {
            options.preconditioner = parse_preconditioner(text);
          },
          fmt::format("auto, the default: block-jacobi where rows of a node are found, else on a "
                      "GPU for positive definite matrices chebyshev, else jacobi where the "
                      "diagonal varies and the solver can use it. Parameters: {}",
                      preconditioner_parameters()))
      ->type_name(fmt::format("auto|{}[:KEY=VALUE,...]", fmt::join(preconditioner_names(), "|")));
  add_near_null_options(parser, options.near_null);
  parser.add_flag(
      "--refine", options.refine,
      "Solve in f32, with a second matrix of half the bytes, and refine to the accuracy "
      "of f64; an iteration is a correction");
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
  parser.add_option("--idr-s", options.tuning.shadow, "idr: dimensions of its shadow space; 4")
      ->check(CLI::Range(1, 16).description(""))
      ->type_name("S");
  add_choice<BasisStorage>(
      parser, "--basis-precision",
      {{"working", BasisStorage::working},
       {"f32", BasisStorage::fp32},
       {"f16", BasisStorage::fp16}},
      options.tuning.basis,
      "How these vectors are stored: in less precision they are read in less time, while x is as "
      "accurate as ever; working, that of the solve");
  add_choice<Reorthogonalize>(
      parser, "--reorthogonalize",
      {{"always", Reorthogonalize::always}, {"needed", Reorthogonalize::needed}},
      options.tuning.reorthogonalize,
      "When a second pass makes a new one of these vectors orthogonal to the others: each time, or "
      "where the first has left less than 1/sqrt(2) of it; always");
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

void add_solve_options(CLI::App& parser, SolveCommandOptions& options) {
  add_input_options(parser, options.input);
  add_plan_options(parser, options.plan);
  add_format_option(parser, options.plan);
  add_device_options(parser, options.device);
  add_solver_options(parser, options);
  parser
      .add_option("--rhs", options.rhs,
                  "b: ones, random, A*ones, file (what is inside a Harwell-Boeing file), or a "
                  "Matrix Market or .npy file; every column is solved for")
      ->type_name("ones|random|A*ones|file|FILE")
      ->capture_default_str();
  parser.add_option("--x0", options.x0, "The guess, a file like that of --rhs; zeros")
      ->type_name("FILE");
  add_stopping_options(parser, options);
  add_output_option(parser, options.output, "Write x, converged or not, as Matrix Market or .npy",
                    "X.mtx|X.npy");
  parser.add_flag("-v,--verbose", options.verbose, "Each iteration's residual on stderr");
  add_json_option(parser, options.json);
}

}  // namespace tansolve::app
