// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: the answers of single solves, dependent and zero columns,
// columns that leave early, every column's own report.
#include <tansolve/preconditioners/null_space.hpp>

#include "solvers/block.hpp"

#include <numeric>

namespace tansolve::test {

TEST_CASE_TEMPLATE("several right-hand sides have the answers and iterations of single solves", S,
                   Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix =
      weighted_poisson<T>(15, 11, [](std::int64_t i) { return 1.0 + static_cast<double>(i % 4); });
  const std::int64_t n = matrix.rows();
  const CsrOperator<T, B> a(context, matrix);
  const Jacobi<T, B> jacobi(context, a);
  const Eigen::MatrixXd inverse = test::inverse(dense(matrix));
  for (const auto method : all_methods)
    for (const std::int64_t columns : {1, 5, 17})
      for (const bool preconditioned : {false, true}) {
        CAPTURE(static_cast<int>(method));
        CAPTURE(columns);
        CAPTURE(preconditioned);
        const SolveOptions<T, B> options = {.preconditioner = preconditioned ? &jacobi : nullptr};
        const auto b = random_vector<T>(n * columns, 7);
        const auto answers = solve_columns(method, a, b, options);
        CHECK(answers.report.solved());
        REQUIRE(std::ssize(answers.report.columns) == columns);
        check_truth(matrix, b, answers);
        std::int64_t iterations = 0, single_iterations = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const Report& report = answers.report.columns[c];
          CHECK(report.status == Status::converged);
          CHECK(report.true_residual <= report.threshold);
          CHECK(std::ssize(report.history) == report.iterations + 1);
          CHECK(within(answers.column(c), inverse * to_eigen(part(b, c, n)),
                       1.1 * inverse.norm() * report.threshold));
          const auto single = solve_one(method, a, part(b, c, n), options);
          iterations += report.iterations;
          single_iterations += single.report.iterations;
          if (method == BlockMethod::block_cg) continue;
          CHECK(std::abs(report.iterations - single.report.iterations) <=
                1 + single.report.iterations / 10);
          for (std::size_t i = 0; i < 5; ++i)
            CHECK(report.history[i] == doctest::Approx(single.report.history[i])
                                           .epsilon(std::is_same_v<T, float> ? 1e-3 : 1e-10));
        }
        if (method == BlockMethod::block_cg && columns > 1)
          CHECK(iterations < single_iterations * (columns == 5 ? 0.8 : 0.6));
      }
}

TEST_CASE("equal, dependent and zero right-hand sides do no harm") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 10);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  // u, 0, u, v, 2 u - v, 1e-9 v, 1e200 v
  const auto u = random_vector<double>(n, 1), v = random_vector<double>(n, 2);
  std::vector<double> b;
  for (int c = 0; c < 7; ++c)
    for (std::int64_t i = 0; i < n; ++i)
      b.push_back(c == 0 || c == 2 ? u[i]
                  : c == 1         ? 0
                  : c == 3         ? v[i]
                  : c == 4         ? 2 * u[i] - v[i]
                  : c == 5         ? 1e-9 * v[i]
                                   : 1e200 * v[i]);
  for (const auto method : all_methods) {
    CAPTURE(static_cast<int>(method));
    const auto answers = solve_columns<double, Checked>(method, a, b);
    CHECK(answers.report.solved());
    check_truth(matrix, b, answers);
    CHECK(answers.report.columns[1].iterations == 0);
    CHECK(answers.column(1) == std::vector<double>(n));
    if (method == BlockMethod::block_cg)  // of the six only two are independent
      CHECK(answers.report.products <= 2 * (answers.report.columns[0].iterations + 1) + 2 * 7 + 2);
  }
}

