// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: the answers of single solves, dependent and zero columns,
// columns that leave early, every column's own report.
#include <tansolve/preconditioners/null_space.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>
#include <tansolve/solvers/small_matrix.hpp>

#include "solvers/krylov.hpp"

#include <numeric>
#include <sstream>

namespace tansolve::test {
namespace {

template <class T>
struct Answers {
  MultiReport report;
  std::vector<T> x;

  std::vector<T> column(std::int64_t c) const {
    const auto n = std::ssize(x) / std::ssize(report.columns);
    return {x.begin() + c * n, x.begin() + (c + 1) * n};
  }
};

/// Runs solver(A, columns, b, x) from the guesses x0.
template <class T, class B, class Solver>
Answers<T> run_columns(const LinearOperator<T, B>& A, const std::vector<T>& x0,
                       const std::vector<T>& b, const Solver& solver) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  auto x = upload(context, x0);
  MultiReport report =
      solver(A, std::ssize(b) / A.rows(), Span<const T, B>(device_b), Span<T, B>(x));
  return {std::move(report), download(context, x)};
}

enum class Method { cg, bicgstab, gmres, block_cg };
constexpr Method all_methods[] = {Method::cg, Method::bicgstab, Method::gmres, Method::block_cg};

template <class T, class B>
Answers<T> solve_columns(Method method, const LinearOperator<T, B>& A, const std::vector<T>& b,
                         const SolveOptions<T, B>& options = {}, std::vector<T> x0 = {}) {
  if (x0.empty()) x0.resize(b.size());
  return run_columns(A, x0, b, [&](const auto& a, auto columns, auto db, auto x) {
    return method == Method::cg         ? pseudo_block_cg(a, columns, db, x, options)
           : method == Method::bicgstab ? pseudo_block_bicgstab(a, columns, db, x, options)
           : method == Method::gmres    ? pseudo_block_gmres(a, columns, db, x, options)
                                        : block_cg(a, columns, db, x, options);
  });
}

/// The single solve that a pseudo-block method imitates.
template <class T, class B>
Answer<T> solve_one(Method method, const LinearOperator<T, B>& A, const std::vector<T>& b,
                    const SolveOptions<T, B>& options) {
  return run_from(A, std::vector<T>(b.size()), b, [&](const auto& a, auto db, auto x) {
    return method == Method::bicgstab ? bicgstab(a, db, x, options)
           : method == Method::gmres  ? gmres(a, db, x, options)
                                      : cg(a, db, x, options);
  });
}

template <class T>
std::vector<T> part(const std::vector<T>& all, std::int64_t c, std::int64_t n) {
  return {all.begin() + c * n, all.begin() + (c + 1) * n};
}

template <class T>
void check_truth(const Csr<T>& matrix, const std::vector<T>& b, const Answers<T>& answers) {
  const std::int64_t n = matrix.rows();
  for (std::int64_t c = 0; c < std::ssize(answers.report.columns); ++c) {
    const Report& report = answers.report.columns[c];
    const double truth = eigen_residual(matrix, part(b, c, n), answers.column(c));
    const double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;
    CHECK(std::abs(report.true_residual - truth) <= 1e-3 * truth + rounding * report.baseline);
  }
}

}  // namespace

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
  const Eigen::MatrixXd inverse = Eigen::MatrixXd(to_eigen(matrix)).inverse();
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
          if (method == Method::block_cg) continue;
          CHECK(std::abs(report.iterations - single.report.iterations) <=
                1 + single.report.iterations / 10);
          for (std::size_t i = 0; i < 5; ++i)
            CHECK(report.history[i] == doctest::Approx(single.report.history[i])
                                           .epsilon(std::is_same_v<T, float> ? 1e-3 : 1e-10));
        }
        if (method == Method::block_cg && columns > 1)
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
    if (method == Method::block_cg)  // of the six only two are independent
      CHECK(answers.report.products <= 2 * (answers.report.columns[0].iterations + 1) + 2 * 7 + 2);
  }
}

TEST_CASE("columns that are done leave the block, and cost no more products") {
  Context<Checked> context;
  const auto matrix = poisson<double>(20, 15);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  std::vector<double> b = random_vector<double>(3 * n, 3);
  const std::vector<double> ones(n, 1.0);  // the second is an eigenvector: one iteration
  std::int64_t at = n;
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
    const std::int64_t per_iteration = method == Method::bicgstab ? 2 : 1;
    for (const auto& column : columns) {
      CHECK(column.operator_applications ==
            per_iteration * column.iterations + 2 + column.restarts);
      if (method != Method::gmres) CHECK(column.restarts == 0);
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
  for (const auto method : {Method::cg, Method::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, projected, b);
    CHECK(answers.report.solved());
    check_truth(matrix, b, answers);
  }
}

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
    const bool may_break_down = method == Method::bicgstab || method == Method::gmres;
    CHECK((status == Status::stagnated || (may_break_down && status == Status::breakdown)));
    CHECK(stagnated.report.columns[0].true_residual <= 1e-13);
    CHECK(stagnated.report.columns[0].restarts > 0);
  }
}

