// SPDX-License-Identifier: BSD-3-Clause
// Every way in which conjugate gradients can end, and the faults that solvers are known for.
#include <tansolve/solvers/look.hpp>

#include "solvers/lying.hpp"
#include "solvers/solving.hpp"

#include <sstream>

namespace tansolve::test {

using Options = SolveOptions<double, Checked>;

/// The diagonal system d x = b by cg; the preconditioner is diagonal too, from the inverse of m.
Answer<double> solve_diagonal(const std::vector<double>& d, const std::vector<double>& b,
                              Options options = {}, const std::vector<double>& m = {}) {
  Context<Checked> context;
  const auto matrix = diagonal_matrix(d);
  const CsrOperator<double, Checked> a(context, matrix);
  if (m.empty()) return solve(a, b, options);
  const Jacobi<double, Checked> jacobi(context, upload(context, m));
  options.preconditioner = &jacobi;
  return solve(a, b, options);
}

TEST_CASE("cg reports the iteration limit with the true residual of what it has") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(100, 1);
  for (const std::int64_t limit : {0, 1, 3}) {
    const auto [report, x] = solve(a, b, {.max_iterations = limit});
    CHECK(report.status == Status::iteration_limit);
    CHECK(report.iterations == limit);
    CHECK(report.detail == "max_iterations is " + std::to_string(limit));
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-12));
  }
}

TEST_CASE("cg reports the time limit") {
  const auto [report, x] = solve_diagonal({1, 2}, {1, 1}, {.time_limit = 0});
  CHECK(report.status == Status::time_limit);
  CHECK(report.true_residual == doctest::Approx(std::sqrt(2.0)));
}

TEST_CASE("cg reports breakdown on a direction without curvature") {
  const auto indefinite = solve_diagonal({1, -1}, {1, 1});
  CHECK(indefinite.report.status == Status::breakdown);
  CHECK(indefinite.report.detail.find("p'Ap = 0") == 0);
  CHECK(indefinite.report.iterations == 0);
  CHECK(indefinite.x == std::vector<double>{0, 0});
  CHECK(indefinite.report.true_residual == doctest::Approx(std::sqrt(2.0)));
}

TEST_CASE_TEMPLATE("cg reports a system without solution where it meets a null vector", S,
                   Setting<double, Host, 1>, Setting<double, Host, 2>, Setting<float, Host, 2>,
                   Setting<double, Checked>, Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto singular = diagonal_matrix<T>({1, 0});
  const Jacobi<T, B> identity(context, upload<T>(context, {1, 1}));
  for (const T scale : {T(1), T(1e-15), T(1e15)}) {
    const CsrOperator<T, B> a(context, singular);
    for (const LinearOperator<T, B>* preconditioner :
         {static_cast<const LinearOperator<T, B>*>(nullptr),
          static_cast<const LinearOperator<T, B>*>(&identity)}) {
      const auto [report, x] =
          solve(a, {scale, scale}, {.preconditioner = preconditioner, .probe_symmetry = false});
      CHECK(report.status == Status::inconsistent);
      CHECK(report.detail == "A p = 0 for a direction p with p'b > 0");
      CHECK(report.iterations == 1);  // alpha = 2 along b, then p = (0, 2)
      CHECK(x == std::vector<T>{2 * scale, 2 * scale});
      CHECK(report.true_residual == doctest::Approx(std::sqrt(2.0) * scale));
    }
  }
  const auto zero = Csr<T>::from_triplets(3, 3, {});
  const auto [report, x] = solve(CsrOperator<T, B>(context, zero), {1, 0, 2});
  CHECK(report.status == Status::inconsistent);
  CHECK(report.iterations == 0);
  CHECK(x == std::vector<T>{0, 0, 0});
}

