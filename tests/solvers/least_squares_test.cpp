// SPDX-License-Identifier: BSD-3-Clause
// LSQR and LSMR: right answers on systems of every shape and rank, with and without damping.
#include "solvers/least_squares.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/with_transpose.hpp>

#include "support/matrices.hpp"

namespace tansolve::test {
namespace {

template <class T>
std::vector<T> times(const Csr<T>& a, const std::vector<T>& x) {
  const Eigen::VectorXd y = to_eigen(a) * to_eigen(x);
  return {y.data(), y.data() + y.size()};
}

struct Shape {
  std::int64_t rows, cols, rank;
};

}  // namespace

TEST_CASE_TEMPLATE("lsqr and lsmr agree with a dense decomposition for every shape and rank", S,
                   Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                   Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double accuracy = std::is_same_v<T, float> ? 5e-3 : 1e-5;
  for (const auto& [rows, cols, rank] : {Shape{60, 23, 23}, Shape{23, 60, 23}, Shape{30, 30, 30},
                                         Shape{60, 23, 15}, Shape{23, 60, 15}, Shape{30, 30, 20}})
    for (const auto method : both_methods) {
      CAPTURE(rows);
      CAPTURE(cols);
      CAPTURE(rank);
      CAPTURE(static_cast<int>(method));
      const auto matrix = with_rank<T>(rows, cols, rank, 3);
      const CsrOperator<T, B> a(context, matrix);
      const auto check_x = [&](const std::vector<T>& x, const std::vector<T>& b) {
        const Eigen::VectorXd expected = dense_least_squares(matrix, b);
        CHECK((to_eigen(x) - expected).norm() <= accuracy * expected.norm());
      };

      const auto reachable = times(matrix, random_vector<T>(cols, 2));
      const auto consistent = least_squares(method, a, reachable);
      CHECK(consistent.report.status == Status::converged);
      CHECK(consistent.report.solved());
      CHECK(consistent.report.true_residual <= consistent.report.threshold);
      CHECK(eigen_residual(matrix, reachable, consistent.x) <= 1.1 * consistent.report.threshold);
      check_x(consistent.x, reachable);

      if (rank == rows) continue;
      const auto b = random_vector<T>(rows, 1);
      const auto [report, x] = least_squares(method, a, b);
      CHECK(report.status == Status::inconsistent);
      CHECK_FALSE(report.converged());
      CHECK(report.solved());
      CHECK(report.detail.find("x is a least-squares solution: ||A'r|| = ") == 0);
      CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-4));
      REQUIRE(report.least_squares);
      const double norm = std::sqrt(
          eigenvalues(Eigen::MatrixXd(dense(matrix).transpose()) * dense(matrix)).maxCoeff());
      CHECK(report.least_squares->operator_norm <= 1.0001 * norm);
      CHECK(report.least_squares->operator_norm >= 0.3 * norm);
      CHECK(report.least_squares->solution_norm == doctest::Approx(to_eigen(x).norm()));
      const double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-8;
      CHECK(eigen_normal_residual(matrix, b, x) <= 1.2 * tolerance * norm * report.true_residual);
      check_x(x, b);
    }
}

TEST_CASE("lsqr and lsmr minimise with damping, around the guess") {
  Context<Checked> context;
  for (const auto& [rows, cols, rank] : {Shape{60, 23, 23}, Shape{23, 60, 15}})
    for (const double damping : {1e-3, 0.5, 20.0})
      for (const auto method : both_methods) {
        CAPTURE(damping);
        CAPTURE(rows);
        const auto matrix = with_rank<double>(rows, cols, rank, 4);
        const CsrOperator<double, Checked> a(context, matrix);
        const auto b = random_vector<double>(rows, 1), x0 = random_vector<double>(cols, 5);
        const auto [report, x] = least_squares(method, a, b, {}, {.damping = damping});
        CHECK(report.status == Status::inconsistent);
        CHECK(report.solved());
        CHECK(report.detail.find("x is the solution damped by") == 0);
        const Eigen::VectorXd expected = dense_least_squares(matrix, b, damping);
        CHECK((to_eigen(x) - expected).norm() <= 1e-6 * expected.norm());
        const double damped = std::hypot(eigen_residual(matrix, b, x), damping * expected.norm());
        CHECK(report.true_residual == doctest::Approx(damped).epsilon(1e-6));
        CHECK(report.residual == doctest::Approx(damped).epsilon(1e-6));

        const auto moved = least_squares_from(method, a, x0, b, {}, {.damping = damping});
        CHECK(moved.report.solved());
        const auto ax0 = times(matrix, x0);
        std::vector<double> r(b);
        for (std::size_t i = 0; i < r.size(); ++i) r[i] -= ax0[i];
        const Eigen::VectorXd around = to_eigen(x0) + dense_least_squares(matrix, r, damping);
        CHECK((to_eigen(moved.x) - around).norm() <= 1e-6 * around.norm());
      }
}

