// SPDX-License-Identifier: BSD-3-Clause
// Every way in which flexible CG, BiCGSTAB and IDR(s) can end, and the faults that solvers are
// known for.
#include "solvers/lying.hpp"
#include "solvers/methods.hpp"

#include <tansolve/solvers/recurrence.hpp>

#include <string>

namespace tansolve::test {

using Options = SolveOptions<double, Checked>;

/// Runs body(solve) for each method, where solve(A, b, options, x0) solves by it.
template <class Body>
void for_each_method(const Body& body) {
  for (const auto& method : methods<double, Checked>()) {
    CAPTURE(method.name);
    body(std::string(method.name),
         [&](const LinearOperator<double, Checked>& A, const std::vector<double>& b,
             const Options& options = {},
             const std::vector<double>& x0 = {}) { return solve_by(method, A, b, options, x0); });
  }
}

Csr<double> two_by_two(double a, double b, double c, double d) {
  return Csr<double>::from_triplets(
      2, 2, std::vector<Triplet<double>>{{0, 0, a}, {0, 1, b}, {1, 0, c}, {1, 1, d}});
}

TEST_CASE("short recurrences report the limits with the true residual of what they have") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(100, 1);
  for_each_method([&](const std::string&, const auto& solve) {
    for (const std::int64_t limit : {0, 1, 3}) {
      const auto [report, x] = solve(a, b, {.max_iterations = limit});
      CHECK(report.status == Status::iteration_limit);
      CHECK(report.iterations == limit);
      CHECK(report.history.size() == static_cast<std::size_t>(limit) + 1);
      CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-12));
    }
    CHECK(solve(a, b, {.time_limit = 0}).report.status == Status::time_limit);
  });
}

TEST_CASE("short recurrences are cancelled by their monitor, which changes nothing else") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(100, 1);
  for_each_method([&](const std::string&, const auto& solve) {
    for (const std::int64_t last : {0, 4, 7}) {
      const auto [report, x] =
          solve(a, b, {.monitor = [last](std::int64_t i, double) { return i < last; }});
      CHECK(report.status == Status::cancelled);
      CHECK(report.iterations == last);
      CHECK(x == solve(a, b, {.max_iterations = last}).x);
    }
  });
}

TEST_CASE("short recurrences return at once for b = 0 and for an exact guess") {
  Context<Checked> context;
  const auto matrix = poisson<double>(5, 5);
  const CsrOperator<double, Checked> a(context, matrix);
  const std::vector<double> guess(25, 2.0), zero(25, 0.0);
  for_each_method([&](const std::string&, const auto& solve) {
    const auto nothing = solve(a, zero, {}, guess);
    CHECK(nothing.report.converged());
    CHECK(nothing.x == zero);
    std::vector<double> b(25);
    const Eigen::VectorXd product = to_eigen(matrix) * to_eigen(guess);
    for (std::int64_t i = 0; i < 25; ++i) b[i] = product[i];
    const auto exact = solve(a, b, {.rtol = 0}, guess);
    CHECK(exact.report.converged());
    CHECK(exact.report.true_residual == 0);
    CHECK(exact.x == guess);
    for (const auto* answer : {&nothing, &exact}) CHECK(answer->report.iterations == 0);
  });
}

TEST_CASE("short recurrences take a step that leaves no residual for success") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({2, 2, 2});
  const CsrOperator<double, Checked> a(context, matrix);
  for_each_method([&](const std::string&, const auto& solve) {
    const auto [report, x] = solve(a, {2, 4, 8}, {.rtol = 1e-15});
    CHECK(report.converged());
    CHECK(report.iterations == 1);
    for (int i = 0; i < 3; ++i) CHECK(x[i] == doctest::Approx(1 << i).epsilon(1e-15));
  });
}

TEST_CASE("short recurrences name the denominator at which they break down") {
  Context<Checked> context;
  const auto rotation = two_by_two(0, 1, -1, 0), hidden = two_by_two(1, 1, 1, 0);
  const auto zero = Csr<double>::from_triplets(3, 3, {});
  const CsrOperator<double, Checked> turn(context, rotation), late(context, hidden),
      nothing(context, zero);
  for_each_method([&](const std::string& name, const auto& solve) {
    const auto [report, x] = solve(nothing, {1, 0, 2});
    CHECK(report.status == Status::inconsistent);  // 0 is a least-squares solution
    CHECK(x == std::vector<double>{0, 0, 0});
    CHECK(report.true_residual == doctest::Approx(std::sqrt(5.0)));
    if (name == "fcg") {
      CHECK(solve(turn, {1, 0}).report.detail.starts_with("p'Ap = 0"));
    } else if (name == "bicgstab") {
      CHECK(solve(turn, {1, 0}).report.detail.starts_with("r0'A M p = 0, where"));
      const auto half = solve(late, {1, 0});  // s = (0, -1), A s = (-1, 0)
      CHECK(half.report.status == Status::breakdown);
      CHECK(half.report.detail == "omega = 0: s'A M s = 0");
      CHECK(half.x == std::vector<double>{1, 0});
    } else {
      const auto b = upload<double>(context, {1, 0});
      auto y = upload<double>(context, {0, 0});
      const Report one = idr(turn, b, y, {}, {.dimension = 1});
      CHECK(one.status == Status::breakdown);
      CHECK(one.detail == "omega = 0: r'A M r = 0");
    }
  });
}

