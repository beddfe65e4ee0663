// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: every way to end, what an iteration costs, the same bits.
#include <tansolve/solvers/small_matrix.hpp>

#include "solvers/block.hpp"

#include <sstream>
#include <string>

namespace tansolve::test {

TEST_CASE("columns end each in its own way") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 10);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  auto b = random_vector<double>(3 * n, 3);
  b[n + 5] = nan_of<double>;
  for (const auto method : all_methods) {
    CAPTURE(static_cast<int>(method));
    const auto poisoned = solve_columns<double, Checked>(method, a, b);
    CHECK(poisoned.report.columns[0].converged());
    CHECK(poisoned.report.columns[1].status == Status::not_finite);
    CHECK(poisoned.report.columns[1].detail == "b[5] = nan");
    CHECK(poisoned.report.columns[2].converged());
    CHECK_FALSE(poisoned.report.solved());

    for (const std::int64_t limit : {0, 1, 4}) {
      const auto limited =
          solve_columns<double, Checked>(method, a, part(b, 0, n), {.max_iterations = limit});
      CHECK(limited.report.columns[0].status == Status::iteration_limit);
      CHECK(limited.report.columns[0].iterations == limit);
      const auto cancelled = solve_columns<double, Checked>(
          method, a, part(b, 0, n), {.monitor = [&](std::int64_t i, double) { return i < limit; }});
      CHECK(cancelled.report.columns[0].status == Status::cancelled);
      CHECK(cancelled.x == limited.x);
    }
    CHECK(solve_columns<double, Checked>(method, a, part(b, 0, n), {.time_limit = 0})
              .report.columns[0]
              .status == Status::time_limit);

    const auto stagnated = solve_columns<double, Checked>(method, a, part(b, 0, n), {.rtol = 0});
    const Status status = stagnated.report.columns[0].status;
    const bool may_break_down = method == BlockMethod::bicgstab || method == BlockMethod::gmres;
    CHECK((status == Status::stagnated || (may_break_down && status == Status::breakdown)));
    CHECK(stagnated.report.columns[0].true_residual <= 1e-13);
    CHECK(stagnated.report.columns[0].restarts > 0);
  }
}

TEST_CASE("block methods report operators that are not positive definite, or not symmetric") {
  Context<Checked> context;
  const auto indefinite = diagonal_matrix<double>({1, -2, 3});
  const CsrOperator<double, Checked> a(context, indefinite);
  for (const auto method : {BlockMethod::cg, BlockMethod::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, a, {0, 1, 0, 1, 0, 0});
    CHECK(answers.report.columns[0].status == Status::indefinite_operator);
    if (method == BlockMethod::cg) CHECK(answers.report.columns[1].converged());
  }
  const auto skewed = convection<double>(6, 5, 0.4);
  const CsrOperator<double, Checked> wind(context, skewed);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : {BlockMethod::cg, BlockMethod::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, wind, b, {.max_iterations = 1});
    for (const auto& column : answers.report.columns) {
      REQUIRE(column.warnings.size() == 1);
      CHECK(column.warnings[0].find("csr is not symmetric") == 0);
    }
  }
  CHECK(solve_columns<double, Checked>(BlockMethod::bicgstab, wind, b).report.solved());
  const auto singular = diagonal_matrix<double>({1, 0, 3});
  const auto none = solve_columns<double, Checked>(
      BlockMethod::block_cg, CsrOperator<double, Checked>(context, singular), {0, 1, 0, 0, 1, 0});
  for (const auto& column : none.report.columns) CHECK(column.status == Status::breakdown);
}

