// SPDX-License-Identifier: BSD-3-Clause
// MINRES: right answers on definite, indefinite and singular systems, every way to end, the claimed
// costs, the same bits.
#include "solvers/krylov.hpp"
#include "solvers/lying.hpp"

#include <tansolve/codec/files.hpp>

#include "support/matrices.hpp"

#include <unsupported/Eigen/IterativeSolvers>

#include <string>

namespace tansolve::test {
namespace {

template <class T, class B>
Answer<T> by_minres(const LinearOperator<T, B>& A, const std::type_identity_t<std::vector<T>>& b,
                    const std::type_identity_t<SolveOptions<T, B>>& options = {}) {
  return run_from(A, std::vector<T>(A.rows()), b,
                  [&](const auto& a, auto db, auto x) { return minres(a, db, x, options); });
}

using Options = SolveOptions<double, Checked>;

Answer<double> solve_by_minres(const Csr<double>& matrix, const std::vector<double>& b,
                               const Options& options = {}) {
  Context<Checked> context;
  return by_minres(CsrOperator<double, Checked>(context, matrix), b, options);
}

/// A diagonal system, preconditioned by the inverse of the diagonal m.
Answer<double> solve_diagonal(const std::vector<double>& d, const std::vector<double>& b,
                              const std::vector<double>& m) {
  Context<Checked> context;
  const auto matrix = diagonal_matrix(d);
  const Jacobi<double, Checked> jacobi(context, upload(context, m));
  return by_minres(CsrOperator<double, Checked>(context, matrix), b, {.preconditioner = &jacobi});
}

/// poisson less `shift` on its diagonal: indefinite.
template <class T>
Csr<T> helmholtz(std::int64_t nx, std::int64_t ny, double shift) {
  return with_values(poisson<T>(nx, ny),
                     [=](auto i, auto j, T value) { return i == j ? value - shift : value; });
}

TEST_CASE_TEMPLATE("minres agrees with a dense factorisation", S, Setting<double, Host, 2>,
                   Setting<float, Host, 2>, Setting<double, Checked>, Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const double shift : {0.0, 1.1}) {  // the nearest eigenvalue is 0.08 away
    CAPTURE(shift);
    const auto matrix = helmholtz<T>(9, 7, shift);
    const CsrOperator<T, B> a(context, matrix);
    std::vector<T> weights(matrix.rows());
    for (std::int64_t i = 0; i < matrix.rows(); ++i) weights[i] = T(1 + i % 3);
    const Jacobi<T, B> weighted(context, upload(context, weights));
    const auto b = random_vector<T>(matrix.rows(), 1), x0 = random_vector<T>(matrix.rows(), 2);
    const Eigen::MatrixXd inverse = test::inverse(dense(matrix));
    for (const bool preconditioned : {false, true}) {
      CAPTURE(preconditioned);
      const SolveOptions<T, B> options = {.preconditioner = preconditioned ? &weighted : nullptr};
      const auto [report, x] = run_from(
          a, x0, b, [&](const auto& A, auto db, auto dx) { return minres(A, db, dx, options); });
      CHECK(report.status == Status::converged);
      CHECK(report.warnings.empty());
      CHECK(report.true_residual <= report.threshold);
      CHECK(report.residual == doctest::Approx(report.true_residual).epsilon(0.1));
      CHECK(within(x, inverse * to_eigen(b), 1.1 * inverse.norm() * report.threshold));
    }
  }
}

/// Eigen's count is one short: it leaves its loop before counting the last step.
void check_iterations(const Csr<double>& matrix) {
  Context<Host> context(2);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto report =
      by_minres(CsrOperator<double, Host>(context, matrix), b, {.rtol = 1e-6}).report;
  CHECK(report.converged());
  const Eigen::SparseMatrix<double> sparse = to_eigen(matrix);
  Eigen::MINRES<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper,
                Eigen::IdentityPreconditioner>
      solver(sparse);
  solver.setTolerance(1e-6);
  solver.setMaxIterations(10000);
  const Eigen::VectorXd x = solver.solve(to_eigen(b));
  REQUIRE(solver.info() == Eigen::Success);
  CHECK(std::abs(report.iterations - (solver.iterations() + 1)) <= 1 + solver.iterations() / 20);
}

TEST_CASE("minres takes as many iterations as Eigen's") {
  for (const double shift : {0.0, 1.1}) check_iterations(helmholtz<double>(20, 15, shift));
}

TEST_CASE("minres takes as many iterations as Eigen's on real matrices") {
  const auto folder = real_matrices();
  if (!folder) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  for (const char* file : {"fv2.rb.gz", "crystm01.mtx.gz"}) {
    CAPTURE(file);
    check_iterations(read_matrix(*folder / file));
  }
}

TEST_CASE("minres ends after as many iterations as there are distinct eigenvalues") {
  const auto [report, x] = solve_by_minres(diagonal_matrix<double>({1, -2, 5, 1, -2, 5, 5}),
                                           {1, -2, 5, 2, -4, 10, 15}, {.rtol = 1e-13});
  CHECK(report.converged());
  CHECK(report.iterations == 3);
  CHECK(within(x, to_eigen(std::vector<double>{1, 1, 1, 2, 2, 2, 3}), 1e-12));
  CHECK(solve_by_minres(diagonal_matrix<double>({-4}), {2}).x == std::vector<double>{-0.5});
  CHECK(solve_by_minres(Csr<double>::from_triplets(0, 0, {}), {}).report.converged());
}

TEST_CASE("minres finds the solution of least norm of a consistent singular system") {
  const auto [flat, x] = solve_by_minres(diagonal_matrix<double>({1, 0, -2}), {1, 0, 4});
  CHECK(flat.converged());
  CHECK(within(x, to_eigen(std::vector<double>{1, 0, -2}), 1e-8));

  const auto grid = neumann<double>(12, 9);
  const auto b = centred(random_vector<double>(108, 2));
  const auto [report, y] = solve_by_minres(grid, b, {.rtol = 1e-10});
  CHECK(report.converged());
  const Eigen::VectorXd expected = least_norm_solution(dense(grid), to_eigen(b));
  CHECK(within(y, expected, 1e-7));
}

TEST_CASE("minres reports systems without solution, with a least-squares one") {
  const auto flat = solve_by_minres(diagonal_matrix<double>({1, 0}), {1, 1});
  CHECK(flat.report.status == Status::inconsistent);
  CHECK(flat.report.true_residual == doctest::Approx(1));
  CHECK(flat.report.detail.find("|r'Av| = ") == 0);
  const auto zero = solve_by_minres(Csr<double>::from_triplets(3, 3, {}), {1, 0, 2});
  CHECK(zero.report.status == Status::inconsistent);
  CHECK(zero.x == std::vector<double>(3));

  for (const std::int64_t nx : {5, 30}) {
    const auto grid = neumann<double>(nx, 1);
    const auto b = random_vector<double>(nx, 2);
    double sum = 0;
    for (const double element : b) sum += element;
    const auto [report, x] = solve_by_minres(grid, b);
    CHECK(report.status == Status::inconsistent);
    CHECK(report.true_residual ==
          doctest::Approx(std::abs(sum) / std::sqrt(static_cast<double>(nx))).epsilon(1e-9));
    const Eigen::VectorXd r = to_eigen(b) - to_eigen(grid) * to_eigen(x);
    CHECK((to_eigen(grid) * r).norm() <= 1e-8 * r.norm());
  }
}

TEST_CASE(
    "minres does not take an eigenvector of a tiny eigenvalue for the absence of a solution") {
  const auto [report, x] = solve_by_minres(diagonal_matrix<double>({1e-12, 1, 2}), {1, 0, 0});
  CHECK(report.converged());
  CHECK(x[0] == doctest::Approx(1e12));
}

TEST_CASE("minres does not claim more than an ill-conditioned system allows, nor spoil the guess") {
  const auto matrix = with_condition(40, 1e10, 5);
  const auto b = random_vector<double>(40, 1);
  const auto [report, x] = solve_by_minres(matrix, b);
  CHECK(report.status == Status::stagnated);
  CHECK(report.true_residual <= report.initial_residual);
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-3));
}

