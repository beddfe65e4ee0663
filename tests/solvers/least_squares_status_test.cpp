// SPDX-License-Identifier: BSD-3-Clause
// LSQR and LSMR: every way to end, and what an iteration costs.
#include "solvers/least_squares.hpp"

#include <limits>

namespace tansolve::test {
namespace {

using Options = SolveOptions<double, Checked>;
using Problem = LeastSquares<double>;

Answer<double> solve_least_squares(LeastSquaresMethod method, const Csr<double>& matrix,
                                   const std::vector<double>& b, const Options& options = {},
                                   const Problem& problem = {}) {
  Context<Checked> context;
  return least_squares<double, Checked>(method, CsrOperator<double, Checked>(context, matrix), b,
                                        options, problem);
}

Csr<double> rectangular_diagonal(std::int64_t rows, std::int64_t cols,
                                 const std::vector<double>& d) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < std::ssize(d); ++i) triplets.push_back({i, i, d[i]});
  return Csr<double>::from_triplets(rows, cols, triplets);
}

/// A matrix whose products can be made to lie, both ways.
class LyingPair : public LinearOperator<double, Checked> {
 public:
  using Lie = std::function<void(std::int64_t product, Span<double, Checked> y)>;
  LyingPair(Context<Checked>& context, const Csr<double>& matrix, Lie forth, Lie back)
      : LinearOperator(context, matrix.rows(), matrix.cols()),
        honest_(context, matrix),
        forth_(std::move(forth)),
        back_(std::move(back)) {}

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    honest_.apply(x, y);
    if (forth_) forth_(++products_, y);
  }
  void apply_transposed_impl(Span<const double, Checked> x,
                             Span<double, Checked> y) const override {
    honest_.apply_transposed(x, y);
    if (back_) back_(++transposed_, y);
  }

 private:
  CsrOperator<double, Checked> honest_;
  Lie forth_, back_;
  mutable std::int64_t products_ = 0, transposed_ = 0;
};

}  // namespace

TEST_CASE("least squares return at once for b = 0, an exact guess, and where there is nothing") {
  Context<Checked> context;
  const auto matrix = rectangular_diagonal(3, 2, {1, 2});
  const CsrOperator<double, Checked> a(context, matrix);
  for (const auto method : both_methods) {
    const auto zero = least_squares_from<double, Checked>(method, a, {4, 5}, {0, 0, 0});
    CHECK(zero.report.converged());
    CHECK(zero.report.iterations == 0);
    CHECK(zero.x == std::vector<double>{0, 0});
    const auto exact = least_squares_from<double, Checked>(method, a, {4, 5}, {4, 10, 0});
    CHECK(exact.report.converged());
    CHECK(exact.report.iterations == 0);
    CHECK(exact.x == std::vector<double>{4, 5});
    CHECK(solve_least_squares(method, Csr<double>::from_triplets(0, 3, {}), {}).report.converged());
    const auto nothing =
        solve_least_squares(method, Csr<double>::from_triplets(2, 0, {}), {3, 4}).report;
    CHECK(nothing.status == Status::inconsistent);
    CHECK(nothing.solved());
    CHECK(nothing.true_residual == 5);
  }
}