TEST_CASE("bicgstab and idr say inconsistent of a least-squares solution, and of no other x") {
  Context<Checked> context;
  const auto flat = diagonal_matrix<double>({2, 2, 0}), tilted = two_by_two(1, 1, 0, 0);
  const CsrOperator<double, Checked> a(context, flat), t(context, tilted);
  for (const auto& method : general_methods<double, Checked>()) {
    CAPTURE(method.name);
    // x0 is a least-squares solution: its residual (0, 0, 3) is orthogonal to the range.
    const auto least = solve_by(method, a, {2, 4, 3}, {}, {1, 2, 7});
    CHECK(least.report.status == Status::inconsistent);
    CHECK(least.report.detail.starts_with("|r'Av| = 0.0e+00 ||r|| ||Av||"));
    CHECK(least.report.true_residual == 3);
    CHECK(least.x == std::vector<double>{1, 2, 7});
    // A r = 0 for r = (1, -1), but A'r is not.
    const auto not_least = solve_by(method, t, {1, -1});
    CHECK(not_least.report.status == Status::breakdown);
  }
}

TEST_CASE("bicgstab goes on from the true residual where r0'r = 0 after progress") {
  Context<Checked> context;
  const auto matrix = Csr<double>::from_triplets(
      3, 3,
      std::vector<Triplet<double>>{
          {0, 0, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto [report, x] = solve_by(general_methods<double, Checked>()[0], a, {1, 0, 0});
  CHECK(report.converged());  // after x = (1, -1/2, 0), r = (0, -1/2, 1/2) and r0 = (1, 0, 0)
  CHECK(report.restarts >= 1);
  CHECK((to_eigen(x) - to_eigen(std::vector<double>{1, -1, 1})).norm() < 1e-7);
}

TEST_CASE("fcg reports an indefinite operator and an indefinite preconditioner") {
  Context<Checked> context;
  const auto fcg = methods<double, Checked>()[0];
  const auto indefinite = diagonal_matrix<double>({1, -1}),
             definite = diagonal_matrix<double>({2, 3});
  const CsrOperator<double, Checked> a(context, indefinite), d(context, definite);
  CHECK(solve_by(fcg, a, {1, 2}).report.status == Status::indefinite_operator);
  const Jacobi<double, Checked> M(context, a);
  CHECK(solve_by(fcg, d, {1, 2}, {.preconditioner = &M}).report.status ==
        Status::indefinite_preconditioner);
}

TEST_CASE("short recurrences report divergence") {
  Context<Checked> context;
  // One step of bicgstab from (1, 0) leaves (-0.99, 9.90).
  const auto twisted = two_by_two(1, 10, -10, 1), steep = diagonal_matrix<double>({1, 1e6});
  const CsrOperator<double, Checked> a(context, twisted), d(context, steep);
  for_each_method([&](const std::string& name, const auto& solve) {
    const auto [report, x] = name == "fcg" ? solve(d, {1, 1e-3}, {.divergence_factor = 400})
                                           : solve(a, {1, 0}, {.divergence_factor = 1.0});
    CHECK(report.status == Status::diverged);
    CHECK(report.iterations == 1);
    CHECK(report.true_residual > report.initial_residual);
  });
}

TEST_CASE("short recurrences keep the last finite x when a product turns NaN or infinite") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Checked> honest(context, matrix);
  const auto b = random_vector<double>(100, 1);
  for_each_method([&](const std::string& name, const auto& solve) {
    // The second fused product: of iteration 2, but in idr of the 10th.
    const std::int64_t before = name == "idr" ? 9 : 1;
    const auto expected = solve(honest, b, {.max_iterations = before});
    for (const double poison : {nan_of<double>, std::numeric_limits<double>::infinity()}) {
      const Lying a(context, matrix, [=](std::int64_t product, Span<double, Checked> y) {
        if (product == 2) y.data()[7] = poison;
      });
      const auto [report, x] = solve(a, b);
      CHECK(report.status == Status::not_finite);
      CHECK(report.iterations == before);
      CHECK(x == expected.x);
      CHECK(report.true_residual == expected.report.true_residual);
    }
  });
}

TEST_CASE("short recurrences report what is not finite from the start, or would be") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1, 2, 4}),
             bad = diagonal_matrix<double>({1, nan_of<double>, 1});
  const auto tiny = diagonal_matrix<double>({1e-200, 2e-200, 3e-200});
  const CsrOperator<double, Checked> a(context, matrix), broken(context, bad), flat(context, tiny);
  const double inf = std::numeric_limits<double>::infinity();
  for_each_method([&](const std::string&, const auto& solve) {
    CHECK(solve(a, {1, nan_of<double>, 1}).report.detail == "b[1] = nan");
    CHECK(solve(a, {1, 1, inf}).report.detail == "b[2] = inf");
    CHECK(solve(a, {1, 1, 1}, {}, {0, nan_of<double>, 0}).report.detail == "x0[1] = nan");
    CHECK(solve(broken, {1, 1, 1}).report.detail == "(b - A x0)[1] = nan");
    const auto [report, x] = solve(flat, {1e200, 1e200, 1e200});
    CHECK(report.status == Status::not_finite);
    CHECK(x == std::vector<double>{0, 0, 0});
  });
}