TEST_CASE("minres reports limits and cancelling with the true residual of what it has") {
  const auto matrix = helmholtz<double>(10, 10, 1.1);
  const auto b = random_vector<double>(100, 1);
  for (const std::int64_t limit : {0, 1, 7}) {
    const auto limited = solve_by_minres(matrix, b, {.max_iterations = limit});
    CHECK(limited.report.status == Status::iteration_limit);
    CHECK(limited.report.iterations == limit);
    CHECK(limited.report.true_residual ==
          doctest::Approx(eigen_residual(matrix, b, limited.x)).epsilon(1e-12));
    const auto cancelled =
        solve_by_minres(matrix, b, {.monitor = [&](std::int64_t i, double) { return i < limit; }});
    CHECK(cancelled.report.status == Status::cancelled);
    CHECK(cancelled.x == limited.x);
  }
  CHECK(solve_by_minres(matrix, b, {.time_limit = 0}).report.status == Status::time_limit);
  CHECK(solve_by_minres(matrix, b, {.divergence_factor = 0.5}).report.status == Status::diverged);
}

TEST_CASE("minres reports preconditioners that are not positive definite") {
  const auto indefinite = solve_diagonal({2, 3}, {1, 2}, {1, -1});
  CHECK(indefinite.report.status == Status::indefinite_preconditioner);
  CHECK(indefinite.x == std::vector<double>{0, 0});
  const auto blind = solve_diagonal({2, 3}, {1, 1}, {1, -1});
  CHECK(blind.report.status == Status::breakdown);
  CHECK(blind.report.detail.find("r'Mr = 0") == 0);
  CHECK(solve_diagonal({2, 3}, {1, 2}, {1, 5}).report.converged());
}