TEST_CASE("damped least squares stay near the guess where b = 0") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1});
  const CsrOperator<double, Checked> a(context, matrix);
  for (const auto method : both_methods) {  // the least x^2 + (x - 2)^2
    const auto [report, x] =
        least_squares_from<double, Checked>(method, a, {2}, {0}, {}, {.damping = 1});
    CHECK(report.status == Status::inconsistent);
    CHECK(report.solved());
    CHECK(x[0] == doctest::Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("a right-hand side that A does not reach at all leaves the guess, which is a solution") {
  for (const auto method : both_methods) {
    const auto flat = solve_least_squares(method, rectangular_diagonal(3, 2, {1, 2}), {0, 0, 7});
    CHECK(flat.report.status == Status::inconsistent);
    CHECK(flat.report.solved());
    CHECK(flat.report.iterations == 0);
    CHECK(flat.report.least_squares->normal_residual == 0);
    CHECK(flat.x == std::vector<double>{0, 0});
    const auto empty = solve_least_squares(method, Csr<double>::from_triplets(3, 3, {}), {1, 0, 2});
    CHECK(empty.report.status == Status::inconsistent);
    CHECK(empty.report.solved());
    CHECK(empty.x == std::vector<double>(3));
  }
}

TEST_CASE("least squares end after as many iterations as there are distinct singular values") {
  for (const auto method : both_methods) {
    const auto [report, x] =
        solve_least_squares(method, rectangular_diagonal(6, 5, {1, -2, 5, 2, 5}),
                            {1, -2, 5, 4, 15, 9}, {}, {.normal_rtol = 1e-12});
    CHECK(report.solved());
    CHECK(report.iterations == 3);
    CHECK((to_eigen(x) - to_eigen(std::vector<double>{1, 1, 1, 2, 3})).norm() <= 1e-11);
    CHECK(report.true_residual == doctest::Approx(9));
  }
}

TEST_CASE("least squares report limits and cancelling with the truth about what they have") {
  const auto matrix = with_rank<double>(60, 23, 23, 1);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : both_methods) {
    for (const std::int64_t limit : {0, 1, 7}) {
      const auto limited = solve_least_squares(method, matrix, b, {.max_iterations = limit});
      CHECK(limited.report.status == Status::iteration_limit);
      CHECK_FALSE(limited.report.solved());
      CHECK(limited.report.true_residual ==
            doctest::Approx(eigen_residual(matrix, b, limited.x)).epsilon(1e-12));
      const auto cancelled = solve_least_squares(
          method, matrix, b, {.monitor = [&](std::int64_t i, double) { return i < limit; }});
      CHECK(cancelled.report.status == Status::cancelled);
      CHECK(cancelled.x == limited.x);
    }
    CHECK(solve_least_squares(method, matrix, b, {.time_limit = 0}).report.status ==
          Status::time_limit);
    CHECK(solve_least_squares(method, matrix, b, {.divergence_factor = 0.5}).report.status ==
          Status::diverged);
  }
}

TEST_CASE("least squares do not claim what rounding forbids, and restart before they say so") {
  const auto matrix = with_rank<double>(60, 23, 23, 1);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : both_methods) {
    const auto [report, x] =
        solve_least_squares(method, matrix, b, {.rtol = 0}, {.normal_rtol = 0});
    CHECK(report.status == Status::stagnated);
    CHECK_FALSE(report.solved());
    CHECK(report.restarts > 0);
    CHECK(report.detail.find("meets neither tolerance") != std::string::npos);
    CHECK(eigen_normal_residual(matrix, b, x) <= 1e-13);
  }
}

TEST_CASE("least squares stop at the condition limit") {
  std::vector<double> d(20);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(10.0, -static_cast<double>(i) / 2);
  const auto matrix = rectangular_diagonal(25, 20, d);
  const auto b = random_vector<double>(25, 1);
  for (const auto method : both_methods) {
    const auto report = solve_least_squares(method, matrix, b, {}, {.condition_limit = 100}).report;
    CHECK(report.status == Status::breakdown);
    CHECK(report.detail.find("the condition of A is estimated as") == 0);
    CHECK(report.least_squares->condition > 100);
    CHECK(report.least_squares->condition < 1e5);
  }
}

TEST_CASE("least squares keep the last finite x when a product turns NaN or infinite") {
  Context<Checked> context;
  const auto matrix = with_rank<double>(60, 23, 23, 1);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : both_methods) {
    const auto before = solve_least_squares(method, matrix, b, {.max_iterations = 2});
    for (const double poison : {nan_of<double>, std::numeric_limits<double>::infinity()}) {
      const auto poisoned = [=](std::int64_t at) {
        return [=](std::int64_t product, Span<double, Checked> y) {
          if (product == at) y.data()[7] = poison;
        };
      };
      // Before the third step: the residual of the guess, the probe and two steps.
      const LyingPair forth(context, matrix, poisoned(5), nullptr);
      const LyingPair back(context, matrix, nullptr, poisoned(4));
      for (const LyingPair* a : {&forth, &back}) {
        const auto [report, x] = least_squares<double, Checked>(method, *a, b);
        CHECK(report.status == Status::not_finite);
        CHECK(report.iterations == 2);
        CHECK(x == before.x);
      }
    }
    auto bad = b;
    bad[4] = nan_of<double>;
    CHECK(solve_least_squares(method, matrix, bad).report.detail == "b[4] = nan");
    const auto overflow =
        solve_least_squares(method, rectangular_diagonal(2, 2, {1e-200, 2e-200}), {1e200, 1e200});
    CHECK(overflow.report.status == Status::not_finite);
    CHECK(overflow.x == std::vector<double>{0, 0});
  }
}

TEST_CASE("least squares warn of a transposed product that is none") {
  Context<Checked> context;
  const auto matrix = with_rank<double>(60, 23, 23, 1);
  const auto b = random_vector<double>(60, 1);
  const LyingPair wrong(context, matrix, nullptr, [](std::int64_t, Span<double, Checked> y) {
    std::reverse(y.data(), y.data() + y.size());
  });
  for (const auto method : both_methods) {
    const auto report =
        least_squares<double, Checked>(method, wrong, b, {.max_iterations = 5}).report;
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings[0].find("apply_transposed is not the transpose of apply") !=
          std::string::npos);
    CHECK(solve_least_squares(method, matrix, b).report.warnings.empty());
  }
}