TEST_CASE("short recurrences restart from the true residual until that meets the tolerance") {
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const Lying a(context, matrix,
                [&](std::int64_t, Span<double, Checked> y) { scale(context, 1.001, y); });
  const auto b = random_vector<double>(100, 1);
  for_each_method([&](const std::string&, const auto& solve) {
    const auto [report, x] = solve(a, b);
    CHECK(report.converged());
    CHECK(report.restarts >= 1);
    CHECK(report.restarts <= 4);
    CHECK(eigen_residual(matrix, b, x) <= 1e-8 * report.baseline);
  });
}

TEST_CASE("short recurrences say stagnated when the recurrence converges and the truth does not") {
  // A restart takes off two fifths of the error: too little to go on.
  Context<Checked> context;
  const auto matrix = poisson<double>(10, 10);
  const Lying a(context, matrix,
                [&](std::int64_t, Span<double, Checked> y) { scale(context, 2.5, y); });
  const auto b = random_vector<double>(100, 1);
  for_each_method([&](const std::string&, const auto& solve) {
    const auto [report, x] = solve(a, b);
    CHECK(report.status == Status::stagnated);
    CHECK(report.residual <= report.threshold);
    CHECK(report.true_residual > report.threshold);
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-6));
  });
}

TEST_CASE("short recurrences do not claim more than an ill-conditioned system allows") {
  Context<Checked> context;
  const auto matrix = with_condition(40, 1e10, 5);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = random_vector<double>(40, 1);
  for_each_method([&](const std::string&, const auto& solve) {
    const auto [report, x] = solve(a, b, {.rtol = 1e-13});
    CHECK_FALSE(report.converged());
    CHECK(report.true_residual > report.threshold);
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(0.5));
  });
}

TEST_CASE("short recurrences solve consistent singular systems and claim no other") {
  Context<Checked> context;
  for (const std::int64_t n : {2, 3, 10, 64}) {
    CAPTURE(n);
    const auto matrix = path_laplacian<double>(n);
    const CsrOperator<double, Checked> a(context, matrix);
    auto b = random_vector<double>(n, 7);
    double sum = 0;
    for (const double element : b) sum += element;
    auto consistent = b;
    for (double& element : consistent) element -= sum / static_cast<double>(n);
    for_each_method([&](const std::string&, const auto& solve) {
      CHECK(solve(a, consistent).report.converged());
      const auto [report, x] = solve(a, b, {.max_iterations = 500});
      CHECK_FALSE(report.converged());
      // The part of b along the constant vectors is in every residual.
      CHECK(report.true_residual >= (1 - 1e-12) * std::abs(sum) / std::sqrt(n));
    });
  }
}

TEST_CASE("short recurrences refuse what cannot be solved, and name themselves") {
  Context<Checked> context;
  const auto wide = Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const auto square = diagonal_matrix<double>({1, 2});
  const CsrOperator<double, Checked> a(context, wide), s(context, square);
  for_each_method([&](const std::string& name, const auto& solve) {
    const auto refused = [&](const std::string& why, const auto& body) {
      CHECK_THROWS_WITH_AS(body(), (name + ": " + why).c_str(), Error);
    };
    refused(
        "csr is 2 x 3, it must be square; for least squares and underdetermined systems LSQR "
        "and LSMR fit",
        [&] {
          solve(a, {1, 1});
        });
    refused("rtol is -1, it must not be negative", [&] { solve(s, {1, 1}, {.rtol = -1}); });
  });
  const auto b = upload<double>(context, {1, 1});
  auto x = upload<double>(context, {0, 0});
  for (const std::int64_t dimension : {0, 17})
    CHECK_THROWS_WITH_AS(idr(s, b, x, {}, {.dimension = dimension}),
                         ("idr: a shadow space of " + std::to_string(dimension) +
                          " dimensions, it must be from 1 to 16")
                             .c_str(),
                         Error);
}

TEST_CASE("a workspace beyond memory is refused with the solver and its vectors") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1, 2});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload<double>(context, {1, 1});
  auto x = upload<double>(context, {0, 0});
  std::string message;
  try {
    detail::solve_with_own_workspace<double, Checked>("idr", a, b, x, {},
                                                      idr_workspace(std::int64_t{1} << 61, false),
                                                      [](auto&) { return Report{}; });
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::out_of_memory);
    message = error.what();
  }
  CHECK(message.starts_with("idr keeps 14 vectors of 2305843009213693952 elements: "));
}

}  // namespace tansolve::test
