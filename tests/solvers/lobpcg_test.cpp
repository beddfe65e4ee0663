// SPDX-License-Identifier: BSD-3-Clause
// LOBPCG against dense spectra, with preconditioners and mass matrices, and how it ends.
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/lobpcg.hpp>
#include <tansolve/solvers/mass_scaled.hpp>

#include "solvers/eigen.hpp"

namespace tansolve::test {
namespace {

template <class T, class B>
Found find_lobpcg(const LinearOperator<T, B>& A,
                  const std::type_identity_t<EigenOptions<T>>& options,
                  const std::type_identity_t<LobpcgOperators<T, B>>& operators = {}) {
  return find_by(A, options.nev, [&](const auto& a, auto vectors) {
    return lobpcg(a, vectors, options, operators);
  });
}

TEST_CASE_TEMPLATE("lobpcg finds the ends of dense spectra", S, Setting<double, Host, 2>,
                   Setting<double, Checked>) {
  auto context = S::context();
  for (const auto& matrix : {poisson<double>(12, 13), random_symmetric<double>(300, 4, 1),
                             path_laplacians({30, 40, 50})})
    for (const Which which : {Which::smallest, Which::largest}) {
      const CsrOperator<double, typename S::B> A(context, matrix);
      check_pairs(matrix, find_lobpcg(A, {.nev = 5, .which = which}), which,
                  dense_spectrum(matrix));
    }
}

TEST_CASE("lobpcg works in float") {
  Context<Host> context;
  const auto matrix = poisson<float>(12, 13);
  const CsrOperator<float, Host> A(context, matrix);
  check_pairs(matrix, find_lobpcg(A, {.nev = 4}), Which::smallest, dense_spectrum(matrix));
}

TEST_CASE_TEMPLATE("a preconditioner saves lobpcg iterations", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = weighted_poisson<double>(
      15, 16, [](std::int64_t i) { return std::pow(10.0, double(i % 5) / 2); });
  const CsrOperator<double, B> A(context, matrix);
  const Jacobi<double, B> jacobi(context, A);
  const auto plain = find_lobpcg(A, {.nev = 4}), helped = find_lobpcg(A, {.nev = 4}, {&jacobi});
  check_pairs(matrix, helped, Which::smallest, dense_spectrum(matrix));
  CHECK(plain.report.converged());
  CHECK(2 * helped.report.iterations < plain.report.iterations);
  CHECK(helped.report.preconditioner_applications > 0);
  CHECK(helped.report.preconditioner_name == jacobi.name());
}

TEST_CASE_TEMPLATE("lobpcg solves A v = lambda B v", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  using B = typename S::B;
  auto context = S::context();
  const auto a = poisson<double>(12, 13);
  std::vector<double> d(a.rows());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + double(i % 7);
  for (const auto& b : {diagonal_matrix(d), with_condition(a.rows(), 30, 5)})
    for (const Which which : {Which::smallest, Which::largest}) {
      const CsrOperator<double, B> A(context, a), mass(context, b);
      const auto found = find_lobpcg(A, {.nev = 4, .which = which}, {.mass = &mass});
      const Eigen::MatrixXd dense_a(to_eigen(a)), dense_b(to_eigen(b));
      const Eigen::VectorXd spectrum = eigenvalues(dense_a, dense_b);
      REQUIRE(found.report.status == Status::converged);
      CHECK(found.report.mass_name == mass.name());
      for (int i = 0; i < 4; ++i) {
        const double expected = spectrum[which == Which::smallest ? i : a.rows() - 1 - i];
        const auto& [value, residual, converged] = found.report.pairs[i];
        CHECK(value == doctest::Approx(expected).epsilon(1e-7));
        const Eigen::VectorXd v = found.vectors.col(i);
        CHECK(std::abs((dense_a * v - value * (dense_b * v)).norm() / v.norm() - residual) <=
              1e-13 * found.report.norm);
        CHECK(residual <= found.report.threshold);
      }
      const Eigen::MatrixXd overlap =
          Eigen::MatrixXd(found.vectors.transpose()) * dense_b * found.vectors;
      CHECK((overlap - Eigen::MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff() <= 1e-12);
    }
}

TEST_CASE_TEMPLATE("a diagonal mass turns into a scaling, for lanczos", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  using B = typename S::B;
  auto context = S::context();
  const auto a = poisson<double>(12, 13);
  std::vector<double> d(a.rows());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + double(i % 7);
  const CsrOperator<double, B> A(context, a);
  const MassScaled<double, B> scaled(A, upload(context, d));
  const auto found = find_by(scaled, 5, [&](const auto& operator_, auto vectors) {
    const auto report = lanczos(operator_, vectors, {.nev = 5});
    scaled.recover(vectors);
    return report;
  });
  CHECK(found.report.converged());
  const Eigen::MatrixXd dense_a(to_eigen(a)), dense_d(to_eigen(d).asDiagonal());
  const Eigen::VectorXd spectrum = eigenvalues(dense_a, dense_d);
  for (int i = 0; i < 5; ++i) {
    const auto& [value, residual, converged] = found.report.pairs[i];
    const Eigen::VectorXd v = found.vectors.col(i);
    CHECK(std::abs(value - spectrum[i]) <= found.report.threshold);
    const Eigen::VectorXd r = dense_a * v - value * (dense_d * v);
    CHECK(std::abs((to_eigen(d).cwiseSqrt().cwiseInverse().asDiagonal() * r).norm() - residual) <=
          1e-13);
    CHECK(v.dot(dense_d * v) == doctest::Approx(1));
  }
  d[3] = d[8] = 0;
  CHECK_THROWS_WITH_AS((MassScaled<double, B>(A, upload(context, d))),
                       doctest::Contains("2 of 156 diagonal elements are not positive and finite, "
                                         "first in row 4"),
                       Error);
}

TEST_CASE_TEMPLATE("lobpcg takes operators that leave no directions", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  auto context = S::context();
  for (const double value : {0.0, 1.0, -1e150}) {
    const auto matrix = diagonal_matrix(std::vector<double>(60, value));
    const CsrOperator<double, typename S::B> A(context, matrix);
    check_pairs(matrix, find_lobpcg(A, {.nev = 5}), Which::smallest, dense_spectrum(matrix));
  }
}

TEST_CASE("lobpcg takes matrices of any size of elements") {
  Context<Host> context;
  for (const double factor : {1e-150, 1e150}) {
    const auto matrix = scaled(poisson<double>(12, 13), factor);
    const CsrOperator<double, Host> A(context, matrix);
    check_pairs(matrix, find_lobpcg(A, {.nev = 4}), Which::smallest, dense_spectrum(matrix));
  }
}

TEST_CASE("lobpcg says how it ended") {
  Context<Host> context;
  const auto matrix = poisson<double>(20, 21);
  const CsrOperator<double, Host> A(context, matrix);
  const auto status = [&](const EigenOptions<double>& options) {
    return find_lobpcg(A, options).report.status;
  };
  CHECK(status({.nev = 3, .max_products = 50}) == Status::iteration_limit);
  CHECK(status({.nev = 3, .time_limit = 0}) == Status::time_limit);
  CHECK(status({.nev = 3, .tolerance = 0}) == Status::stagnated);
  CHECK(status({.nev = 3, .monitor = [](const EigenState& state) { return state.restarts < 3; }}) ==
        Status::cancelled);
  std::vector<double> d(60, 1.0);
  d[7] = std::nan("");
  const auto bad_matrix = diagonal_matrix(d);
  const CsrOperator<double, Host> bad(context, bad_matrix);
  CHECK(find_lobpcg(bad, {.nev = 3}).report.status == Status::not_finite);
  // Indefinite with a positive diagonal: found by the products.
  std::vector<Triplet<double>> pairs;
  for (std::int64_t i = 0; i < matrix.rows(); i += 2)
    for (const auto& [j, k, value] : {std::tuple{0, 0, 1.0}, {1, 1, 1.0}, {0, 1, 3.0}, {1, 0, 3.0}})
      pairs.push_back({i + j, i + k, value});
  const auto mass_matrix = Csr<double>::from_triplets(matrix.rows(), matrix.rows(), pairs);
  const CsrOperator<double, Host> mass(context, mass_matrix);
  CHECK(find_lobpcg(A, {.nev = 3}, {.mass = &mass}).report.status == Status::breakdown);
}

// By B = diag(1e32, 1, 1, ...) a random vector is a multiple of e_1, but for rounding.
TEST_CASE_TEMPLATE("lobpcg reports breakdown where the mass makes random vectors dependent", S,
                   Setting<double, Host>, Setting<double, Checked>) {
  using B = typename S::B;
  auto context = S::context();
  const auto a = poisson<double>(6, 10);
  std::vector<double> d(60, 1.0);
  d[0] = 1e32;
  const auto b = diagonal_matrix(d);
  const CsrOperator<double, B> A(context, a), mass(context, b);
  for (const Which which : {Which::smallest, Which::largest}) {
    const auto report = find_lobpcg(A, {.nev = 3, .which = which}, {.mass = &mass}).report;
    CHECK(report.status == Status::breakdown);
    CHECK(report.detail.find("too ill-conditioned") != std::string::npos);
    for (const EigenPair& pair : report.pairs) CHECK(std::isnan(pair.value));
  }
}

TEST_CASE("lobpcg refuses what cannot be meant") {
  Context<Host> context;
  const auto matrix = poisson<double>(5, 6), other_matrix = poisson<double>(5, 5);
  const CsrOperator<double, Host> A(context, matrix), other(context, other_matrix);
  const auto refused = [&](const EigenOptions<double>& options,
                           const LobpcgOperators<double, Host>& operators, const char* why) {
    CHECK_THROWS_WITH_AS(lobpcg(A, {}, options, operators), doctest::Contains(why), Error);
  };
  refused({.nev = 9}, {}, "three times their sum must not exceed n = 30");
  refused({.nev = 2, .which = Which::magnitude}, {}, "it must be smallest or largest");
  refused({.nev = 2}, {.preconditioner = &other}, "the preconditioner csr is 25 x 25");
  refused({.nev = 2}, {.mass = &other}, "the mass csr is 25 x 25");
  std::vector<double> d(30, 1.0);
  d[4] = d[9] = 0;
  const auto singular_matrix = diagonal_matrix(d);
  const CsrOperator<double, Host> singular(context, singular_matrix);
  refused({.nev = 2}, {.mass = &singular},
          "2 of 30 diagonal elements are not positive, first in row 5");
}

TEST_CASE("lobpcg allocates nothing after its workspace") {
  Context<Checked> context;
  const auto matrix = poisson<double>(20, 21);
  const CsrOperator<double, Checked> A(context, matrix);
  const Jacobi<double, Checked> jacobi(context, A);
  LobpcgWorkspace<double, Checked> work(context, matrix.rows(), 3);
  CHECK(work.bytes() == LobpcgWorkspace<double, Checked>::bytes(context, matrix.rows(), 3));
  const std::int64_t before = context.counters().allocations;
  for (int i = 0; i < 2; ++i) CHECK(lobpcg(A, {}, {.nev = 3}, {&jacobi}, work).converged());
  CHECK(context.counters().allocations == before);
}

}  // namespace
}  // namespace tansolve::test