TEST_CASE(
    "of several right-hand sides each that has no solution says so, with what single solves say") {
  Context<Checked> context;
  const auto flat = diagonal_matrix<double>({2, 2, 0});
  const CsrOperator<double, Checked> a(context, flat);
  for (const auto method : {BlockMethod::bicgstab, BlockMethod::gmres}) {
    CAPTURE(static_cast<int>(method));
    // The first column has a solution. Of the second, x0 is a least-squares solution already.
    const auto [report, x] =
        solve_columns<double, Checked>(method, a, {2, 4, 0, 2, 4, 3}, {}, {0, 0, 0, 1, 2, 7});
    CHECK(report.columns[0].converged());
    CHECK(report.columns[1].status == Status::inconsistent);
    CHECK(report.columns[1].detail.starts_with("|r'Av| = 0.0e+00 ||r|| ||Av||"));
    CHECK(report.columns[1].true_residual == 3);
    CHECK(x == std::vector<double>{1, 2, 0, 1, 2, 7});
  }
  const auto grid = neumann<double>(7, 6);
  const CsrOperator<double, Checked> g(context, grid);
  const std::int64_t n = 42;
  std::vector<double> b = centred(random_vector<double>(n, 2));  // of the range, and not
  for (const std::uint64_t seed : {2, 4, 7, 8}) {
    const auto column = random_vector<double>(n, seed);
    b.insert(b.end(), column.begin(), column.end());
  }
  int inconsistent = 0;
  for (const BasisStorage storage : {BasisStorage::working, BasisStorage::fp32})
    for (const std::int64_t restart : {10, 50}) {
      CAPTURE(restart);
      const KrylovBasis basis{.restart = restart, .storage = storage};
      const auto all = run_columns(g, std::vector<double>(b.size()), b,
                                   [&](const auto& A, auto columns, auto db, auto x) {
                                     return pseudo_block_gmres(A, columns, db, x, {}, basis);
                                   });
      check_truth(grid, b, all);
      CHECK(all.report.columns[0].converged());
      for (std::int64_t c = 0; c < 5; ++c) {
        CAPTURE(c);
        const auto alone =
            run_from(g, std::vector<double>(n), part(b, c, n),
                     [&](const auto& A, auto db, auto x) { return gmres(A, db, x, {}, basis); });
        CHECK(all.report.columns[c].status == alone.report.status);
        CHECK(all.report.columns[c].iterations == alone.report.iterations);
        inconsistent += all.report.columns[c].status == Status::inconsistent;
      }
    }
  CHECK(inconsistent >= 2);
}

TEST_CASE("of several right-hand sides each keeps the last finite x where its step overflows") {
  Context<Checked> context;
  const auto tiny = diagonal_matrix<double>({1e-200, 2e-200});
  const auto subnormal = diagonal_matrix<float>({1e-39F, 1e-39F});  // 1 / 1e-39 is no float
  for (const auto method : all_methods) {
    CAPTURE(static_cast<int>(method));
    const auto large = solve_columns<double, Checked>(
        method, CsrOperator<double, Checked>(context, tiny), {1e200, 1e200, 1e-10, 4e-10});
    CHECK(large.report.columns[0].status == Status::not_finite);
    CHECK(large.column(0) == std::vector<double>{0, 0});
    CHECK(large.report.columns[0].true_residual == doctest::Approx(std::sqrt(2.0) * 1e200));
    CHECK(large.report.columns[1].converged());
    CHECK(large.column(1)[0] == doctest::Approx(1e190));
    CHECK(large.column(1)[1] == doctest::Approx(2e190));

    const auto single = solve_columns<float, Checked>(
        method, CsrOperator<float, Checked>(context, subnormal), {1, 1});
    CHECK_FALSE(single.report.solved());
    CHECK(single.x == std::vector<float>{0, 0});
    if (method == BlockMethod::gmres || method == BlockMethod::block_cg)
      CHECK(single.report.columns[0].status == Status::not_finite);
  }
}

TEST_CASE("solvers for several columns refuse what does not fit, and name it") {
  Context<Checked> context;
  const auto matrix = poisson<double>(3, 2);
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload(context, std::vector<double>(12, 1.0));
  auto x = upload(context, std::vector<double>(12)), y = upload(context, std::vector<double>(6));
  CHECK_THROWS_WITH_AS(pseudo_block_cg(a, 2, b, y),
                       doctest::Contains("B has 12 elements and X has 6"), Error);
  CHECK_THROWS_WITH_AS(block_cg(a, 3, b, x), doctest::Contains("3 columns for csr (6 x 6)"), Error);
  CHECK_THROWS_AS(pseudo_block_bicgstab(a, 0, b, x), Error);
  CHECK_THROWS_WITH_AS(block_cg(a, 2, x, x), doctest::Contains("B and X overlap"), Error);
  Workspace<double, Checked> small(context, pseudo_block_cg_workspace(6, 1, false));
  CHECK_THROWS_WITH_AS(pseudo_block_cg(a, 2, b, x, {}, small),
                       doctest::Contains("pseudo_block_cg: a workspace of"), Error);
}

