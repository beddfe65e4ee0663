// SPDX-License-Identifier: BSD-3-Clause
// Refinement to fp64 by inner solves in fp32, and singular systems on a projected operator.
#include "solvers/methods.hpp"

#include <tansolve/preconditioners/null_space.hpp>
#include <tansolve/solvers/refinement.hpp>

namespace tansolve::test {

TEST_CASE_TEMPLATE("refinement reaches the accuracy of fp64 with products in fp32", B, Host,
                   Checked) {
  Context<B> context;
  for (const double wind : {0.0, 0.4}) {
    const auto matrix = convection<double>(20, 15, wind);
    const auto matrix32 = convert<float>(matrix);
    const CsrOperator<double, B> a(context, matrix);
    const CsrOperator<float, B> a32(context, matrix32);
    for (const double scale : {1e-200, 1.0, 1e200}) {
      auto b = random_vector<double>(a.rows(), 1);
      for (double& element : b) element *= scale;
      const auto device_b = upload(context, b);
      auto x = upload(context, std::vector<double>(a.rows(), 0.0));
      const Report report =
          refine<B>(a, [&](auto r, auto d) { return idr(a32, r, d, {.rtol = 1e-4}); }, device_b, x,
                    {.rtol = 1e-14});
      CHECK(report.converged());
      CHECK(report.iterations >= 3);
      CHECK(report.iterations <= 6);
      CHECK(report.inner_iterations > report.iterations);
      CHECK(report.operator_applications == report.iterations + 1);
      CHECK(report.history.size() == static_cast<std::size_t>(report.iterations) + 1);
      CHECK(report.history.back() == report.true_residual);
      CHECK(eigen_residual(matrix, b, download(context, x)) <= 1.1e-14 * to_eigen(b).norm());
    }
  }
}

TEST_CASE("refinement ends as it must where corrections do not help") {
  Context<Checked> context;
  const auto matrix = poisson<double>(5, 5);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload(context, std::vector<double>(25, 1.0));
  auto x = upload(context, std::vector<double>(25, 0.0));
  const auto refined = [&](const InnerSolver<Checked>& inner,
                           const SolveOptions<double, Checked>& options = {}) {
    fill(context, 0, x.span());
    return refine<Checked>(a, inner, b, x, options);
  };
  const auto idle = [](auto, auto) {
    Report report;
    report.solver = "cg";
    report.status = Status::breakdown;
    report.detail = "p'Ap = 0";
    return report;
  };
  const Report stagnated = refined(idle);
  CHECK(stagnated.status == Status::stagnated);
  CHECK(stagnated.detail == "a correction by cg (breakdown: p'Ap = 0) left 1 of the residual");
  CHECK(stagnated.iterations == 1);

  const Report poisoned = refined([&](auto, auto d) {
    fill(context, nan_of<float>, d);
    return Report();
  });
  CHECK(poisoned.status == Status::not_finite);
  CHECK(download(context, x) == std::vector<double>(25, 0.0));
  CHECK(poisoned.true_residual == 5);

  CHECK(refined(idle, {.max_iterations = 0}).status == Status::iteration_limit);
  CHECK(refined(idle, {.monitor = [](std::int64_t, double) { return false; }}).status ==
        Status::cancelled);
  fill(context, 0, x.span());
  CHECK(refine<Checked>(a, idle, x.span(), upload(context, std::vector<double>(25, 3.0)))
            .converged());
  const Jacobi<double, Checked> jacobi(context, a);
  CHECK_THROWS_WITH_AS(refined(idle, {.preconditioner = &jacobi}),
                       "refine: a preconditioner, it must be given to the inner solver", Error);
}

TEST_CASE("refinement allocates nothing but what the inner solver does") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 12);
  const auto matrix32 = convert<float>(matrix);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const CsrOperator<float, Checked> a32(context, matrix32);
  const auto b = upload(context, random_vector<double>(n, 3));
  auto x = upload(context, std::vector<double>(n, 0.0));
  Workspace<double, Checked> work(context, refinement_workspace(n));
  Workspace<float, Checked> work32(context, refinement_workspace(n)),
      inner(context, cg_workspace(n, false));
  const std::int64_t built = context.counters().allocations;
  const Report report = refine<Checked>(
      a, [&](auto r, auto d) { return cg(a32, r, d, {.rtol = 1e-3}, inner); }, b, x, {}, work,
      work32);
  CHECK(report.converged());
  CHECK(report.workspace_bytes == (8 + 4) * (2 * n + 1));
  CHECK(context.counters().allocations == built);
}

TEST_CASE("a correction of refinement costs what its source says") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 12);
  const auto matrix32 = convert<float>(matrix);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const CsrOperator<float, Checked> a32(context, matrix32);
  const auto b = upload(context, random_vector<double>(n, 3));
  auto x = upload(context, std::vector<double>(n, 0.0));
  Workspace<double, Checked> work(context, refinement_workspace(n));
  Workspace<float, Checked> work32(context, refinement_workspace(n));
  const auto passes = [&](std::int64_t corrections) {
    std::int64_t inner = 0;
    const InnerSolver<Checked> by_cg = [&](auto r, auto d) {
      const std::int64_t before = context.counters().elements;
      Report report = cg(a32, r, d, {.rtol = 1e-2});
      inner += context.counters().elements - before;
      return report;
    };
    fill(context, 0, x.span());
    context.counters() = {};
    const Report report = refine<Checked>(
        a, by_cg, b, x, {.rtol = 1e-14, .max_iterations = corrections}, work, work32);
    CHECK(report.status == Status::iteration_limit);
    return context.counters().elements - inner;
  };
  CHECK(passes(1) == (8 + 12 + 3 + 1) * n);
  CHECK(passes(4) == (8 + 4 * (12 + 3) + 1) * n);
}

TEST_CASE("a Neumann problem with any b is solved for the part that A can reach") {
  Context<Checked> context;
  const std::int64_t n = 60;
  const auto matrix = path_laplacian<double>(n);
  const CsrOperator<double, Checked> a(context, matrix);
  std::vector<double> d(n, 2.0);
  d.front() = d.back() = 1;
  const Jacobi<double, Checked> jacobi(context, upload(context, d));
  const NullSpace<double, Checked> constants(context, n);
  const Projected<double, Checked> projected(a, constants), helped(jacobi, constants);
  const auto b = random_vector<double>(n, 2);
  auto reachable = upload(context, b);
  constants.project(reachable);

  const Eigen::VectorXd least = least_norm_solution(dense(matrix), to_eigen(b));
  const auto check = [&](const Report& report, const auto& x) {
    CHECK(report.converged());
    CHECK((to_eigen(download(context, x)) - least).norm() <= 1e-6 * least.norm());
  };
  for (const LinearOperator<double, Checked>* M :
       {static_cast<const LinearOperator<double, Checked>*>(nullptr),
        static_cast<const LinearOperator<double, Checked>*>(&helped)}) {
    const SolveOptions<double, Checked> options{.rtol = 1e-11, .preconditioner = M};
    auto x = upload(context, std::vector<double>(n, 0.0));
    check(cg(projected, reachable, x, options), x);
    for (const auto& method : methods<double, Checked>()) {
      CAPTURE(method.name);
      fill(context, 0, x.span());
      check(method.solve(projected, reachable, x, options), x);
    }
  }
}

}  // namespace tansolve::test