TEST_CASE("cg never claims to solve a graph's Laplacian for a b that does not sum to 0") {
  for (const std::int64_t n : {2, 3, 10, 64, 200}) {
    CAPTURE(n);
    Context<Checked> context;
    const auto matrix = path_laplacian<double>(n);
    const CsrOperator<double, Checked> a(context, matrix);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      auto b = random_vector<double>(n, seed);
      if (seed == 0) b.assign(n, 1.0);
      double sum = 0;
      for (const double element : b) sum += element;
      const auto [report, x] = solve(a, b, {.max_iterations = 1000});
      CHECK_FALSE(report.converged());
      if (seed == 0) CHECK(report.status == Status::inconsistent);
      // The part of b along the constant vectors is in every residual.
      CHECK(report.true_residual >= (1 - 1e-12) * std::abs(sum) / std::sqrt(n));
    }
  }
}

TEST_CASE("cg solves a consistent singular system") {
  const auto [report, x] = solve_diagonal({1, 0, 2}, {1, 0, 4});
  CHECK(report.converged());
  CHECK(x[1] == 0);
  CHECK(std::abs(x[0] - 1) + std::abs(x[2] - 2) < 1e-7);
}

TEST_CASE("cg reports breakdown on a residual that the preconditioner cannot see") {
  const auto [report, x] = solve_diagonal({2, 3}, {1, 1}, {}, {1, -1});
  CHECK(report.status == Status::breakdown);
  CHECK(report.detail.find("r'Mr = 0") == 0);
  CHECK(x == std::vector<double>{0, 0});
}

TEST_CASE("cg reports an indefinite operator") {
  const auto [report, x] = solve_diagonal({1, -1}, {1, 2});
  CHECK(report.status == Status::indefinite_operator);
  CHECK(report.detail.find("p'Ap = -") == 0);
  CHECK(x == std::vector<double>{0, 0});
  CHECK(report.true_residual == doctest::Approx(std::sqrt(5.0)));
}

TEST_CASE("cg reports an indefinite preconditioner") {
  const auto [report, x] = solve_diagonal({2, 3}, {1, 2}, {}, {1, -1});
  CHECK(report.status == Status::indefinite_preconditioner);
  CHECK(report.detail.find("r'Mr = -") == 0);
  CHECK(report.preconditioner_name == "jacobi");
}

TEST_CASE("cg reports divergence") {
  // The first step, 1/2, turns the residual (1, 0.001) into (0.5, -499.999).
  const auto [report, x] = solve_diagonal({1, 1e6}, {1, 1e-3}, {.divergence_factor = 400});
  CHECK(report.status == Status::diverged);
  CHECK(report.iterations == 1);
  CHECK(report.true_residual == doctest::Approx(500).epsilon(1e-4));
  CHECK(solve_diagonal({1, 1e6}, {1, 1e-3}).report.converged());
}

TEST_CASE("cg is cancelled by its monitor") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(100, 1);
  const auto cancel_at = [](std::int64_t last) {
    return [last](std::int64_t iteration, double) { return iteration < last; };
  };
  for (const std::int64_t last : {0, 4}) {
    const auto [report, x] = solve(a, b, {.monitor = cancel_at(last)});
    CHECK(report.status == Status::cancelled);
    CHECK(report.iterations == last);
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-12));
    CHECK(x == solve(a, b, {.max_iterations = last}).x);
  }
}

TEST_CASE("cg keeps the last finite x when a product turns NaN or infinite") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const auto b = random_vector<double>(100, 1);
  const auto before =
      solve(CsrOperator<double, Checked>(context, matrix), b, {.max_iterations = 2});
  for (const double poison : {nan_of<double>, std::numeric_limits<double>::infinity()}) {
    const Lying a(context, matrix, [=](std::int64_t product, Span<double, Checked> y) {
      if (product == 3) y.data()[7] = poison;
    });
    const auto [report, x] = solve(a, b);
    CHECK(report.status == Status::not_finite);
    CHECK(report.detail.find("p'Ap = ") == 0);
    CHECK(report.iterations == 2);
    CHECK(x == before.x);
    CHECK(report.true_residual == before.report.true_residual);
  }
}

