// SPDX-License-Identifier: BSD-3-Clause
// What every solver of square systems must do on every backend: right answers on the systems that
// it is for, true reports on all others.
#pragma once

#include <tansolve/preconditioners/null_space.hpp>
#include <tansolve/solvers/refinement.hpp>
#include <tansolve/solvers/richardson.hpp>

#include "solvers/every_solver.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace tansolve::test {

inline constexpr std::int64_t nx = 7, ny = 6;  // of the grids below

/// The Laplacian less 2.1 times the identity: eigenvalues of both signs, the least 0.04.
template <class T>
Csr<T> indefinite() {
  return with_values(poisson<T>(nx, ny),
                     [](auto i, auto j, T value) { return i == j ? value - 2.1 : value; });
}

TEST_CASE_TEMPLATE_DEFINE("every solver agrees with dense solutions of what it is for", S,
                          every_regular) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const struct {
    Takes needs;
    Csr<T> matrix;
  } systems[] = {{Takes::definite, poisson<T>(nx, ny)},
                 {Takes::symmetric, indefinite<T>()},
                 {Takes::general, convection<T>(nx, ny, 0.4)}};
  for (const auto& [needs, matrix] : systems) {
    const CsrOperator<T, B> a(context, matrix);
    const Jacobi<T, B> jacobi(context, a);
    const auto b = random_vector<T>(a.rows(), 1), x0 = random_vector<T>(a.rows(), 2);
    for (const auto& solver : every_solver<T, B>())
      for (const bool helped : {false, true}) {
        if (solver.takes < needs) continue;
        CAPTURE(solver.name);
        CAPTURE(helped);
        SolveOptions<T, B> options;
        if (helped) options.preconditioner = &jacobi;
        const auto answer = run_from(a, x0, b, [&](const auto& A, auto db, auto x) {
          return solver.solve(A, db, x, options);
        });
        check_converged(matrix, b, answer);
        CHECK(answer.report.warnings.empty());
      }
    if constexpr (std::is_same_v<T, double>) {
      const auto narrow = convert<float>(matrix);
      const CsrOperator<float, B> a32(context, narrow);
      const InnerSolver<B> inner = [&](auto r, auto d) {
        return gmres(a32, r, d, {.rtol = 1e-4}, KrylovBasis{.restart = 60});
      };
      check_converged(matrix, b, run_from(a, x0, b, [&](const auto& A, auto db, auto x) {
                        return refine<B>(A, inner, db, x);
                      }));
    }
    if (needs == Takes::symmetric) continue;
    const SolveOptions<T, B> stationary{.preconditioner = &jacobi};
    check_converged(matrix, b, run_from(a, x0, b, [&](const auto& A, auto db, auto x) {
                      return richardson(A, db, x, stationary);
                    }));
  }
}

TEST_CASE_TEMPLATE_DEFINE("every solver says what rules it out, or the truth", S, every_unfit) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto both_signs = indefinite<T>(), skewed = convection<T>(nx, ny, 3);
  const CsrOperator<T, B> a(context, both_signs), skewed_a(context, skewed);
  const auto b = random_vector<T>(a.rows(), 1);
  const auto solve = [&](const auto& solver, const auto& of) {
    return run_from(of, std::vector<T>(of.rows()), b, [&](const auto& A, auto db, auto x) {
      return solver.solve(A, db, x, {.max_iterations = 300});
    });
  };
  for (const auto& solver : every_solver<T, B>()) {
    if (solver.takes == Takes::general) continue;
    CAPTURE(solver.name);
    // A-conjugate directions that span the whole space have as many curvatures below 0 as A has
    // eigenvalues.
    if (solver.takes == Takes::definite) {
      const auto refused = solve(solver, a);
      check_truth(both_signs, b, refused);
      CHECK(refused.report.status == Status::indefinite_operator);
      CHECK(refused.report.detail.find(" -") != std::string::npos);
      CHECK(refused.report.warnings.empty());
    }
    const auto tried = solve(solver, skewed_a);
    check_truth(skewed, b, tried);
    REQUIRE(tried.report.warnings.size() == 1);
    CHECK(tried.report.warnings[0].find("csr is not symmetric") == 0);
  }
}