TEST_CASE("lsqr and lsmr follow the residuals of the definition") {
  Context<Host> context(1);
  const auto matrix = with_rank<double>(60, 23, 23, 6);
  const CsrOperator<double, Host> a(context, matrix);
  const auto b = random_vector<double>(60, 1);
  for (const auto method : both_methods) {
    double last_residual = 1e300, last_normal = 1e300;
    for (const std::int64_t limit : {1, 2, 5, 9}) {
      const auto [report, x] = least_squares(method, a, b, {.max_iterations = limit});
      CHECK(report.status == Status::iteration_limit);
      CHECK(report.iterations == limit);
      CHECK(report.residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-10));
      CHECK(report.least_squares->normal_residual ==
            doctest::Approx(eigen_normal_residual(matrix, b, x)).epsilon(1e-9));
      CHECK(report.residual <= last_residual);
      if (method == LeastSquaresMethod::lsmr)
        CHECK(report.least_squares->normal_residual <= last_normal);
      last_residual = report.residual;
      last_normal = report.least_squares->normal_residual;
    }
  }
}

TEST_CASE("lsqr takes zero columns and zero rows") {
  Context<Checked> context;
  const auto matrix = Csr<double>::from_triplets(
      4, 3, std::vector<Triplet<double>>{{0, 0, 2.0}, {2, 2, 1.0}, {3, 0, 2.0}});
  const CsrOperator<double, Checked> a(context, matrix);
  for (const auto method : both_methods) {
    const auto [report, x] = least_squares(method, a, {1, 5, 3, 3});
    CHECK(report.solved());
    CHECK(x[0] == doctest::Approx(1));  // of 2 x = 1 and 2 x = 3
    CHECK(x[1] == 0);
    CHECK(x[2] == doctest::Approx(3));
    CHECK(report.true_residual == doctest::Approx(std::sqrt(25.0 + 1 + 1)));
  }
}

TEST_CASE("lsqr gets the same bits from an encoded transpose as from one of csr") {
  const auto matrix = with_rank<double>(300, 120, 100, 7);
  const auto transposed = transpose(matrix);
  const auto compressed = compress(matrix), compressed_transpose = compress(transposed);
  const auto b = random_vector<double>(300, 1);
  std::vector<Answer<double>> answers;
  for (const int threads : {1, 2, 3}) {
    Context<Host> context(threads);
    const CsrOperator<double, Host> plain(context, matrix), plain_transpose(context, transposed);
    const CompressedOperator<double, Host> a(context, compressed),
        at(context, compressed_transpose);
    answers.push_back(least_squares<double, Host>(LeastSquaresMethod::lsqr, plain, b));
    answers.push_back(least_squares<double, Host>(
        LeastSquaresMethod::lsqr, WithTranspose<double, Host>(plain, plain_transpose), b));
    answers.push_back(least_squares<double, Host>(LeastSquaresMethod::lsqr,
                                                  WithTranspose<double, Host>(a, at), b));
  }
  for (const auto& answer : answers) {
    CHECK(answer.report.solved());
    CHECK(answer.x == answers[0].x);
    CHECK(answer.report.history == answers[0].report.history);
  }
}

TEST_CASE("lsqr and lsmr find what LAPACK does on real matrices") {
  const auto folder = real_matrices();
  if (!folder) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  // ||r|| and ||x|| of numpy.linalg.lstsq(A.toarray(), b, rcond=1e-12), numpy 2.4.6. The singular
  // values of Maragal_4 go down to 1e-6 and then to 1e-16: SciPy's lsqr and lsmr, at atol = btol =
  // 1e-10 relative to the Frobenius norm, stop with ||r|| 29.63060 and 29.63079, ||x|| 216467 and
  // 173970.
  struct Expected {
    const char *file, *rhs;
    bool transposed;
    double residual, x_norm, r_accuracy, x_accuracy;
  };
  for (const auto& [file, rhs, transposed, residual, x_norm, r_accuracy, x_accuracy] :
       {Expected{"Maragal_4.mtx.gz", "", false, 29.63050642881, 232294.9599, 1e-6, 0.05},
        Expected{"illc1850.rra.gz", "illc1850_rhs1.mtx.gz", false, 1.278139345937, 1.620064368403e4,
                 1e-8, 1e-6},
        Expected{"illc1850.rra.gz", "", true, 0, 425.4910979804, 0, 1e-6},
        Expected{"osa-07-A.mtx.gz", "", false, 0, 33.36808981880, 0, 1e-8}}) {
    CAPTURE(file);
    auto matrix = read_matrix(*folder / file);
    if (transposed) matrix = transpose(matrix);
    std::vector<double> b(matrix.rows(), 1.0);
    if (*rhs != 0) b = read_dense(*folder / rhs).values;
    const auto transpose_of = transpose(matrix);
    Context<Host> context(1);
    const CsrOperator<double, Host> a(context, matrix), at(context, transpose_of);
    for (const auto method : both_methods) {
      CAPTURE(static_cast<int>(method));
      const auto [report, x] = least_squares<double, Host>(
          method, WithTranspose<double, Host>(a, at), b, {.rtol = 1e-10}, {.normal_rtol = 1e-10});
      CHECK(report.solved());
      CHECK(report.converged() == (residual == 0));
      CHECK(std::abs(report.true_residual - residual) <= r_accuracy * residual + report.threshold);
      CHECK(to_eigen(x).norm() == doctest::Approx(x_norm).epsilon(x_accuracy));
    }
  }
}

}  // namespace tansolve::test
