// SPDX-License-Identifier: BSD-3-Clause
// What every solver of square systems must do on every backend: right answers on the systems that
// it is for, true reports on those that have none.
#pragma once

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/richardson.hpp>

#include "solvers/krylov.hpp"

#include <Eigen/SVD>

#include <string>
#include <vector>

namespace tansolve::test {

/// Kinds of matrices, each with those before it.
enum class Takes { definite, symmetric, general };

template <class T, class B>
struct AnySolver {
  const char* name;
  Takes takes;
  Report (*solve)(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,
                  const SolveOptions<T, B>&);
};

/// The Krylov methods; GMRES with a basis that holds the whole space.
template <class T, class B>
std::vector<AnySolver<T, B>> every_solver() {
  using A = const LinearOperator<T, B>&;
  using In = Span<const T, B>;
  using Out = Span<T, B>;
  using Options = const SolveOptions<T, B>&;
  return {{"cg", Takes::definite, cg<T, B>},
          {"fcg", Takes::definite, fcg<T, B>},
          {"minres", Takes::symmetric, minres<T, B>},
          {"gmres", Takes::general,
           [](A a, In b, Out x, Options options) {
             return gmres(a, b, x, options, KrylovBasis{.restart = 60});
           }},
          {"gmres, second passes when needed", Takes::general,
           [](A a, In b, Out x, Options options) {
             return gmres(a, b, x, options,
                          KrylovBasis{.restart = 60, .reorthogonalize = Reorthogonalize::needed});
           }},
          {"fgmres", Takes::general,
           [](A a, In b, Out x, Options options) {
             return fgmres(a, b, x, options, KrylovBasis{.restart = 60});
           }},
          {"bicgstab", Takes::general, bicgstab<T, B>},
          {"idr", Takes::general,
           [](A a, In b, Out x, Options options) { return idr(a, b, x, options); }}};
}

/// A x = b with the x of least norm, by a dense singular value decomposition.
template <class T>
struct DenseAnswer {
  DenseAnswer(const Csr<T>& matrix, const std::vector<T>& b) {
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(dense(matrix),
                                                Eigen::ComputeThinU | Eigen::ComputeThinV);
    const auto& values = svd.singularValues();
    const double least = 1e-6 * values[0];
    x = Eigen::VectorXd::Zero(matrix.cols());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      if (values[i] <= least) continue;
      x += svd.matrixU().col(i).dot(to_eigen(b)) / values[i] * svd.matrixV().col(i);
      inverse_norm = 1 / values[i];
    }
  }
  Eigen::VectorXd x;
  double inverse_norm = 0;  ///< on the range of A
};

/// Checks a converged report and x, less its mean where `constants` are the null space.
template <class T>
void check_converged(const Csr<T>& matrix, const std::vector<T>& b, const Answer<T>& answer,
                     bool constants = false) {
  const Report& report = answer.report;
  CHECK(report.status == Status::converged);
  CHECK(report.true_residual <= report.threshold);
  CHECK(std::abs(report.true_residual - eigen_residual(matrix, b, answer.x)) <=
        100 * std::numeric_limits<T>::epsilon() * report.baseline);
  const DenseAnswer<T> expected(matrix, b);
  CHECK(within(constants ? centred(answer.x) : answer.x, expected.x,
               1.2 * expected.inverse_norm * report.threshold));
}

