// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients: right answers, known iteration counts, the claimed costs, the same bits.
#include "solvers/solving.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/kernels/compressed_operator.hpp>

#include <Eigen/IterativeLinearSolvers>

namespace tansolve::test {

#define TANSOLVE_SETTINGS                                                      \
  Setting<double, Host, 1>, Setting<double, Host, 2>, Setting<float, Host, 2>, \
      Setting<double, Checked>, Setting<float, Checked>

TEST_CASE_TEMPLATE("cg agrees with a dense factorisation", S, TANSOLVE_SETTINGS) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = poisson<T>(15, 11);
  const CsrOperator<T, B> a(context, matrix);
  const auto b = random_vector<T>(matrix.rows(), 1), x0 = random_vector<T>(matrix.rows(), 2);
  const Jacobi<T, B> jacobi(context, a);
  const Eigen::VectorXd expected = dense_solution(matrix, b);
  for (const bool preconditioned : {false, true}) {
    const auto [report, x] =
        solve_from(a, x0, b, {.preconditioner = preconditioned ? &jacobi : nullptr});
    CHECK(report.status == Status::converged);
    CHECK(report.warnings.empty());
    const double rtol = SolveOptions<T, B>{}.rtol;
    CHECK(report.baseline == doctest::Approx(to_eigen(b).norm()).epsilon(1e-5));
    CHECK(report.true_residual <= rtol * report.baseline);
    // The error is at most the residual over the least eigenvalue, 0.1 on this grid.
    CHECK((to_eigen(x) - expected).norm() <= 10 * (report.threshold * 1.01));
    const double residual = eigen_residual(matrix, b, x);
    CHECK(std::abs(report.true_residual - residual) <=
          100 * std::numeric_limits<T>::epsilon() * report.baseline);
  }
}

/// Eigen's count is one short: it leaves its loop before counting the last step.
template <class Preconditioner>
std::int64_t eigen_iterations(const Csr<double>& matrix, const std::vector<double>& b, double tol) {
  const Eigen::SparseMatrix<double> sparse = to_eigen(matrix);
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper, Preconditioner>
      solver(sparse);
  solver.setTolerance(tol);
  solver.setMaxIterations(10000);
  const Eigen::VectorXd x = solver.solve(to_eigen(b));
  REQUIRE(solver.info() == Eigen::Success);
  return solver.iterations() + 1;
}

TEST_CASE("cg takes as many iterations as Eigen's") {
  Context<Host> context(2);
  const auto weight = [](std::int64_t i) { return 1.0 + static_cast<double>(i % 17); };
  for (const auto& matrix : {poisson<double>(40, 30), weighted_poisson<double>(40, 30, weight)}) {
    const CsrOperator<double, Host> a(context, matrix);
    const Jacobi<double, Host> jacobi(context, a);
    const auto b = random_vector<double>(matrix.rows(), 3);
    for (const double rtol : {1e-4, 1e-10}) {
      const auto plain = solve(a, b, {.rtol = rtol}).report;
      const auto helped = solve(a, b, {.rtol = rtol, .preconditioner = &jacobi}).report;
      CHECK(plain.converged());
      CHECK(helped.converged());
      const auto eigen_plain = eigen_iterations<Eigen::IdentityPreconditioner>(matrix, b, rtol);
      const auto eigen_helped =
          eigen_iterations<Eigen::DiagonalPreconditioner<double>>(matrix, b, rtol);
      CHECK(std::abs(plain.iterations - eigen_plain) <= 2);
      CHECK(std::abs(helped.iterations - eigen_helped) <= 2);
    }
  }
}

TEST_CASE("cg ends after as many iterations as there are distinct eigenvalues") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1, 2, 5, 1, 2, 5, 5});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto [report, x] = solve(a, {1, 2, 5, 2, 4, 10, 15}, {.rtol = 1e-12});
  CHECK(report.converged());
  CHECK(report.iterations == 3);
  CHECK(report.history.size() == 4);
  CHECK((to_eigen(x) - to_eigen(std::vector<double>{1, 1, 1, 2, 2, 2, 3})).norm() < 1e-12);
}