TEST_CASE("memory for gmres of several columns is for 1 at least, and for what fits in total") {
  using Work = BlockGmresWorkspace<double, Checked>;
  Context<Checked> context;
  const auto refusal = [&](ErrorCode code, std::int64_t n, std::int64_t columns) {
    try {
      Work(context, n, columns, {.restart = 1000});
    } catch (const Error& error) {
      CHECK(error.code() == code);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(refusal(ErrorCode::invalid_argument, 10, 0) ==
        "pseudo_block_gmres: there are 0 columns, there must be 1 at least");
  CHECK(refusal(ErrorCode::invalid_argument, 10, -1) ==
        "pseudo_block_gmres: there are -1 columns, there must be 1 at least");
  // 8 MB each, 8 PB in total
  CHECK(refusal(ErrorCode::out_of_memory, 1000, 1'000'000'000)
            .find("pseudo_block_gmres: restart is 1000 for each of 1000000000 columns") == 0);
  CHECK(Work(context, 1000, 2, {.restart = 10}).restart() == 10);
}

TEST_CASE("a multi report prints every column and the products of all") {
  Context<Checked> context;
  const auto matrix = poisson<double>(3, 2);
  const CsrOperator<double, Checked> a(context, matrix);
  std::ostringstream out;
  out << solve_columns<double, Checked>(BlockMethod::block_cg, a, std::vector<double>(12, 1.0))
             .report;
  CHECK(out.str().find("column 2 of 2\nconverged") != std::string::npos);
  CHECK(out.str().find(" products in ") != std::string::npos);
}

namespace {

/// What the iterations from the 3rd to the 5th of 3 columns cost together.
Counters cost_of_three_iterations(BlockMethod method, bool preconditioned,
                                  const Csr<double>& matrix, const KrylovBasis& basis = {}) {
  Counters cost;
  const std::int64_t n = matrix.rows();
  for (const std::int64_t iterations : {5, 2}) {
    Context<Checked> context;
    const CsrOperator<double, Checked> a(context, matrix);
    const Jacobi<double, Checked> jacobi(context, a);
    const auto b = upload(context, random_vector<double>(3 * n, 3));
    auto x = upload(context, std::vector<double>(3 * n, 0.0));
    Workspace<double, Checked> work(
        context, method == BlockMethod::cg ? pseudo_block_cg_workspace(n, 3, preconditioned)
                                           : pseudo_block_bicgstab_workspace(n, 3, preconditioned));
    BlockCgWorkspace<double, Checked> block_work(context, n, 3);
    BlockGmresWorkspace<double, Checked> gmres_work(context, n, 3, basis);
    SolveOptions<double, Checked> options{.max_iterations = iterations, .probe_symmetry = false};
    if (preconditioned) options.preconditioner = &jacobi;
    context.counters() = {};
    const MultiReport report =
        method == BlockMethod::cg         ? pseudo_block_cg(a, 3, b, x, options, work)
        : method == BlockMethod::bicgstab ? pseudo_block_bicgstab(a, 3, b, x, options, work)
        : method == BlockMethod::gmres    ? pseudo_block_gmres(a, 3, b, x, options, gmres_work)
                                          : block_cg(a, 3, b, x, options, block_work);
    for (const auto& column : report.columns) CHECK(column.status == Status::iteration_limit);
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

}  // namespace

TEST_CASE("an iteration for several columns costs what its source says") {
  const std::int64_t n = 1600;
  const auto matrix = poisson<double>(40, 40);
  const Counters plain = cost_of_three_iterations(BlockMethod::cg, false, matrix);
  CHECK(plain.products == 3 * 3);
  CHECK(plain.elements == 3 * 3 * 15 * n);
  CHECK(plain.reductions == 3 * 3 * 2);
  CHECK(plain.transfers == 3 * 2);
  const Counters helped =
      cost_of_three_iterations(BlockMethod::cg, true, matrix);  // Jacobi: 3 passes
  CHECK(helped.products == 3 * 3 * 2);
  CHECK(helped.elements == 3 * 3 * (15 + 2 + 3) * n);
  CHECK(helped.reductions == 3 * 3 * 3);
  CHECK(helped.transfers == 3 * 3);
  const Counters stabilised = cost_of_three_iterations(BlockMethod::bicgstab, false, matrix);
  CHECK(stabilised.products == 3 * 3 * 2);
  CHECK(stabilised.elements == 3 * 3 * 27 * n);
  CHECK(stabilised.reductions == 3 * 3 * 6);
  CHECK(stabilised.transfers == 3 * 6);
  const Counters block = cost_of_three_iterations(BlockMethod::block_cg, false, matrix);
  CHECK(block.products == 3 * 3);
  CHECK(block.elements == 3 * 3 * 29 * n);
  CHECK(block.transfers == 3 * 11);
  const Counters minimal =
      cost_of_three_iterations(BlockMethod::gmres, false, matrix);  // j = 2, 3, 4
  CHECK(minimal.products == 3 * 3);
  CHECK(minimal.elements == 3 * (3 * (3 + 4 + 5) + 3 * (1 + 11) + 3) * n);  // and 3 more in x
  CHECK(minimal.reductions == 3 * (2 * (3 + 4 + 5) + 3));
  CHECK(minimal.transfers == 3 * 1);
}

TEST_CASE("second passes that are not needed cost gmres of several columns nothing") {
  const std::int64_t n = 1600;
  const auto turning = shifted(n), grid = convection<double>(40, 40, 0.4);
  const KrylovBasis needed{.reorthogonalize = Reorthogonalize::needed};
  // Of the 3rd to the 5th vector, with 3 passes in the step at the end.
  const Counters spared = cost_of_three_iterations(BlockMethod::gmres, false, turning, needed);
  CHECK(spared.elements == 3 * (2 * (3 + 4 + 5) + 3 * (1 + 9) + 3) * n);
  CHECK(spared.reductions == 3 * (3 + 4 + 5 + 3));
  CHECK(spared.transfers == 3 * 1);
  const Counters made = cost_of_three_iterations(BlockMethod::gmres, false, grid, needed);
  CHECK(made.elements == 3 * (4 * (3 + 4 + 5) + 3 * (1 + 12) + 3) * n);
  CHECK(made.reductions == 3 * (2 * (3 + 4 + 5) + 3 * 2));
  const Counters always = cost_of_three_iterations(BlockMethod::gmres, false, turning);
  CHECK(always.elements == 3 * (3 * (3 + 4 + 5) + 3 * (1 + 11) + 3) * n);
}

TEST_CASE("gmres of several columns is as good where second passes are made when needed") {
  Context<Host> context(2);
  for (const Csr<double>& matrix : {shifted(60), convection<double>(20, 15, 0.4)}) {
    const CsrOperator<double, Host> a(context, matrix);
    const auto b = random_vector<double>(2 * a.rows(), 3);
    const auto solve = [&](Reorthogonalize when) {
      return run_columns(
          a, std::vector<double>(b.size()), b, [&](const auto& A, auto columns, auto db, auto x) {
            return pseudo_block_gmres(A, columns, db, x, {.rtol = 1e-12},
                                      KrylovBasis{.restart = 60, .reorthogonalize = when});
          });
    };
    const auto expected = solve(Reorthogonalize::always), sparing = solve(Reorthogonalize::needed);
    check_truth(matrix, b, sparing);
    for (int c = 0; c < 2; ++c) {
      CHECK(sparing.report.columns[c].converged());
      CHECK(
          std::abs(sparing.report.columns[c].iterations - expected.report.columns[c].iterations) <=
          expected.report.columns[c].iterations / 50);
    }
  }
}

TEST_CASE("solvers for several columns give the same bits for 1, 2 and 3 threads") {
  const auto matrix = poisson<float>(150, 120);
  const auto b = random_vector<float>(3 * matrix.rows(), 3);
  for (const auto method : all_methods) {
    std::vector<Answers<float>> answers;
    for (const int threads : {1, 2, 3, 1}) {
      Context<Host> context(threads);
      answers.push_back(solve_columns<float, Host>(
          method, CsrOperator<float, Host>(context, matrix), b, {.max_iterations = 20}));
    }
    for (const auto& answer : answers) {
      CHECK(answer.x == answers[0].x);
      CHECK(answer.report.columns[2].history == answers[0].report.columns[2].history);
    }
  }
}

TEST_CASE("an orthonormal basis is found of dependent vectors") {
  // (1 0)', (1 1e-3)', 5 (1 0)', 0, and (1 1e-9)', which is (1 0)' up to the tolerance
  const double x[5][2] = {{1, 0}, {1, 1e-3}, {5, 0}, {0, 0}, {1, 1e-9}};
  std::vector<double> G(25), L(25), C(25);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) G[i + 5 * j] = x[i][0] * x[j][0] + x[i][1] * x[j][1];
  REQUIRE(detail::orthonormalising(5, 1e-14, G, L, C) == 2);
  double p[2][2] = {};
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 5; ++i)
      for (int e = 0; e < 2; ++e) p[j][e] += x[i][e] * C[i + 5 * j];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      CHECK(std::abs(p[i][0] * p[j][0] + p[i][1] * p[j][1] - (i == j)) <= 1e-9);
  std::vector<double> bad = {nan_of<double>};
  CHECK(detail::orthonormalising(1, 1e-14, bad, L, C) == -1);
}

TEST_CASE("small systems are solved by Cholesky, and indefinite ones are told apart") {
  std::vector<double> a = {4, 2, 2, 5};  // L = (2 0; 1 2)
  CHECK(detail::cholesky(2, 1e-15, a).good == 2);
  std::vector<double> x = {8, 8, 4, -6};  // A (1.5 1)' = (8 8)', A (2 -2)' = (4 -6)'
  detail::cholesky_solve(2, a, 2, x);
  CHECK(x[0] == doctest::Approx(1.5));
  CHECK(x[1] == doctest::Approx(1));
  CHECK(x[2] == doctest::Approx(2));
  CHECK(x[3] == doctest::Approx(-2));
  std::vector<double> indefinite = {1, 2, 2, 1};
  const auto pivots = detail::cholesky(2, 1e-15, indefinite);
  CHECK(pivots.good == 1);
  CHECK(pivots.bad == -3);
}

}  // namespace tansolve::test