TEST_CASE("cg reports where b, x0 or the operator are not finite") {
  Context<Checked> context;
  const auto matrix = poisson<double>(3, 3);
  const CsrOperator<double, Checked> a(context, matrix);
  auto bad = random_vector<double>(9, 1);
  const auto good = bad;
  bad[4] = nan_of<double>;

  const auto bad_b = solve_from(a, good, bad);
  CHECK(bad_b.report.status == Status::not_finite);
  CHECK(bad_b.report.detail == "b[4] = nan");
  CHECK(bad_b.x == good);
  CHECK(bad_b.report.iterations == 0);
  CHECK(std::isnan(bad_b.report.true_residual));

  const auto bad_x = solve_from(a, bad, good);
  CHECK(bad_x.report.status == Status::not_finite);
  CHECK(bad_x.report.detail == "x0[4] = nan");

  const auto bad_a = solve_diagonal({1, nan_of<double>}, {1, 1});
  CHECK(bad_a.report.status == Status::not_finite);
  CHECK(bad_a.report.detail == "(b - A x0)[1] = nan");
  CHECK(bad_a.x == std::vector<double>{0, 0});
}

TEST_CASE("cg reports a solution beyond the largest number") {
  const auto [report, x] = solve_diagonal({1e-200, 2e-200}, {1e200, 1e200});
  CHECK(report.status == Status::not_finite);
  CHECK(report.detail.find("overflows") != std::string::npos);
  CHECK(x == std::vector<double>{0, 0});
}

TEST_CASE("cg restarts from the true residual until that meets the tolerance") {
  // Products off by 1e-3: each run of the recurrence leaves a thousandth of the residual.
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const Lying a(context, matrix,
                [&](std::int64_t, Span<double, Checked> y) { scale(context, 1.001, y); });
  const auto b = random_vector<double>(100, 1);
  const auto [report, x] = solve(a, b);
  CHECK(report.converged());
  CHECK(report.restarts == 2);
  CHECK(eigen_residual(matrix, b, x) <= 1e-8 * report.baseline);
}

TEST_CASE("cg says stagnated when the recurrence converges and the truth does not") {
  // Products three times too large: each run leaves two thirds of the residual.
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const Lying a(context, matrix,
                [&](std::int64_t, Span<double, Checked> y) { scale(context, 3, y); });
  const auto b = random_vector<double>(100, 1);
  const auto [report, x] = solve(a, b);
  CHECK(report.status == Status::stagnated);
  CHECK(report.residual <= report.threshold);
  CHECK(report.true_residual == doctest::Approx(report.baseline * 2 / 3).epsilon(1e-6));
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-6));
}

TEST_CASE("cg does not claim more than an ill-conditioned system allows") {
  Context<Checked> context;
  const auto matrix = with_condition(40, 1e10, 5);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(40, 1);
  const auto [report, x] = solve(a, b, {.rtol = 1e-13});
  CHECK(report.status == Status::stagnated);
  CHECK(report.residual <= report.threshold);
  CHECK(report.true_residual > report.threshold);
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(0.5));
}

TEST_CASE_TEMPLATE("b = 0 gives x = 0 at once", T, double, float) {
  Context<Checked> context;
  const auto matrix = poisson<T>(5, 5);
  const CsrOperator<T, Checked> a(context, matrix);
  for (const Baseline baseline : {Baseline::b, Baseline::r0}) {
    const auto [report, x] =
        solve_from(a, random_vector<T>(25, 1), std::vector<T>(25, T(0)), {.baseline = baseline});
    CHECK(report.converged());
    CHECK(report.iterations == 0);
    CHECK(report.true_residual == 0);
    CHECK(x == std::vector<T>(25, T(0)));
  }
}