TEST_CASE("columns that are done leave the block, and cost no more products") {
  Context<Checked> context;
  const auto matrix = poisson<double>(20, 15);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  std::vector<double> b = random_vector<double>(3 * n, 3);
  std::int64_t at = n;  // the second is an eigenvector: one iteration
  for (std::int64_t y = 1; y <= 15; ++y)
    for (std::int64_t x = 1; x <= 20; ++x)
      b[at++] = std::sin(M_PI * x / 21.0) * std::sin(M_PI * y / 16.0);
  for (const auto method : all_methods) {
    CAPTURE(static_cast<int>(method));
    const auto answers = solve_columns<double, Checked>(method, a, b, {.probe_symmetry = false});
    CHECK(answers.report.solved());
    check_truth(matrix, b, answers);
    const auto& columns = answers.report.columns;
    CHECK(columns[1].iterations == 1);
    CHECK(columns[0].iterations > 20);
    const std::int64_t per_iteration = method == BlockMethod::bicgstab ? 2 : 1;
    for (const auto& column : columns) {
      CHECK(column.operator_applications ==
            per_iteration * column.iterations + 2 + column.restarts);
      if (method != BlockMethod::gmres) CHECK(column.restarts == 0);
    }
    const std::int64_t sum = std::accumulate(
        columns.begin(), columns.end(), std::int64_t{0},
        [](std::int64_t total, const Report& c) { return total + c.operator_applications; });
    CHECK(answers.report.products == sum);
    CHECK(answers.report.block_products ==
          per_iteration * std::max(columns[0].iterations, columns[2].iterations));
  }
}

TEST_CASE("each column starts from its own guess, and an exact one takes no iteration") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 10);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const auto x0 = random_vector<double>(2 * n, 4);
  const Eigen::VectorXd exact = to_eigen(matrix) * to_eigen(part(x0, 1, n));
  auto b = random_vector<double>(2 * n, 3);
  std::copy(exact.data(), exact.data() + n, b.begin() + n);
  for (const auto method : all_methods) {
    const auto answers = solve_columns<double, Checked>(method, a, b, {}, x0);
    CHECK(answers.report.solved());
    CHECK(answers.report.columns[1].iterations == 0);
    CHECK(answers.column(1) == part(x0, 1, n));
    check_truth(matrix, b, answers);
  }
}

TEST_CASE("gmres goes on as it began after it has looked whether a solution exists") {
  Context<Checked> context;
  // Rows that differ by 1e30, in fp32: each cycle ends where its residual is nearly out of reach.
  const auto weight = [](std::int64_t i) {
    return std::pow(10.0, 15 * (2 * static_cast<double>(i * 5 % 42) / 41 - 1));
  };
  const auto matrix = weighted_poisson<float>(7, 6, weight);
  auto b = random_vector<float>(42, 2);
  for (std::int64_t i = 0; i < 42; ++i) b[i] = static_cast<float>(weight(i) * b[i]);
  const CsrOperator<float, Checked> a(context, matrix);
  const KrylovBasis basis{.restart = 60};
  const auto alone = run_from(a, std::vector<float>(42), b, [&](const auto& A, auto db, auto x) {
    return gmres(A, db, x, {.max_iterations = 300}, basis);
  });
  const auto column =
      run_columns(a, std::vector<float>(42), b, [&](const auto& A, auto, auto db, auto x) {
        return pseudo_block_gmres(A, 1, db, x, {.max_iterations = 300}, basis);
      });
  CHECK(alone.report.restarts > 1);
  CHECK(alone.report.status == Status::breakdown);
  CHECK(alone.report.status == column.report.columns[0].status);
  CHECK(alone.report.iterations == column.report.columns[0].iterations);
}

TEST_CASE("several right-hand sides of a singular system are solved on its range") {
  Context<Checked> context;
  const auto matrix = neumann<double>(9, 8);
  const CsrOperator<double, Checked> a(context, matrix);
  const NullSpace<double, Checked> constants(context, 72);
  const Projected<double, Checked> projected(a, constants);
  const auto X = upload(context, random_vector<double>(3 * 72, 1));
  Vector<double, Checked> Y(context, 3 * 72), y(context, 72);
  projected.apply_block(3, X, Y);
  projected.apply(X.span().subspan(72, 72), y);
  CHECK(part(download(context, Y), 1, 72) == download(context, y));

  std::vector<double> b;
  for (const std::uint64_t seed : {1, 2}) {
    const auto column = centred(random_vector<double>(72, seed));
    b.insert(b.end(), column.begin(), column.end());
  }
  for (const auto method : {BlockMethod::cg, BlockMethod::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, projected, b);
    CHECK(answers.report.solved());
    check_truth(matrix, b, answers);
  }
}

}  // namespace tansolve::test