/// What the iterations from the 5th to the 8th cost together.
Counters cost_of_three_iterations(bool compressed, bool preconditioned, std::int64_t& n) {
  Counters cost;
  for (const std::int64_t iterations : {8, 5}) {
    Context<Checked> context;
    const auto matrix = poisson<double>(20, 20);
    n = matrix.rows();
    const auto streams = compress(matrix);
    const CsrOperator<double, Checked> csr(context, matrix);
    const CompressedOperator<double, Checked> dtans(context, streams);
    const LinearOperator<double, Checked>& a =
        compressed ? static_cast<const LinearOperator<double, Checked>&>(dtans) : csr;
    const Jacobi<double, Checked> jacobi(context, a);
    const auto b = upload(context, random_vector<double>(n, 3));
    auto x = upload(context, std::vector<double>(n, 0.0));
    Workspace<double, Checked> work(context, cg_workspace(n, preconditioned));
    SolveOptions<double, Checked> options{.max_iterations = iterations, .probe_symmetry = false};
    if (preconditioned) options.preconditioner = &jacobi;
    context.counters() = {};
    CHECK(cg(a, b, x, options, work).status == Status::iteration_limit);
    CHECK(context.counters().allocations == 0);
    const Counters& seen = context.counters();
    const std::int64_t sign = iterations == 8 ? 1 : -1;
    cost.products += sign * seen.products;
    cost.reductions += sign * seen.reductions;
    cost.elements += sign * seen.elements;
    cost.transfers += sign * seen.transfers;
  }
  return cost;
}

TEST_CASE("an iteration of cg costs what its source says") {
  for (const bool compressed : {false, true}) {
    std::int64_t n = 0;
    const Counters plain = cost_of_three_iterations(compressed, false, n);
    CHECK(plain.products == 3 * 1);
    CHECK(plain.elements == 3 * 10 * n);
    CHECK(plain.reductions == 3 * 2);
    CHECK(plain.transfers == 3 * 1);
    const Counters helped = cost_of_three_iterations(compressed, true, n);  // Jacobi: 3 passes
    CHECK(helped.products == 3 * 2);
    CHECK(helped.elements == 3 * (10 + 2 + 3) * n);
    CHECK(helped.reductions == 3 * 3);
    CHECK(helped.transfers == 3 * 1);
  }
}

TEST_CASE("cg allocates what it says beforehand, once for many solves") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 12);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const Jacobi<double, Checked> jacobi(context, a);
  const auto b = upload(context, random_vector<double>(n, 3));
  auto x = upload(context, std::vector<double>(n, 0.0));
  for (const bool preconditioned : {false, true}) {
    const std::int64_t before = context.counters().allocations;
    Workspace<double, Checked> work(context, cg_workspace(n, preconditioned));
    CHECK(context.counters().allocations - before == (preconditioned ? 4 : 3) + 1);
    CHECK(work.bytes() == cg_workspace_bytes<double>(n, preconditioned));
    CHECK(work.bytes() == 8 * ((preconditioned ? 4 : 3) * n + 36));
    SolveOptions<double, Checked> options;
    if (preconditioned) options.preconditioner = &jacobi;
    const std::int64_t built = context.counters().allocations;
    for (int repeat = 0; repeat < 3; ++repeat) {
      fill(context, 0, x.span());
      const Report report = cg(a, b, x, options, work);
      CHECK(report.converged());
      CHECK(report.workspace_bytes == work.bytes());
    }
    CHECK(context.counters().allocations == built);
  }
}

TEST_CASE_TEMPLATE("cg gives the same bits for 1, 2 and 3 threads, and every time", T, double,
                   float) {
  const auto matrix = poisson<T>(200, 150);
  const auto b = random_vector<T>(matrix.rows(), 3);
  std::vector<Answer<T>> answers;
  for (const int threads : {1, 2, 3, 1}) {
    Context<Host> context(threads);
    const CsrOperator<T, Host> a(context, matrix);
    const Jacobi<T, Host> jacobi(context, a);
    answers.push_back(solve(a, b, {.max_iterations = 60, .preconditioner = &jacobi}));
  }
  for (const auto& answer : answers) {
    CHECK(answer.x == answers[0].x);
    CHECK(answer.report.history == answers[0].report.history);
    CHECK(answer.report.true_residual == answers[0].report.true_residual);
  }
}