TEST_CASE_TEMPLATE("an exact guess returns at once, unchanged", T, double, float) {
  Context<Checked> context;
  const auto matrix = poisson<T>(5, 5);
  const CsrOperator<T, Checked> a(context, matrix);
  const std::vector<T> exact(25, T(3));
  std::vector<T> b(25);
  for (std::int64_t i = 0; i < 25; ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k)
      b[i] += matrix.values()[k] * exact[matrix.columns()[k]];
  for (const Baseline baseline : {Baseline::b, Baseline::r0}) {
    const auto [report, x] = solve_from(a, exact, b, {.rtol = 0, .baseline = baseline});
    CHECK(report.converged());
    CHECK(report.iterations == 0);
    CHECK(report.true_residual == 0);
    CHECK(report.history == std::vector<double>{0});
    CHECK(x == exact);
  }
}

TEST_CASE("cg solves systems of no and of one unknown") {
  CHECK(solve_diagonal({}, {}).report.converged());
  const auto [report, x] = solve_diagonal({4}, {2});
  CHECK(report.converged());
  CHECK(report.iterations == 1);
  CHECK(x == std::vector<double>{0.5});
}

TEST_CASE("the tolerance refers to the baseline asked for, or to atol") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(100, 1);
  const double b_norm = to_eigen(b).norm();
  auto near = solve(a, b, {.rtol = 1e-3}).x;
  const double r_norm = eigen_residual(matrix, b, near);

  const auto by_b = solve_from(a, near, b, {.rtol = 1e-3}).report;
  CHECK(by_b.iterations == 0);
  CHECK(by_b.threshold == doctest::Approx(1e-3 * b_norm));
  const auto by_r0 = solve_from(a, near, b, {.rtol = 1e-3, .baseline = Baseline::r0}).report;
  CHECK(by_r0.iterations > 0);
  CHECK(by_r0.threshold == doctest::Approx(1e-3 * r_norm));
  const auto by_atol = solve(a, b, {.atol = b_norm / 2}).report;
  CHECK(by_atol.threshold == b_norm / 2);
  CHECK(by_atol.true_residual > 1e-3 * b_norm);
  CHECK(by_atol.converged());
}

TEST_CASE("cg warns of an operator that is not symmetric, and only of such") {
  Context<Checked> context;
  const auto skewed = Csr<double>::from_triplets(
      2, 2, std::vector<Triplet<double>>{{0, 0, 2.0}, {0, 1, 0.5}, {1, 1, 2.0}});
  const CsrOperator<double, Checked> a(context, skewed);
  const auto report = solve(a, {1, 1}, {.max_iterations = 1}).report;
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].find("csr is not symmetric: u'Av = ") == 0);
  CHECK(solve(a, {1, 1}, {.max_iterations = 1, .probe_symmetry = false}).report.warnings.empty());

  // One entry of 250,000 rows is wrong.
  Context<Host> host(2);
  const auto large = poisson<float>(500, 500);
  std::vector<float> values(large.values().begin(), large.values().end());
  const auto with_values = [&] {
    return Csr<float>(large.rows(), large.cols(), {large.offsets().begin(), large.offsets().end()},
                      {large.columns().begin(), large.columns().end()}, values);
  };
  const std::vector<float> b(large.rows(), 1.0F);
  const auto symmetric = with_values();
  CHECK(solve(CsrOperator<float, Host>(host, symmetric), b, {.max_iterations = 0})
            .report.warnings.empty());
  values[1] = 7;
  const auto wrong = with_values();
  CHECK(solve(CsrOperator<float, Host>(host, wrong), b, {.max_iterations = 0})
            .report.warnings.size() == 1);
}

TEST_CASE("a report prints itself") {
  auto report = solve_diagonal({1, -1}, {1, 2}).report;
  report.setup_seconds = 0.25;
  report.solve_seconds = 1.5;
  std::ostringstream out;
  out << report;
  CHECK(out.str() ==
        "indefinite_operator: the operator is not positive definite; p'Ap = -0.75\n"
        "  cg on csr: 0 iterations, 5 products\n"
        "  residual: 2.236e+00 at first, 2.236e+00 true, 2.236e+00 by recurrence, 2.236e-08 asked "
        "for\n"
        "  0.25 s setup, 1.5 s solve, 336 bytes of workspace\n");
}

}  // namespace tansolve::test