/// Solves A x = b from 0 and checks that nobody claims a solution; `least` is the least residual.
template <class T, class B>
void check_no_solution(const LinearOperator<T, B>& a, const Csr<T>& matrix, const std::vector<T>& b,
                       double least) {
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto answer =
        run_from(a, std::vector<T>(a.rows()), b, [&](const auto& A, auto db, auto x) {
          return solver.solve(A, db, x, {.max_iterations = 500});
        });
    const Report& report = answer.report;
    CAPTURE(name(report.status));
    check_truth(matrix, b, answer);
    CHECK(std::ranges::count(
              std::array{Status::inconsistent, Status::stagnated, Status::breakdown,
                         Status::diverged, Status::indefinite_operator, Status::iteration_limit},
              report.status) == 1);
    const double rounding =  // a method that breaks down may have gone far along the null space
        100 * std::numeric_limits<T>::epsilon() * (8 * to_eigen(answer.x).norm() + report.baseline);
    CHECK(report.true_residual >= least - rounding);
    const bool minimises = solver.name.find("res") != std::string::npos;  // minres, gmres
    if (minimises) CHECK(report.true_residual <= 1.02 * least);
    if (report.status == Status::inconsistent && solver.takes != Takes::definite)
      CHECK(report.true_residual == doctest::Approx(least).epsilon(1e-4));
  }
}

TEST_CASE_TEMPLATE_DEFINE("every solver solves singular systems that have solutions, and no others",
                          S, every_singular) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = neumann<T>(nx, ny);
  const CsrOperator<T, B> a(context, matrix);
  const auto b = random_vector<T>(a.rows(), 2), reachable = centred(b);
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto answer =
        run_from(a, std::vector<T>(a.rows()), reachable,
                 [&](const auto& A, auto db, auto x) { return solver.solve(A, db, x, {}); });
    check_converged(matrix, reachable, answer, centred(answer.x));
  }
  double sum = 0;
  for (const T element : b) sum += element;
  check_no_solution<T, B>(a, matrix, b, std::abs(sum) / std::sqrt(static_cast<double>(nx * ny)));
}

TEST_CASE_TEMPLATE_DEFINE("every solver solves for what A can reach where the null space is given",
                          S, every_null_space) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto weight = [](std::int64_t i) { return 1 + static_cast<double>(i % 3); };
  for (const bool constant : {true, false}) {
    const auto matrix = with_values(neumann<T>(nx, ny), [&](auto i, auto j, T value) {
      return constant ? value : value * weight(i) * weight(j);
    });
    const CsrOperator<T, B> a(context, matrix);
    const Jacobi<T, B> jacobi(context, a);
    std::optional<NullSpace<T, B>> space;
    if (constant) {
      space.emplace(context, a.rows());
    } else {
      std::vector<T> null(a.rows());
      for (std::int64_t i = 0; i < a.rows(); ++i) null[i] = static_cast<T>(1 / weight(i));
      std::vector<Vector<T, B>> vectors;
      vectors.push_back(upload(context, null));
      space.emplace(context, std::move(vectors));
    }
    const Projected<T, B> projected(a, *space), helped(jacobi, *space);
    const auto b = random_vector<T>(a.rows(), 2);
    auto reachable = upload(context, b);
    space->project(reachable.span());
    const auto target = download(context, reachable);
    for (const auto& solver : every_solver<T, B>())
      for (const bool preconditioned : {false, true}) {
        CAPTURE(solver.name);
        CAPTURE(constant);
        CAPTURE(preconditioned);
        SolveOptions<T, B> options;
        if (preconditioned) options.preconditioner = &helped;
        const auto answer = run_from(
            projected, std::vector<T>(a.rows()), target,
            [&](const auto& A, auto db, auto x) { return solver.solve(A, db, x, options); });
        auto x = upload(context, answer.x);
        // The rounding of a basis, unless M takes it out, adds null vectors to x.
        if (solver.name.find("a basis of") != std::string::npos) space->project(x.span());
        check_converged(matrix, target, answer, download(context, x));
      }
  }
}