TEST_CASE("the monitor and the history change nothing else") {
  Context<Host> context(1);
  const auto matrix = poisson<double>(30, 30);
  const CsrOperator<double, Host> a(context, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  std::vector<double> seen;
  std::vector<std::int64_t> numbers;
  const auto watched = solve(a, b, {.monitor = [&](std::int64_t iteration, double residual) {
                               numbers.push_back(iteration);
                               seen.push_back(residual);
                               return true;
                             }});
  const auto plain = solve(a, b), silent = solve(a, b, {.record_history = false});
  CHECK(watched.x == plain.x);
  CHECK(silent.x == plain.x);
  CHECK(silent.report.status == plain.report.status);
  CHECK(silent.report.iterations == plain.report.iterations);
  CHECK(silent.report.history.empty());
  CHECK(watched.report.history == plain.report.history);
  CHECK(seen == plain.report.history);
  CHECK(numbers.back() == plain.report.iterations);
  CHECK(numbers.size() == plain.report.history.size());
  CHECK(plain.report.history.front() == plain.report.initial_residual);
  CHECK(plain.report.history.back() == plain.report.residual);
}

TEST_CASE("cg counts every application of the operator and the preconditioner") {
  Context<Host> context(1);
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Host> a(context, matrix);
  const Jacobi<double, Host> jacobi(context, a);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto report = solve(a, b, {.preconditioner = &jacobi, .probe_symmetry = false}).report;
  CHECK(report.restarts == 0);
  CHECK(report.operator_applications == report.iterations + 2);
  CHECK(report.preconditioner_applications == report.iterations);
  CHECK(solve(a, b).report.operator_applications == solve(a, b).report.iterations + 4);
}

TEST_CASE_TEMPLATE("b scaled by a power of two scales x and nothing else", S, TANSOLVE_SETTINGS) {
  using T = typename S::T;
  auto context = S::context();
  const auto matrix = poisson<T>(20, 20);
  const CsrOperator<T, typename S::B> a(context, matrix);
  const auto b = random_vector<T>(matrix.rows(), 3);
  const auto plain = solve(a, b);
  const int far = std::is_same_v<T, float> ? 90 : 900;
  for (const int exponent : {-far, far}) {
    auto scaled = b;
    for (T& element : scaled) element = std::ldexp(element, exponent);
    auto [report, x] = solve(a, scaled);
    CHECK(report.converged());
    CHECK(report.iterations == plain.report.iterations);
    for (T& element : x) element = std::ldexp(element, -exponent);
    CHECK(x == plain.x);
  }
}

TEST_CASE("cg solves systems scaled by 1e200 and 1e-200") {
  Context<Host> context(1);
  const auto unscaled = poisson<double>(20, 20);
  const auto reference = solve(CsrOperator<double, Host>(context, unscaled),
                               random_vector<double>(400, 3), {.rtol = 1e-10});
  for (const double a_scale : {1e-200, 1.0, 1e200})
    for (const double b_scale : {1e-200, 1.0, 1e200}) {
      if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
      CAPTURE(a_scale);
      CAPTURE(b_scale);
      const auto matrix =
          weighted_poisson<double>(20, 20, [&](std::int64_t) { return std::sqrt(a_scale); });
      auto b = random_vector<double>(400, 3);
      for (double& element : b) element *= b_scale;
      const CsrOperator<double, Host> a(context, matrix);
      const Jacobi<double, Host> jacobi(context, a);
      for (const bool preconditioned : {false, true}) {
        const auto [report, x] =
            solve(a, b, {.rtol = 1e-10, .preconditioner = preconditioned ? &jacobi : nullptr});
        CHECK(report.converged());
        CHECK(std::abs(report.iterations - reference.report.iterations) <= 2);
      }
    }
}

}  // namespace tansolve::test
