// SPDX-License-Identifier: BSD-3-Clause
// GMRES and flexible GMRES: right answers in every storage of the basis, known iteration counts,
// the claimed costs and memory, the same bits.
#include "solvers/krylov.hpp"

#include <tansolve/codec/files.hpp>

#include "support/matrices.hpp"

#include <unsupported/Eigen/IterativeSolvers>

namespace tansolve::test {
namespace {

constexpr BasisStorage all_storages[] = {BasisStorage::working, BasisStorage::fp32,
                                         BasisStorage::fp16};

template <class T, class B>
Answer<T> by_gmres(const LinearOperator<T, B>& A, const std::type_identity_t<std::vector<T>>& b,
                   const std::type_identity_t<SolveOptions<T, B>>& options = {},
                   const KrylovBasis& basis = {}) {
  return run_from(A, std::vector<T>(A.rows()), b,
                  [&](const auto& a, auto db, auto x) { return gmres(a, db, x, options, basis); });
}

template <class T, class B>
Answer<T> by_fgmres(const LinearOperator<T, B>& A, const std::type_identity_t<std::vector<T>>& b,
                    const std::type_identity_t<SolveOptions<T, B>>& options = {},
                    const KrylovBasis& basis = {}) {
  return run_from(A, std::vector<T>(A.rows()), b,
                  [&](const auto& a, auto db, auto x) { return fgmres(a, db, x, options, basis); });
}

TEST_CASE_TEMPLATE("gmres agrees with a dense factorisation, whatever the basis is stored in", S,
                   Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                   Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double rtol = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  for (const bool indefinite : {false, true}) {
    CAPTURE(indefinite);
    const auto matrix = indefinite ? flipped(convection<T>(9, 7, 0.4)) : convection<T>(9, 7, 0.4);
    const CsrOperator<T, B> a(context, matrix);
    const Jacobi<T, B> jacobi(context, a);
    const auto b = random_vector<T>(matrix.rows(), 1);
    const Eigen::MatrixXd inverse = test::inverse(dense(matrix));
    for (const BasisStorage storage : all_storages)
      for (const bool preconditioned : {false, true})
        for (const bool flexible : {false, true}) {
          CAPTURE(static_cast<int>(storage));
          CAPTURE(preconditioned);
          CAPTURE(flexible);
          const SolveOptions<T, B> options = {.rtol = rtol,
                                              .preconditioner = preconditioned ? &jacobi : nullptr};
          const KrylovBasis basis = {.restart = 63, .storage = storage};
          const auto [report, x] =
              flexible ? by_fgmres(a, b, options, basis) : by_gmres(a, b, options, basis);
          CHECK(report.status == Status::converged);
          CHECK(report.solver == (flexible ? "fgmres" : "gmres"));
          CHECK(report.true_residual <= report.threshold);
          CHECK(eigen_residual(matrix, b, x) <=
                report.threshold + 100 * std::numeric_limits<T>::epsilon() * report.baseline);
          CHECK(within(x, inverse * to_eigen(b), 1.1 * inverse.norm() * report.threshold));
        }
  }
}

std::int64_t eigen_gmres_iterations(const Csr<double>& matrix, const std::vector<double>& b,
                                    double tolerance, int restart) {
  const Eigen::SparseMatrix<double> sparse = to_eigen(matrix);
  Eigen::GMRES<Eigen::SparseMatrix<double>, Eigen::IdentityPreconditioner> solver(sparse);
  solver.set_restart(restart);
  solver.setTolerance(tolerance);
  solver.setMaxIterations(10000);
  const Eigen::VectorXd x = solver.solve(to_eigen(b));
  REQUIRE(solver.info() == Eigen::Success);
  return solver.iterations();
}

TEST_CASE("gmres takes as many iterations as Eigen's") {
  Context<Host> context(2);
  for (const bool indefinite : {false, true}) {
    const auto grid = convection<double>(20, 15, 0.4);
    const auto matrix = indefinite ? flipped(grid) : grid;
    const CsrOperator<double, Host> a(context, matrix);
    const auto b = random_vector<double>(matrix.rows(), 3);
    for (const int restart : {10, 300}) {
      if (indefinite && restart < 300) continue;  // which stagnates, Eigen's, too
      const auto report = by_gmres(a, b, {.rtol = 1e-8}, {.restart = restart}).report;
      CHECK(report.converged());
      const auto expected = eigen_gmres_iterations(matrix, b, 1e-8, restart);
      CHECK(std::abs(report.iterations - expected) <= 1 + expected / 20);
    }
  }
}

TEST_CASE("gmres takes as many iterations as Eigen's on real matrices") {
  const auto folder = real_matrices();
  if (!folder) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  Context<Host> context(2);
  for (const char* file : {"fv2.rb.gz", "crystm01.mtx.gz"}) {
    CAPTURE(file);
    const auto matrix = read_matrix(*folder / file);
    const CsrOperator<double, Host> a(context, matrix);
    const auto b = random_vector<double>(matrix.rows(), 3);
    const auto expected = eigen_gmres_iterations(matrix, b, 1e-6, 30);
    for (const BasisStorage storage : all_storages) {
      const auto [report, x] = by_gmres(a, b, {.rtol = 1e-6}, {.restart = 30, .storage = storage});
      CHECK(report.converged());
      CHECK(eigen_residual(matrix, b, x) <= 1.0001e-6 * report.baseline);
      CHECK(std::abs(report.iterations - expected) <= 1 + expected / 10);
    }
  }
}

TEST_CASE("a basis stored in half precision costs gmres few iterations and no accuracy") {
  Context<Host> context(2);
  const auto matrix = convection<double>(30, 20, 0.4);
  const CsrOperator<double, Host> a(context, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto full = by_gmres(a, b, {.rtol = 1e-13});
  for (const BasisStorage storage : {BasisStorage::fp32, BasisStorage::fp16}) {
    const auto [report, x] = by_gmres(a, b, {.rtol = 1e-13}, {.storage = storage});
    CHECK(report.converged());
    CHECK(eigen_residual(matrix, b, x) <= 1.01e-13 * report.baseline);
    CHECK(report.iterations <= full.report.iterations * 5 / 4);
    CHECK(report.workspace_bytes < full.report.workspace_bytes * 2 / 3);
  }
}

TEST_CASE("gmres ends early and happily, after as many iterations as distinct eigenvalues") {
  Context<Checked> context;
  for (const bool flexible : {false, true}) {
    const auto matrix = diagonal_matrix<double>({1, -2, 5, 1, -2, 5, 5});
    const CsrOperator<double, Checked> a(context, matrix);
    const std::vector<double> b = {1, -2, 5, 2, -4, 10, 15};
    const auto [report, x] =
        flexible ? by_fgmres(a, b, {.rtol = 1e-14}) : by_gmres(a, b, {.rtol = 1e-14});
    CHECK(report.converged());
    CHECK(report.iterations == 3);
    CHECK(report.history.size() == 4);
    CHECK(within(x, to_eigen(std::vector<double>{1, 1, 1, 2, 2, 2, 3}), 1e-13));
  }
  const auto one = diagonal_matrix<double>({4});
  const auto [report, x] = by_gmres(CsrOperator<double, Checked>(context, one), {2});
  CHECK(report.converged());
  CHECK(report.iterations == 1);
  CHECK(x == std::vector<double>{0.5});
  const auto none = Csr<double>::from_triplets(0, 0, {});
  CHECK(by_gmres(CsrOperator<double, Checked>(context, none), {}).report.converged());
}

/// What iteration `j` (from 0) of the first cycle costs.
Counters cost_of_iteration(const Csr<double>& matrix, std::int64_t j, bool preconditioned,
                           bool flexible, Reorthogonalize when = Reorthogonalize::always) {
  Counters cost;
  const std::int64_t n = matrix.rows();
  for (const std::int64_t iterations : {j + 1, j}) {
    Context<Checked> context;
    const CsrOperator<double, Checked> a(context, matrix);
    const Jacobi<double, Checked> jacobi(context, a);
    const auto b = upload(context, random_vector<double>(n, 3));
    auto x = upload(context, std::vector<double>(n, 0.0));
    GmresWorkspace<double, Checked> work(context, n, {.restart = 30, .reorthogonalize = when},
                                         flexible);
    SolveOptions<double, Checked> options{.max_iterations = iterations};
    if (preconditioned) options.preconditioner = &jacobi;
    context.counters() = {};
    const Report report = flexible ? fgmres(a, b, x, options, work) : gmres(a, b, x, options, work);
    CHECK(report.status == Status::iteration_limit);
    CHECK(report.iterations == iterations);
    CHECK(context.counters().allocations == 0);
    const Counters& seen = context.counters();
    const std::int64_t sign = iterations == j ? -1 : 1;
    cost.products += sign * seen.products;
    cost.reductions += sign * seen.reductions;
    cost.elements += sign * seen.elements;
    cost.transfers += sign * seen.transfers;
  }
  return cost;
}

TEST_CASE("an iteration of gmres costs what its source says") {
  const std::int64_t n = 400;
  const auto matrix = convection<double>(20, 20, 0.4);
  for (const std::int64_t j : {3, 17}) {
    // The step at the end reads one vector more, too.
    const std::int64_t passes = 3 * (j + 1) + 1 + 9 + 1;
    const Counters plain = cost_of_iteration(matrix, j, false, false);
    CHECK(plain.products == 1);
    CHECK(plain.elements == passes * n);
    CHECK(plain.reductions == 2 * (j + 1) + 1);
    CHECK(plain.transfers == 1);
    const Counters helped = cost_of_iteration(matrix, j, true, false);  // Jacobi: 3 passes
    CHECK(helped.products == 2);
    CHECK(helped.elements == (passes + 3) * n);
    CHECK(helped.transfers == 1);
    const Counters flexible = cost_of_iteration(matrix, j, true, true);
    CHECK(flexible.elements == (passes + 3 + 4) * n);
    CHECK(flexible.reductions == 2 * (j + 1) + 2);
    CHECK(flexible.transfers == 1);
  }
}

TEST_CASE("second passes that are not needed cost gmres nothing") {
  const std::int64_t n = 400;
  const auto turning = shifted(n), grid = convection<double>(20, 20, 0.4);
  for (const std::int64_t k : {4, 18}) {  // the step at the end reads one vector more, too
    const Counters spared =
        cost_of_iteration(turning, k - 1, false, false, Reorthogonalize::needed);
    CHECK(spared.elements == (2 * k + 1 + 7 + 1) * n);
    CHECK(spared.reductions == k + 1);
    CHECK(spared.transfers == 1);
    const Counters made = cost_of_iteration(grid, k - 1, false, false, Reorthogonalize::needed);
    CHECK(made.elements == (4 * k + 1 + 10 + 1) * n);
    CHECK(made.reductions == 2 * k + 2);
    const Counters always = cost_of_iteration(turning, k - 1, false, false);
    CHECK(always.elements == (3 * k + 1 + 9 + 1) * n);
  }
}

TEST_CASE("gmres takes as many iterations where second passes are made when needed") {
  Context<Host> context(2);
  for (const Csr<double>& matrix : {shifted(60), convection<double>(20, 15, 0.4)}) {
    const CsrOperator<double, Host> a(context, matrix);
    const auto b = random_vector<double>(a.rows(), 3);
    for (const BasisStorage storage : all_storages) {
      const KrylovBasis always{.restart = 60, .storage = storage};
      KrylovBasis needed = always;
      needed.reorthogonalize = Reorthogonalize::needed;
      for (const bool flexible : {false, true}) {
        const auto solve = flexible ? by_fgmres<double, Host> : by_gmres<double, Host>;
        const auto expected = solve(a, b, {.rtol = 1e-12}, always);
        const auto [report, x] = solve(a, b, {.rtol = 1e-12}, needed);
        CHECK(report.converged());
        CHECK(std::abs(report.iterations - expected.report.iterations) <=
              expected.report.iterations / 50);
        CHECK(eigen_residual(matrix, b, x) <= 1.01e-12 * report.baseline);
      }
    }
  }
}

TEST_CASE("gmres allocates what it says beforehand, and no more vectors than unknowns") {
  Context<Checked> context;
  const auto matrix = convection<double>(12, 10, 0.4);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload(context, random_vector<double>(n, 3));
  auto x = upload(context, std::vector<double>(n, 0.0));
  const auto bytes = [&](const KrylovBasis& basis, bool flexible) {
    return GmresWorkspace<double, Checked>::bytes(context, n, basis, flexible);
  };
  // 120 elements are padded to 128; 6 columns of 2 * 20 + 2 coefficients and a scalar.
  CHECK(bytes({.restart = 20}, false) == 8 * (21 * 128 + 1 + 4 * n + 6 * 42 + 1));
  CHECK(bytes({.restart = 20}, true) == bytes({.restart = 20}, false) + 8 * (20 * 128 + 1));
  CHECK(bytes({.restart = 20, .storage = BasisStorage::fp16}, false) ==
        bytes({.restart = 20}, false) - 6 * 21 * 128);
  CHECK(bytes({.restart = 1'000'000}, false) == bytes({.restart = n}, false));

  GmresWorkspace<double, Checked> work(context, n, {.restart = 20}, true);
  CHECK(work.bytes() == bytes({.restart = 20}, true));
  const std::int64_t built = context.counters().allocations;
  for (int repeat = 0; repeat < 3; ++repeat) {
    fill(context, 0, x.span());
    const Report report = repeat == 0 ? gmres(a, b, x, {}, work) : fgmres(a, b, x, {}, work);
    CHECK(report.converged());
    CHECK(report.workspace_bytes == work.bytes());
  }
  CHECK(context.counters().allocations == built);
}

template <class T>
void check_same_bits(bool flexible) {
  const auto matrix = convection<T>(150, 120, 0.4);
  const auto b = random_vector<T>(matrix.rows(), 3);
  std::vector<Answer<T>> answers;
  for (const int threads : {1, 2, 3, 1}) {
    Context<Host> context(threads);
    const CsrOperator<T, Host> a(context, matrix);
    const Jacobi<T, Host> jacobi(context, a);
    const SolveOptions<T, Host> options = {.max_iterations = 25, .preconditioner = &jacobi};
    const KrylovBasis basis = {.restart = 20, .storage = BasisStorage::fp16};
    answers.push_back(flexible ? by_fgmres(a, b, options, basis) : by_gmres(a, b, options, basis));
  }
  for (const auto& answer : answers) {
    CHECK(answer.x == answers[0].x);
    CHECK(answer.report.history == answers[0].report.history);
    CHECK(answer.report.true_residual == answers[0].report.true_residual);
  }
}

TEST_CASE("gmres gives the same bits for 1, 2 and 3 threads, and every time") {
  check_same_bits<double>(false);
  check_same_bits<float>(true);
}

TEST_CASE("gmres solves systems scaled by 1e200 and 1e-200") {
  Context<Host> context(1);
  const auto unscaled = convection<double>(12, 10, 0.4);
  const auto b0 = random_vector<double>(unscaled.rows(), 3);
  const auto expected = by_gmres(CsrOperator<double, Host>(context, unscaled), b0);
  for (const double a_scale : {1e-200, 1.0, 1e200})
    for (const double b_scale : {1e-200, 1.0, 1e200}) {
      if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
      CAPTURE(a_scale);
      CAPTURE(b_scale);
      std::vector<double> values(unscaled.values().begin(), unscaled.values().end()), b = b0;
      for (double& value : values) value *= a_scale;
      for (double& element : b) element *= b_scale;
      const Csr<double> matrix(unscaled.rows(), unscaled.cols(),
                               {unscaled.offsets().begin(), unscaled.offsets().end()},
                               {unscaled.columns().begin(), unscaled.columns().end()}, values);
      const CsrOperator<double, Host> a(context, matrix);
      const Jacobi<double, Host> jacobi(context, a);
      const auto plain = by_gmres(a, b).report;
      CHECK(plain.converged());
      CHECK(plain.iterations == expected.report.iterations);
      CHECK(by_gmres(a, b, {.preconditioner = &jacobi}, {.storage = BasisStorage::fp16})
                .report.converged());
      CHECK(by_fgmres(a, b, {.preconditioner = &jacobi}, {.storage = BasisStorage::fp16})
                .report.converged());
    }
}

TEST_CASE("fgmres bears a preconditioner that changes, gmres does not believe its own residual") {
  Context<Checked> context;
  const auto matrix = convection<double>(12, 10, 0.4);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto factor = [](std::int64_t call) { return 1.0 + static_cast<double>(call % 7); };
  const Moody<double, Checked> moody(context, matrix.rows(), factor), twin(context, 120, factor);
  const auto flexible = by_fgmres(a, b, {.preconditioner = &moody});
  CHECK(flexible.report.converged());
  CHECK(flexible.report.restarts <= 2);
  const auto [report, x] = by_gmres(a, b, {.max_iterations = 300, .preconditioner = &twin});
  CHECK_FALSE(report.converged());
  CHECK(eigen_residual(matrix, b, x) == doctest::Approx(report.true_residual).epsilon(1e-10));
  CHECK(report.true_residual <= report.initial_residual);
}

TEST_CASE("gmres counts every application of the operator and the preconditioner") {
  Context<Host> context(1);
  const auto matrix = convection<double>(12, 10, 0.4);
  const CsrOperator<double, Host> a(context, matrix);
  const Jacobi<double, Host> jacobi(context, a);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto report = by_gmres(a, b, {.preconditioner = &jacobi}, {.restart = 10}).report;
  CHECK(report.restarts == (report.iterations - 1) / 10);
  CHECK(report.operator_applications == report.iterations + report.restarts + 2);
  CHECK(report.preconditioner_applications == report.iterations + report.restarts + 1);
}

}  // namespace
}  // namespace tansolve::test