TEST_CASE_TEMPLATE_DEFINE("every solver agrees with dense solutions of what it is for", S,
                          every_regular) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  std::vector<T> signs(40);
  for (int i = 0; i < 40; ++i) signs[i] = static_cast<T>(i % 3 == 0 ? -1 - i : 1 + i);
  const struct {
    Takes needs;
    Csr<T> matrix;
  } systems[] = {{Takes::definite, poisson<T>(7, 6)},
                 {Takes::symmetric, diagonal_matrix(signs)},
                 {Takes::general, convection<T>(7, 6, 0.4)}};
  for (const auto& [needs, matrix] : systems) {
    const CsrOperator<T, B> a(context, matrix);
    const Jacobi<T, B> jacobi(context, a);
    const auto b = random_vector<T>(a.rows(), 1), x0 = random_vector<T>(a.rows(), 2);
    for (const auto& solver : every_solver<T, B>())
      for (const bool helped : {false, true}) {
        // The inverse of a diagonal with both signs is no preconditioner for MINRES.
        if (solver.takes < needs || (helped && needs == Takes::symmetric)) continue;
        CAPTURE(std::string(solver.name));
        CAPTURE(helped);
        SolveOptions<T, B> options;
        if (helped) options.preconditioner = &jacobi;
        check_converged(matrix, b, run_from(a, x0, b, [&](const auto& A, auto db, auto x) {
                          return solver.solve(A, db, x, options);
                        }));
      }
    if (needs == Takes::symmetric) continue;
    const SolveOptions<T, B> stationary{.preconditioner = &jacobi};
    check_converged(matrix, b, run_from(a, x0, b, [&](const auto& A, auto db, auto x) {
                      return richardson(A, db, x, stationary);
                    }));
  }
}

TEST_CASE_TEMPLATE_DEFINE("every solver solves singular systems that have solutions, and no others",
                          S, every_singular) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = neumann<T>(7, 6);
  const CsrOperator<T, B> a(context, matrix);
  const auto b = random_vector<T>(a.rows(), 2);
  double sum = 0;
  for (const T element : b) sum += element;
  const double beyond_range = std::abs(sum) / std::sqrt(42.0);
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(std::string(solver.name));
    const auto solve = [&](const std::vector<T>& rhs) {
      return run_from(a, std::vector<T>(a.rows()), rhs, [&](const auto& A, auto db, auto x) {
        return solver.solve(A, db, x, {.max_iterations = 500});
      });
    };
    check_converged(matrix, centred(b), solve(centred(b)), true);
    const auto [report, x] = solve(b);
    CHECK_FALSE(report.converged());
    // A method that breaks down may have gone far along the null space before it noticed.
    const double rounding =
        100 * std::numeric_limits<T>::epsilon() * (8 * to_eigen(x).norm() + to_eigen(b).norm());
    CHECK(report.true_residual >= beyond_range - rounding);
    CHECK(std::abs(report.true_residual - eigen_residual(matrix, b, x)) <= rounding);
    for (const T element : x) CHECK(std::isfinite(element));
    if (solver.takes != Takes::definite && report.status == Status::inconsistent)
      CHECK(report.true_residual == doctest::Approx(beyond_range).epsilon(1e-4));
  }
}

TEST_CASE_TEMPLATE_DEFINE("every solver solves systems scaled from 1e-200 to 1e200", S,
                          every_scale) {
  using B = typename S::B;
  auto context = S::context();
  const auto plain = poisson<double>(7, 6);
  const auto direction = random_vector<double>(42, 3);
  for (const double a_scale : {1e-200, 1.0, 1e200})
    for (const double b_scale : {1e-200, 1.0, 1e200}) {
      if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
      CAPTURE(a_scale);
      CAPTURE(b_scale);
      std::vector<double> values(plain.values().begin(), plain.values().end()), b = direction;
      for (double& value : values) value *= a_scale;
      for (double& element : b) element *= b_scale;
      const Csr<double> matrix(42, 42, {plain.offsets().begin(), plain.offsets().end()},
                               {plain.columns().begin(), plain.columns().end()}, values);
      const CsrOperator<double, B> a(context, matrix);
      const Eigen::VectorXd expected = DenseAnswer<double>(plain, direction).x;
      for (const auto& solver : every_solver<double, B>()) {
        CAPTURE(std::string(solver.name));
        auto [report, x] =
            run_from(a, std::vector<double>(42), b, [&](const auto& A, auto db, auto dx) {
              return solver.solve(A, db, dx, {.rtol = 1e-10});
            });
        CHECK(report.converged());
        for (double& element : x) element = element / b_scale * a_scale;
        CHECK(within(x, expected, 1e-8 * expected.norm()));
      }
    }
}

#define TANSOLVE_EVERY_SOLVER(...)                       \
  TEST_CASE_TEMPLATE_INVOKE(every_regular, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(every_singular, __VA_ARGS__)

}  // namespace tansolve::test