TEST_CASE("minres restarts from the true residual, and says stagnated when that no longer helps") {
  Context<Checked> context;
  const auto matrix = helmholtz<double>(10, 10, 1.1);
  const auto b = random_vector<double>(100, 1);
  const auto lying = [&](double factor) {
    return test::Lying(context, matrix, [&context, factor](std::int64_t, Span<double, Checked> y) {
      scale(context, factor, y);
    });
  };
  const auto slightly = by_minres(lying(1.001), b);
  CHECK(slightly.report.converged());
  CHECK(slightly.report.restarts > 0);
  CHECK(eigen_residual(matrix, b, slightly.x) <= 1.0001e-8 * slightly.report.baseline);
  const auto [report, x] = by_minres(lying(3), b);
  CHECK(report.status == Status::stagnated);
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-6));
}

TEST_CASE("minres keeps the last finite x when a product turns NaN or infinite") {
  Context<Checked> context;
  const auto matrix = helmholtz<double>(10, 10, 1.1);
  const auto b = random_vector<double>(100, 1);
  const auto before = solve_by_minres(matrix, b, {.max_iterations = 2});
  for (const double poison : {nan_of<double>, std::numeric_limits<double>::infinity()}) {
    const test::Lying a(context, matrix, [=](std::int64_t product, Span<double, Checked> y) {
      if (product == 3) y.data()[7] = poison;
    });
    const auto [report, x] = by_minres(a, b);
    CHECK(report.status == Status::not_finite);
    CHECK(report.iterations == 2);
    CHECK(x == before.x);
  }
  auto bad = b;
  bad[4] = nan_of<double>;
  CHECK(solve_by_minres(matrix, bad).report.detail == "b[4] = nan");
  const auto overflow = solve_by_minres(diagonal_matrix<double>({1e-200, 2e-200}), {1e200, 1e200});
  CHECK(overflow.report.status == Status::not_finite);
  CHECK(overflow.x == std::vector<double>{0, 0});
}

TEST_CASE("minres returns at once for b = 0 and for an exact guess, and warns of asymmetry") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1, -2, 4});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto run = [&](const std::vector<double>& x0, const std::vector<double>& b) {
    return run_from(a, x0, b,
                    [](const auto& A, auto db, auto x) { return minres(A, db, x, {.rtol = 0}); });
  };
  CHECK(run({1, 2, 3}, {0, 0, 0}).x == std::vector<double>{0, 0, 0});
  const auto exact = run({1, 2, 3}, {1, -4, 12});
  CHECK(exact.report.converged());
  CHECK(exact.report.iterations == 0);
  CHECK(exact.x == std::vector<double>{1, 2, 3});
  const auto skewed = solve_by_minres(convection<double>(4, 4, 0.4), random_vector<double>(16, 1),
                                      {.max_iterations = 1});
  REQUIRE(skewed.report.warnings.size() == 1);
  CHECK(skewed.report.warnings[0].find("csr is not symmetric") == 0);
}