TEST_CASE("block methods report operators that are not positive definite, or not symmetric") {
  Context<Checked> context;
  const auto indefinite = diagonal_matrix<double>({1, -2, 3});
  const CsrOperator<double, Checked> a(context, indefinite);
  for (const auto method : {Method::cg, Method::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, a, {0, 1, 0, 1, 0, 0});
    CHECK(answers.report.columns[0].status == Status::indefinite_operator);
    if (method == Method::cg) CHECK(answers.report.columns[1].converged());
  }
  const auto skewed = convection<double>(6, 5, 0.4);
  const CsrOperator<double, Checked> wind(context, skewed);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : {Method::cg, Method::block_cg}) {
    const auto answers = solve_columns<double, Checked>(method, wind, b, {.max_iterations = 1});
    for (const auto& column : answers.report.columns) {
      REQUIRE(column.warnings.size() == 1);
      CHECK(column.warnings[0].find("csr is not symmetric") == 0);
    }
  }
  CHECK(solve_columns<double, Checked>(Method::bicgstab, wind, b).report.solved());
  const auto singular = diagonal_matrix<double>({1, 0, 3});
  const auto none = solve_columns<double, Checked>(
      Method::block_cg, CsrOperator<double, Checked>(context, singular), {0, 1, 0, 0, 1, 0});
  for (const auto& column : none.report.columns) CHECK(column.status == Status::breakdown);
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

TEST_CASE("a multi report prints every column and the products of all") {
  Context<Checked> context;
  const auto matrix = poisson<double>(3, 2);
  const CsrOperator<double, Checked> a(context, matrix);
  std::ostringstream out;
  out << solve_columns<double, Checked>(Method::block_cg, a, std::vector<double>(12, 1.0)).report;
  CHECK(out.str().find("column 2 of 2\nconverged") != std::string::npos);
  CHECK(out.str().find(" products in ") != std::string::npos);
}

/// What the iterations from the 3rd to the 5th of 3 columns cost together.
Counters cost_of_three_iterations(Method method, bool preconditioned, std::int64_t n) {
  Counters cost;
  for (const std::int64_t iterations : {5, 2}) {
    Context<Checked> context;
    const auto matrix = poisson<double>(n / 40, 40);
    const CsrOperator<double, Checked> a(context, matrix);
    const Jacobi<double, Checked> jacobi(context, a);
    const auto b = upload(context, random_vector<double>(3 * n, 3));
    auto x = upload(context, std::vector<double>(3 * n, 0.0));
    Workspace<double, Checked> work(
        context, method == Method::cg ? pseudo_block_cg_workspace(n, 3, preconditioned)
                                      : pseudo_block_bicgstab_workspace(n, 3, preconditioned));
    BlockCgWorkspace<double, Checked> block_work(context, n, 3);
    BlockGmresWorkspace<double, Checked> gmres_work(context, n, 3, {});
    SolveOptions<double, Checked> options{.max_iterations = iterations, .probe_symmetry = false};
    if (preconditioned) options.preconditioner = &jacobi;
    context.counters() = {};
    const MultiReport report =
        method == Method::cg         ? pseudo_block_cg(a, 3, b, x, options, work)
        : method == Method::bicgstab ? pseudo_block_bicgstab(a, 3, b, x, options, work)
        : method == Method::gmres    ? pseudo_block_gmres(a, 3, b, x, options, gmres_work)
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

TEST_CASE("an iteration for several columns costs what its source says") {
  const std::int64_t n = 1600;
  const Counters plain = cost_of_three_iterations(Method::cg, false, n);
  CHECK(plain.products == 3 * 3);
  CHECK(plain.elements == 3 * 3 * 15 * n);
  CHECK(plain.reductions == 3 * 3 * 2);
  CHECK(plain.transfers == 3 * 2);
  const Counters helped = cost_of_three_iterations(Method::cg, true, n);  // Jacobi: 3 passes
  CHECK(helped.products == 3 * 3 * 2);
  CHECK(helped.elements == 3 * 3 * (15 + 2 + 3) * n);
  CHECK(helped.reductions == 3 * 3 * 3);
  CHECK(helped.transfers == 3 * 3);
  const Counters stabilised = cost_of_three_iterations(Method::bicgstab, false, n);
  CHECK(stabilised.products == 3 * 3 * 2);
  CHECK(stabilised.elements == 3 * 3 * 27 * n);
  CHECK(stabilised.reductions == 3 * 3 * 6);
  CHECK(stabilised.transfers == 3 * 6);
  const Counters block = cost_of_three_iterations(Method::block_cg, false, n);
  CHECK(block.products == 3 * 3);
  CHECK(block.elements == 3 * 3 * 29 * n);
  CHECK(block.transfers == 3 * 11);
  const Counters minimal = cost_of_three_iterations(Method::gmres, false, n);  // j = 2, 3, 4
  CHECK(minimal.products == 3 * 3);
  CHECK(minimal.elements == 3 * (3 * (3 + 4 + 5) + 3 * (1 + 11) + 3) * n);  // and 3 more in x
  CHECK(minimal.reductions == 3 * (2 * (3 + 4 + 5) + 3));
  CHECK(minimal.transfers == 3 * 1);
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
