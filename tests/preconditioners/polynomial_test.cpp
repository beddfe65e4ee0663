// SPDX-License-Identifier: BSD-3-Clause
// Chebyshev and Neumann polynomials against their definitions, and the bounds that they rest on.
#include <tansolve/kernels/polynomial_step.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/preconditioners/eigenvalue_bounds.hpp>
#include <tansolve/preconditioners/polynomial.hpp>

#include "preconditioners/dense.hpp"

#include <cmath>
#include <cstdint>

namespace tansolve::test {
namespace {

/// D^-1/2 A D^-1/2
Eigen::MatrixXd scaled(const Csr<double>& A) {
  const Eigen::MatrixXd a = dense(A);
  const Eigen::VectorXd w = a.diagonal().cwiseSqrt().cwiseInverse();
  return w.asDiagonal() * a * w.asDiagonal();
}

/// The Chebyshev polynomial of degree n.
double chebyshev_polynomial(int n, double x) {
  const double value = std::abs(x) <= 1 ? std::cos(n * std::acos(std::abs(x)))
                                        : std::cosh(n * std::acosh(std::abs(x)));
  return x < 0 && n % 2 == 1 ? -value : value;
}

/// The inverse but for what C_(m+1), scaled to the interval and to 1 at 0, leaves.
Eigen::MatrixXd chebyshev_by_eigenvalues(const Csr<double>& A, int degree,
                                         const EigenvalueBounds& bounds) {
  const auto [a, b] = bounds;
  const Eigen::VectorXd p = eigenvalues(scaled(A)).unaryExpr([=](double lambda) {
    const double left = chebyshev_polynomial(degree + 1, (b + a - 2 * lambda) / (b - a)) /
                        chebyshev_polynomial(degree + 1, (b + a) / (b - a));
    return (1 - left) / lambda;
  });
  const Eigen::VectorXd w = dense(A).diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd v = w.asDiagonal() * eigenvectors(scaled(A));
  return Eigen::MatrixXd(v * p.asDiagonal()) * Eigen::MatrixXd(v.transpose());
}

Csr<double> uneven_poisson() {
  return weighted_poisson<double>(7, 5, [](std::int64_t i) { return 1.0 + i % 4; });
}

TEST_CASE_TEMPLATE("the chebyshev preconditioner is the polynomial that its bounds define", S,
                   Setting<double, Host, 2>, Setting<double, Checked>) {
  auto context = S::context();
  const Csr<double> matrix = uneven_poisson();
  const CsrOperator<double, typename S::B> A(context, matrix);
  for (int degree = 0; degree <= 5; ++degree)
    for (const EigenvalueBounds bounds : {EigenvalueBounds{0.1, 2.0}, {0.5, 1.0}}) {
      CAPTURE(degree);
      const Polynomial M(A, Chebyshev{.degree = degree, .bounds = bounds});
      CHECK(distance(dense(M), chebyshev_by_eigenvalues(matrix, degree, bounds)) < 1e-13);
    }
}

TEST_CASE_TEMPLATE("the neumann preconditioner is the sum of its series", S,
                   Setting<double, Host, 2>, Setting<double, Checked>) {
  auto context = S::context();
  const Csr<double> matrix = upwind(6, 5);
  const CsrOperator<double, typename S::B> A(context, matrix);
  const Eigen::MatrixXd a = dense(matrix), I = Eigen::MatrixXd::Identity(30, 30);
  const Eigen::MatrixXd D = 0.8 * Eigen::MatrixXd(a.diagonal().cwiseInverse().asDiagonal());
  Eigen::MatrixXd term = D, sum = D;
  for (int degree = 0; degree <= 4; ++degree) {
    CAPTURE(degree);
    const Polynomial M(A, Neumann{.degree = degree, .damping = 0.8});
    CHECK(distance(dense(M), sum) < 1e-14);
    term = Eigen::MatrixXd(I - D * a) * term;
    sum += term;
  }
}

TEST_CASE("a few lanczos steps bound the eigenvalues of the matrix scaled to a diagonal of 1") {
  Context<Host> context(1);
  for (const Csr<double>& matrix :
       {uneven_poisson(), full_definite(60, 3), generate("varcoef7:7:10000@5"),
        anisotropic<double>(20, 10, 0.01), diagonal_matrix<double>({3, 5, 7})}) {
    const CsrOperator<double, Host> A(context, matrix);
    const Eigen::VectorXd d = dense(matrix).diagonal();
    const Eigen::VectorXd w = d.cwiseSqrt().cwiseInverse();
    const auto device_w = upload(context, std::vector<double>(w.begin(), w.end()));
    const auto bounds = estimate_bounds(A, device_w, 16, 1);
    const Eigen::VectorXd exact = test::eigenvalues(scaled(matrix));
    CHECK(bounds.upper >= exact.maxCoeff());
    CHECK(bounds.upper <= 1.2 * exact.maxCoeff());
    CHECK(bounds.lower >= exact.minCoeff() * (1 - 1e-12));
    CHECK(bounds.lower <= exact.mean() * (1 + 1e-12));
  }
}

TEST_CASE("the bounds begin with the random vector of the seed") {
  Eigen::Vector3d u;
  for (int i = 0; i < 3; ++i) u[i] = detail::random_element(detail::scramble(5489), i);
  const Eigen::Vector3d d(1, 10, 100);
  Context<Host> context(1);
  const auto matrix = diagonal_matrix<double>({d[0], d[1], d[2]});
  const CsrOperator<double, Host> A(context, matrix);
  const auto w = upload(context, std::vector<double>(3, 1.0));
  const double quotient = u.dot(d.cwiseProduct(u)) / u.squaredNorm();
  CHECK(estimate_bounds(A, w, 1, 5489).lower == doctest::Approx(quotient).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("polynomials are symmetric positive definite where they say so", S,
                   Setting<double, Host, 2>, Setting<float, Host, 1>, Setting<double, Checked>) {
  using T = typename S::T;
  auto context = S::context();
  const Csr<T> matrix = convert<T>(generate("varcoef7:5:1000"));
  const CsrOperator<T, typename S::B> A(context, matrix);
  check_definite(Polynomial(A, Chebyshev()));
  check_definite(Polynomial(A, Chebyshev{.degree = 3}));
  // Even degrees, although eigenvalues lie on both sides of the interval.
  check_definite(Polynomial(A, Chebyshev{.degree = 2, .bounds = EigenvalueBounds{0.5, 0.9}}));
  check_definite(Polynomial(A, Neumann()));
  check_definite(Polynomial(A, Neumann{.degree = 3}));
  check_definite(Polynomial(A, Neumann{.degree = 2, .damping = 1.5}));
}

TEST_CASE("a chebyshev polynomial of odd degree is indefinite where an eigenvalue is too large") {
  Context<Host> context(1);
  const Csr<double> matrix = diagonal_matrix<double>({1, 1, 1});
  const CsrOperator<double, Host> A(context, matrix);
  const Polynomial M(A, Chebyshev{.degree = 1, .bounds = EigenvalueBounds{0.1, 0.3}});
  CHECK(dense(M)(0, 0) < 0);
}

TEST_CASE("a polynomial costs the products and passes that it states, and allocates nothing") {
  Context<Checked> context;
  const Csr<double> matrix = uneven_poisson();
  const CsrOperator<double, Checked> A(context, matrix);
  const Polynomial M(A, Chebyshev{.degree = 4});
  CHECK(M.capturable());
  CHECK(M.name() == "chebyshev");
  check_no_allocation(M);
  const auto x = upload(context, std::vector<double>(35, 1.0));
  Vector<double, Checked> y(context, 35);
  const auto before = context.counters();
  M.apply(x, y);
  CHECK(context.counters().products == before.products + 5);  // itself one of them
  CHECK(context.counters().elements ==
        before.elements + 35 * (3 + 4 * (6 + 2) - 1));  // the first reads no z_(-1)
  CHECK(context.counters().reductions == before.reductions);
}

TEST_CASE_TEMPLATE("the step of a polynomial is its formula, and refuses vectors that overlap", S,
                   Setting<double, Host, 2>, Setting<float, Checked>) {
  using T = typename S::T;
  auto context = S::context();
  const auto d = upload<T>(context, {1, 2}), r = upload<T>(context, {5, 7});
  const auto w = upload<T>(context, {1, 4}), z = upload<T>(context, {10, 20});
  auto z_old = upload<T>(context, {100, 200});
  polynomial_step(context, T(0.5), d, r, w, 3, z, -1, z_old.span());
  CHECK(download(context, z_old) == std::vector<T>{2 + 30 - 100, 3 + 60 - 200});
  z_old = upload<T>(context, {std::numeric_limits<T>::quiet_NaN(), 0});
  polynomial_step(context, T(0.5), d, r, w, 3, z, 0, z_old.span());
  CHECK(download(context, z_old) == std::vector<T>{32, 63});
  CHECK_THROWS_AS(polynomial_step(context, T(1), d, r, z_old, 1, z, 0, z_old.span()), Error);
  CHECK_THROWS_AS(
      polynomial_step(context, T(1), d, r.span().subspan(0, 1), w, 1, z, 0, z_old.span()), Error);
}

TEST_CASE("polynomials refuse what they cannot use") {
  Context<Checked> context;
  const auto with_diagonal = [&](const std::vector<double>& d, const auto& options,
                                 ErrorCode code) {
    const Csr<double> matrix = diagonal_matrix(d);
    const CsrOperator<double, Checked> A(context, matrix);
    return refusal(code, [&] { Polynomial(A, options); });
  };
  const auto bad = ErrorCode::bad_input, invalid = ErrorCode::invalid_argument;
  CHECK(with_diagonal({1, -2, 0}, Chebyshev(), bad) ==
        "chebyshev: 2 of 3 diagonal elements are not positive with a finite inverse, first in row "
        "2 (counting from 1): -2");
  CHECK(with_diagonal({1, std::nan("")}, Neumann(), bad).find("neumann: 1 of 2 diagonal") == 0);
  CHECK(with_diagonal({1, 0}, Neumann{.damping = 1.0}, bad) ==
        "neumann: 1 of 2 diagonal elements are zero, absent or without a finite inverse, first in "
        "row 2 (counting from 1): 0");
  CHECK(with_diagonal({1, -1}, Neumann{.damping = 1.0}, bad) == "nothing was thrown");
  CHECK(with_diagonal({1}, Neumann{.damping = -1.0}, invalid) ==
        "neumann: damping -1, it must be positive");
  CHECK(with_diagonal({1}, Chebyshev{.degree = -1}, invalid) ==
        "chebyshev: degree -1, it must be at least 0");
  CHECK(with_diagonal({1}, Chebyshev{.bounds = EigenvalueBounds{2, 1}}, invalid) ==
        "chebyshev: bounds 2 and 1, they must be 0 < lower < upper");
  CHECK(with_diagonal({1}, Chebyshev{.lanczos_steps = 0}, invalid) ==
        "chebyshev: 0 Lanczos steps, at least 1 is needed");

  const auto indefinite = Csr<double>::from_triplets(
      2, 2, std::vector<Triplet<double>>{{0, 0, 1.0}, {0, 1, 3.0}, {1, 0, 3.0}, {1, 1, 1.0}});
  const CsrOperator<double, Checked> A(context, indefinite);
  CHECK(refusal(bad, [&] { Polynomial(A, Chebyshev()); }) ==
        "eigenvalue bounds: csr is not positive definite, scaled to a diagonal of 1 it has an "
        "eigenvalue of at most -2");
  const auto wide = Csr<double>::from_triplets(1, 2, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const CsrOperator<double, Checked> W(context, wide);
  CHECK(refusal(invalid, [&] { Polynomial(W, Chebyshev()); }) ==
        "chebyshev: csr is 1 x 2, it must be square");
}

}  // namespace
}  // namespace tansolve::test