/// What the iterations from the 3rd to the 5th cost together, before the first look at the truth.
Counters cost_of_three_iterations(bool preconditioned, std::int64_t n) {
  Counters cost;
  for (const std::int64_t iterations : {5, 2}) {
    Context<Checked> context;
    const auto matrix = poisson<double>(n / 40, 40);
    const CsrOperator<double, Checked> a(context, matrix);
    const Jacobi<double, Checked> jacobi(context, a);
    const auto b = upload(context, random_vector<double>(n, 3));
    auto x = upload(context, std::vector<double>(n, 0.0));
    Workspace<double, Checked> work(context, minres_workspace(n, preconditioned));
    Options options{.max_iterations = iterations, .probe_symmetry = false};
    if (preconditioned) options.preconditioner = &jacobi;
    context.counters() = {};
    const Report report = minres(a, b, x, options, work);
    CHECK(report.status == Status::iteration_limit);
    CHECK(report.residual > report.initial_residual / 10);
    CHECK(report.workspace_bytes == 8 * ((preconditioned ? 7 : 5) * n + 328));
    CHECK(context.counters().allocations == 0);
    const Counters& seen = context.counters();
    const std::int64_t sign = iterations == 5 ? 1 : -1;
    cost.products += sign * seen.products;
    cost.reductions += sign * seen.reductions;
    cost.elements += sign * seen.elements;
    cost.transfers += sign * seen.transfers;
  }
  return cost;
}

TEST_CASE("an iteration of minres costs what its source says") {
  const std::int64_t n = 1600;
  const Counters plain = cost_of_three_iterations(false, n);
  CHECK(plain.products == 3 * 1);
  CHECK(plain.elements == 3 * 14 * n);
  CHECK(plain.reductions == 3 * 3);
  CHECK(plain.transfers == 3 * 1);
  const Counters helped = cost_of_three_iterations(true, n);  // Jacobi: 3 passes
  CHECK(helped.products == 3 * 2);
  CHECK(helped.elements == 3 * (14 + 7 + 3) * n);
  CHECK(helped.reductions == 3 * (3 + 2));
  CHECK(helped.transfers == 3 * 1);
}

TEST_CASE("minres gives the same bits for 1, 2 and 3 threads, and every time") {
  const auto matrix = helmholtz<float>(150, 120, 1.1);
  const auto b = random_vector<float>(matrix.rows(), 3);
  std::vector<Answer<float>> answers;
  for (const int threads : {1, 2, 3, 1}) {
    Context<Host> context(threads);
    answers.push_back(
        by_minres(CsrOperator<float, Host>(context, matrix), b, {.max_iterations = 30}));
  }
  for (const auto& answer : answers) {
    CHECK(answer.x == answers[0].x);
    CHECK(answer.report.history == answers[0].report.history);
  }
}

TEST_CASE("minres solves systems scaled by 1e200 and 1e-200") {
  Context<Host> context(1);
  for (const double a_scale : {1e-200, 1.0, 1e200})
    for (const double b_scale : {1e-200, 1.0, 1e200}) {
      if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
      CAPTURE(a_scale);
      CAPTURE(b_scale);
      const auto matrix =
          weighted_poisson<double>(12, 10, [&](std::int64_t) { return std::sqrt(a_scale); });
      auto b = random_vector<double>(120, 3);
      for (double& element : b) element *= b_scale;
      const CsrOperator<double, Host> a(context, matrix);
      const Jacobi<double, Host> jacobi(context, a);
      const auto plain = by_minres(a, b).report,
                 helped = by_minres(a, b, {.preconditioner = &jacobi}).report;
      CHECK(plain.converged());
      CHECK(helped.converged());
      CHECK(std::abs(plain.iterations - helped.iterations) <= 2);  // a constant diagonal
    }
}

}  // namespace
}  // namespace tansolve::test