TEST_CASE_TEMPLATE_DEFINE("every solver solves systems scaled from 1e-200 to 1e200", S,
                          every_scale) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double large = std::is_same_v<T, double> ? 1e200 : 1e30;
  const auto plain = poisson<T>(nx, ny);
  const auto direction = random_vector<T>(plain.rows(), 3);
  const DenseAnswer<T> expected(plain, direction);
  for (const double a_scale : {1 / large, 1.0, large})
    for (const double b_scale : {1 / large, 1.0, large}) {
      if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
      CAPTURE(a_scale);
      CAPTURE(b_scale);
      auto b = direction;
      for (T& element : b) element = static_cast<T>(element * b_scale);
      const auto matrix = with_values(plain, [=](auto, auto, T value) { return value * a_scale; });
      const CsrOperator<T, B> a(context, matrix);
      for (const auto& solver : every_solver<T, B>()) {
        CAPTURE(solver.name);
        const auto [report, x] =
            run_from(a, std::vector<T>(a.rows()), b,
                     [&](const auto& A, auto db, auto dx) { return solver.solve(A, db, dx, {}); });
        CHECK(report.converged());
        CHECK(report.true_residual <= report.threshold);
        std::vector<double> scaled(x.begin(), x.end());
        for (double& element : scaled) element = element / b_scale * a_scale;
        CHECK(within(scaled, expected.x, 1.2 * expected.inverse_norm * report.threshold / b_scale));
      }
    }
}

TEST_CASE_TEMPLATE_DEFINE("every solver tells the truth where rows differ by a factor of 1e200", S,
                          every_graded) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double decades = std::is_same_v<T, double> ? 100 : 15;
  const auto weight = [=](std::int64_t i) {  // 1e-100 ... 1e100: entries go from 1e-200 to 4e200
    return std::pow(10.0, decades * (2 * static_cast<double>(i * 5 % 42) / 41 - 1));
  };
  const auto matrix = weighted_poisson<T>(nx, ny, weight);
  auto b = random_vector<T>(matrix.rows(), 2);
  for (std::int64_t i = 0; i < matrix.rows(); ++i) b[i] = static_cast<T>(weight(i) * b[i]);
  const CsrOperator<T, B> a(context, matrix);
  const Jacobi<T, B> jacobi(context, a);
  for (const auto& solver : every_solver<T, B>())
    for (const bool helped : {false, true}) {
      CAPTURE(solver.name);
      CAPTURE(helped);
      SolveOptions<T, B> options{.max_iterations = 300};
      if (helped) options.preconditioner = &jacobi;
      const auto answer =
          run_from(a, std::vector<T>(a.rows()), b,
                   [&](const auto& A, auto db, auto x) { return solver.solve(A, db, x, options); });
      check_truth(matrix, b, answer);
      CHECK(answer.report.status != Status::not_finite);
      CHECK(answer.report.status != Status::inconsistent);
      // With Jacobi it is a system of condition 50 to methods that know no other norm than M's.
      if (helped && solver.takes != Takes::general) CHECK(answer.report.converged());
    }
}

#define TANSOLVE_EVERY_SYSTEM(...)                          \
  TEST_CASE_TEMPLATE_INVOKE(every_regular, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(every_unfit, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(every_singular, __VA_ARGS__);   \
  TEST_CASE_TEMPLATE_INVOKE(every_null_space, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(every_scale, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(every_graded, __VA_ARGS__)

}  // namespace tansolve::test