TEST_CASE("least squares solve problems scaled by 1e150 and 1e-150") {
  const auto matrix = with_rank<double>(40, 15, 15, 1);
  const auto b = random_vector<double>(40, 1);
  for (const auto method : both_methods) {
    const auto expected = solve_least_squares(method, matrix, b);
    for (const double a_scale : {1e-150, 1.0, 1e150})
      for (const double b_scale : {1e-150, 1.0, 1e150}) {
        CAPTURE(a_scale);
        CAPTURE(b_scale);
        std::vector<double> values(matrix.values().begin(), matrix.values().end()), scaled_b = b;
        for (double& value : values) value *= a_scale;
        for (double& element : scaled_b) element *= b_scale;
        const Csr<double> scaled(matrix.rows(), matrix.cols(),
                                 {matrix.offsets().begin(), matrix.offsets().end()},
                                 {matrix.columns().begin(), matrix.columns().end()}, values);
        auto [report, x] = solve_least_squares(method, scaled, scaled_b);
        CHECK(report.solved());
        CHECK(report.iterations == expected.report.iterations);
        for (double& element : x) element *= a_scale / b_scale;
        CHECK((to_eigen(x) - to_eigen(expected.x)).norm() <= 1e-10 * to_eigen(x).norm());
      }
  }
}

TEST_CASE("least squares refuse what does not fit, and name it") {
  Context<Checked> context;
  const auto matrix = with_rank<double>(6, 3, 3, 1);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload(context, std::vector<double>(6, 1.0));
  auto x = upload(context, std::vector<double>(3)), y = upload(context, std::vector<double>(6));
  CHECK_THROWS_WITH_AS(lsqr(a, b, y), doctest::Contains("6 x 3, but b has 6"), Error);
  CHECK_THROWS_WITH_AS(lsqr(a, b, x, {}, {.damping = -1}), doctest::Contains("damping is -1"),
                       Error);
  CHECK_THROWS_WITH_AS(lsmr(a, b, x, {.rtol = -1}), doctest::Contains("rtol is -1"), Error);
  CHECK_THROWS_WITH_AS(lsmr(a, b, x, {.preconditioner = &a}),
                       doctest::Contains("scale the columns"), Error);
  LeastSquaresWorkspace<double, Checked> small(context, 6, 3, LeastSquaresMethod::lsqr);
  CHECK_THROWS_WITH_AS(lsmr(a, b, x, {}, {}, small), doctest::Contains("lsmr: a workspace of 4"),
                       Error);
  CHECK(lsqr(a, b, x, {}, {}, small).solved());
}

TEST_CASE("an iteration of lsqr and lsmr costs what their sources say") {
  const std::int64_t m = 700, n = 300;
  const auto matrix = with_rank<double>(m, n, n, 1);
  for (const auto method : both_methods) {
    Counters cost;
    for (const std::int64_t iterations : {5, 2}) {
      Context<Checked> context;
      const CsrOperator<double, Checked> a(context, matrix);
      const auto b = upload(context, random_vector<double>(m, 3));
      auto x = upload(context, std::vector<double>(n));
      LeastSquaresWorkspace<double, Checked> work(context, m, n, method);
      context.counters() = {};
      const Options options{.max_iterations = iterations};
      const Report report = method == LeastSquaresMethod::lsqr ? lsqr(a, b, x, options, {}, work)
                                                               : lsmr(a, b, x, options, {}, work);
      CHECK(report.status == Status::iteration_limit);
      CHECK(report.workspace_bytes ==
            8 * (2 * m + (method == LeastSquaresMethod::lsqr ? 4 : 5) * n + 3));
      CHECK(report.workspace_bytes == LeastSquaresWorkspace<double, Checked>::bytes(m, n, method));
      CHECK(context.counters().allocations == 0);
      CHECK(report.operator_applications == context.counters().products);
      const Counters& seen = context.counters();
      // The start, the last two norms of x and the first run, beside its iterations.
      const bool fewer = method == LeastSquaresMethod::lsqr;
      CHECK(seen.elements == (6 + 9 + 4) * m + (2 + 2 + (fewer ? 14 : 15) + 1) * n +
                                 iterations * (7 * m + (fewer ? 11 : 13) * n));
      const std::int64_t sign = iterations == 5 ? 1 : -1;
      cost.products += sign * seen.products;
      cost.reductions += sign * seen.reductions;
      cost.elements += sign * seen.elements;
      cost.transfers += sign * seen.transfers;
    }
    const bool by_lsqr = method == LeastSquaresMethod::lsqr;
    CHECK(cost.products == 3 * 2);
    CHECK(cost.elements == 3 * (7 * m + (by_lsqr ? 11 : 13) * n));
    CHECK(cost.reductions == 3 * (by_lsqr ? 3 : 2));
    CHECK(cost.transfers == 3 * 1);
  }
}

}  // namespace tansolve::test
