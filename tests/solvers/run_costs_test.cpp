// SPDX-License-Identifier: BSD-3-Clause
// What solves cost beside their iterations: their start, and their runs or cycles.
#include "solvers/every_solver.hpp"

#include <tansolve/solvers/richardson.hpp>

#include <map>

namespace tansolve::test {
namespace {

/// Passes of a solve of so many iterations, without the start and the finish of Progress, which
/// take 8 and 1.
std::int64_t passes_of(const AnySolver<double, Checked>& solver, std::int64_t iterations,
                       bool helped) {
  Context<Checked> context;
  const auto matrix = poisson<double>(20, 20);
  const CsrOperator<double, Checked> a(context, matrix);
  const Jacobi<double, Checked> jacobi(context, a);
  const auto b = upload(context, random_vector<double>(a.rows(), 3));
  auto x = upload(context, std::vector<double>(a.rows()));
  SolveOptions<double, Checked> options{.max_iterations = iterations, .probe_symmetry = false};
  if (helped) options.preconditioner = &jacobi;
  context.counters() = {};
  CHECK(solver.solve(a, b, x, options).status == Status::iteration_limit);
  CHECK(context.counters().elements % a.rows() == 0);
  return context.counters().elements / a.rows() - 8 - 1;
}

TEST_CASE("a run beside its iterations costs what the sources say") {
  // Of a run, and of each of its iterations; Jacobi takes 3 passes.
  struct Costs {
    std::int64_t run, iteration, helped_run, helped_iteration;
  };
  const std::map<std::string, Costs> stated = {{"cg", {16, 10, 16, 10 + 2 + 3}},
                                               {"fcg", {16 + 1 + 2, 12, 16 + 1 + 2, 12 + 2 + 3}},
                                               {"pseudo_block_cg", {16, 15, 16, 15 + 2 + 3}},
                                               {"block_cg", {13 - 5, 29, 13 - 5, 29 - 2 + 3}},
                                               {"minres", {11, 14, 11 + 8 + 3, 14 + 7 + 3}},
                                               {"bicgstab", {13, 21, 13, 21 + 2 + 6}},
                                               {"pseudo_block_bicgstab", {18, 27, 18, 27 + 6}},
                                               {"idr", {88 + 21, 112 / 5, 88 + 21, 137 / 5}}};
  std::size_t found = 0;
  for (const auto& solver : every_solver<double, Checked>()) {
    const auto costs = stated.find(solver.name);
    if (costs == stated.end()) continue;
    CAPTURE(solver.name);
    ++found;
    const auto& [run, iteration, helped_run, helped_iteration] = costs->second;
    if (solver.name == "idr") {  // cycles of 5 iterations
      CHECK(passes_of(solver, 5, false) == run + 112);
      CHECK(passes_of(solver, 5, true) == helped_run + 137);
      continue;
    }
    CHECK(passes_of(solver, 4, false) == run + 4 * iteration);
    CHECK(passes_of(solver, 4, true) == helped_run + 4 * helped_iteration);
  }
  CHECK(found == stated.size());
}

TEST_CASE("a cycle of gmres beside its iterations costs what the sources say") {
  for (const auto& solver : every_solver<double, Checked>()) {
    if (solver.name != "gmres" && solver.name != "fgmres" && solver.name != "pseudo_block_gmres")
      continue;
    CAPTURE(solver.name);
    const bool block = solver.name == "pseudo_block_gmres";
    for (const std::int64_t k : {1, 4, 9}) {
      const std::int64_t iterations = 3 * k * (k + 1) / 2 + k * (block ? 12 : 10);
      CHECK(passes_of(solver, k, false) == iterations + k + 1 + (block ? 19 : 15));
      const std::int64_t jacobi = solver.name == "fgmres" ? k * (3 + 4) : (k + 1) * 3;
      CHECK(passes_of(solver, k, true) == iterations + jacobi + k + 1 + (block ? 19 : 15));
    }
  }
}

}  // namespace
}  // namespace tansolve::test
