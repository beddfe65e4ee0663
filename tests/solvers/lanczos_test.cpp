// SPDX-License-Identifier: BSD-3-Clause
// Thick-restart Lanczos against dense spectra, and against what is hard for it.
#include "solvers/eigen.hpp"

#if __has_include(<Spectra/SymEigsSolver.h>)
#include <Spectra/MatOp/SparseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>
#endif

namespace tansolve::test {
namespace {

constexpr Which ends[] = {Which::smallest, Which::largest, Which::magnitude};

template <class S>
void check_ends(const Csr<typename S::T>& matrix, std::int64_t nev,
                const LanczosSpace& space = {}) {
  using T = typename S::T;
  auto context = S::context();
  const CsrOperator<T, typename S::B> A(context, matrix);
  const auto spectrum = dense_spectrum(matrix);
  for (const Which which : ends) {
    CAPTURE(static_cast<int>(which));
    CAPTURE(nev);
    CAPTURE(space.block);
    const auto found = find(A, {.nev = nev, .which = which}, space);
    check_pairs(matrix, found, which, spectrum);
    CHECK(found.report.verified);
  }
}

TEST_CASE_TEMPLATE("lanczos finds the ends of dense spectra", S, Setting<double, Host, 2>,
                   Setting<double, Checked>, Setting<float, Host>) {
  using T = typename S::T;
  for (const std::int64_t nev : {1, 10}) {
    check_ends<S>(poisson<T>(12, 13), nev);
    check_ends<S>(random_symmetric<T>(500, 4, 1), nev);
    check_ends<S>(poisson<T>(12, 13), nev, {.block = 3});
  }
}

TEST_CASE("lanczos finds the ends of an ill-conditioned matrix") {
  check_ends<Setting<double, Host>>(with_condition(200, 1e3, 3), 5);
  check_ends<Setting<double, Host>>(with_condition(200, 1e3, 3), 5, {.ncv = 60, .block = 2});
}

TEST_CASE_TEMPLATE("lanczos finds every copy of eigenvalues that one Krylov space shows once", S,
                   Setting<double, Host>, Setting<double, Checked>) {
  std::vector<double> clusters;
  for (std::int64_t i = 0; i < 150; ++i)
    clusters.push_back(i < 4 ? -3 : i < 9 ? -2 + 1e-12 * static_cast<double>(i) : 0.1 * double(i));
  for (const std::int64_t block : {1, 4}) {
    check_ends<S>(diagonal_matrix(clusters), 10, {.block = block});
    check_ends<S>(path_laplacians({30, 31, 40, 50, 3, 2, 60, 33}), 10, {.block = block});
    check_ends<S>(block_diagonal(random_symmetric<double>(100, 3, 5), 3), 8, {.block = block});
  }
}

TEST_CASE("without the search lanczos misses copies, and does not claim to be verified") {
  Context<Host> context;
  const auto matrix = block_diagonal(random_symmetric<double>(100, 3, 5), 2);
  const CsrOperator<double, Host> A(context, matrix);
  const auto found = find(A, {.nev = 4, .which = Which::largest}, {.ncv = 30}, false);
  const auto expected = wanted_end(dense_spectrum(matrix), Which::largest, 4);
  CHECK(found.report.converged());
  CHECK_FALSE(found.report.verified);
  CHECK(found.report.searches == 0);
  CHECK(found.report.pairs[1].value < expected[1] - 1e-3);  // the second copy of the first
  const auto twofold = find(A, {.nev = 4, .which = Which::largest}, {.ncv = 30, .block = 2}, false);
  check_pairs(matrix, twofold, Which::largest, dense_spectrum(matrix));
}

TEST_CASE_TEMPLATE("lanczos takes operators whose Krylov spaces end at once", S,
                   Setting<double, Host>, Setting<double, Checked>, Setting<float, Host>) {
  using T = typename S::T;
  for (const std::int64_t block : {1, 3}) {
    check_ends<S>(diagonal_matrix(std::vector<T>(100, T(1))), 5, {.block = block});
    check_ends<S>(diagonal_matrix(std::vector<T>(100, T(0))), 5, {.block = block});
    std::vector<T> two(90, T(-2));
    two[17] = 3;
    check_ends<S>(diagonal_matrix(two), 5, {.block = block});
  }
}

TEST_CASE_TEMPLATE("lanczos finds ties of both signs in magnitude", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  std::vector<double> d;
  for (int i = 1; i <= 60; ++i) d.push_back(i), d.push_back(-i);
  check_ends<S>(diagonal_matrix(d), 7);
  check_ends<S>(diagonal_matrix(d), 8, {.block = 2});
}

TEST_CASE_TEMPLATE("lanczos solves densely where the space would be all of R^n", S,
                   Setting<double, Host>, Setting<double, Checked>, Setting<float, Host>) {
  using T = typename S::T;
  check_ends<S>(diagonal_matrix(std::vector<T>{T(-3)}), 1);
  check_ends<S>(random_symmetric<T>(2, 2, 1), 2);
  check_ends<S>(random_symmetric<T>(40, 4, 2), 40);
  check_ends<S>(random_symmetric<T>(34, 4, 2), 3);
  check_ends<S>(random_symmetric<T>(35, 4, 2), 3);  // the least n that is not
}

TEST_CASE("lanczos takes matrices of any size of elements") {
  const auto matrix = random_symmetric<double>(300, 4, 7);
  for (const double factor : {1e-150, 1e150})
    check_ends<Setting<double, Host>>(scaled(matrix, factor), 6);
}

TEST_CASE("the vectors of lanczos stay orthogonal over many restarts") {
  Context<Host> context(2);
  const auto matrix = poisson<double>(60, 50);
  const CsrOperator<double, Host> A(context, matrix);
  const auto found = find(A, {.nev = 10, .tolerance = 1e-12}, {.ncv = 24, .degree = 1});
  CHECK(found.report.iterations > 50);
  std::vector<double> spectrum;
  for (int i = 1; i <= 60; ++i)
    for (int j = 1; j <= 50; ++j)
      spectrum.push_back(4 - 2 * std::cos(i * M_PI / 61) - 2 * std::cos(j * M_PI / 51));
  check_pairs(matrix, found, Which::smallest, spectrum);
}

TEST_CASE_TEMPLATE("lanczos turns to polynomials of A where restarts do not lead on", S,
                   Setting<double, Host>, Setting<double, Checked>) {
  auto context = S::context();
  std::vector<double> d(150);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(10, -6 * double(i) / 149);
  const auto matrix = diagonal_matrix(d), negated = scaled(matrix, -1.0);
  const CsrOperator<double, typename S::B> A(context, matrix), minus_A(context, negated);
  const auto spectrum = dense_spectrum(matrix);
  std::vector<double> minus(spectrum);
  for (double& value : minus) value = -value;
  for (const std::int64_t block : {1, 3}) {
    check_pairs(matrix, find(A, {.nev = 5}, {.block = block}), Which::smallest, spectrum);
    check_pairs(negated, find(minus_A, {.nev = 5, .which = Which::largest}, {.block = block}),
                Which::largest, minus);
  }
  const auto without = find(A, {.nev = 5, .max_products = 3000}, {.degree = 1});
  CHECK(without.report.status == Status::iteration_limit);
}

TEST_CASE("lanczos is deterministic by the seed") {
  Context<Host> context(2);
  const auto matrix = random_symmetric<double>(5000, 3, 9);
  const CsrOperator<double, Host> A(context, matrix);
  const auto first = find(A, {.nev = 3, .seed = 5}), same = find(A, {.nev = 3, .seed = 5}),
             other = find(A, {.nev = 3, .seed = 6});
  CHECK(first.vectors == same.vectors);
  CHECK(first.vectors != other.vectors);
  CHECK(std::abs(first.report.pairs[0].value - other.report.pairs[0].value) <=
        2 * first.report.threshold);
}

TEST_CASE("lanczos keeps its basis in less than working precision where the tolerance allows it") {
  Context<Host> context;
  const auto matrix = random_symmetric<double>(2000, 4, 11);
  const CsrOperator<double, Host> A(context, matrix);
  const auto exact = find(A, {.nev = 5});
  for (const BasisStorage storage : {BasisStorage::fp32, BasisStorage::fp16}) {
    const double tolerance = least_tolerance<double>(storage);
    const auto found = find(A, {.nev = 5, .tolerance = tolerance}, {.storage = storage});
    CHECK(found.report.converged());
    for (int i = 0; i < 5; ++i)
      CHECK(std::abs(found.report.pairs[i].value - exact.report.pairs[i].value) <=
            found.report.pairs[i].residual + exact.report.pairs[i].residual);
    CHECK_THROWS_WITH_AS(find(A, {.nev = 5, .tolerance = tolerance / 2}, {.storage = storage}),
                         doctest::Contains("needs a wider storage"), Error);
  }
}

#if __has_include(<Spectra/SymEigsSolver.h>)
TEST_CASE("lanczos agrees with Spectra on larger matrices") {
  Context<Host> context(2);
  for (const auto& matrix : {random_symmetric<double>(3000, 3, 13), poisson<double>(50, 40)}) {
    const CsrOperator<double, Host> A(context, matrix);
    const auto sparse = to_eigen(matrix);
    Spectra::SparseSymMatProd<double> product(sparse);
    Spectra::SymEigsSolver<Spectra::SparseSymMatProd<double>> spectra(product, 10, 60);
    for (const auto& [which, rule] : {std::pair{Which::largest, Spectra::SortRule::LargestAlge},
                                      {Which::smallest, Spectra::SortRule::SmallestAlge},
                                      {Which::magnitude, Spectra::SortRule::LargestMagn}}) {
      spectra.init();
      REQUIRE(spectra.compute(rule, 1000, 1e-12) == 10);
      const Eigen::VectorXd values = spectra.eigenvalues();
      check_pairs(matrix, find(A, {.nev = 10, .which = which}, {.ncv = 60}), which,
                  {values.begin(), values.end()});
    }
  }
}
#else
TEST_CASE("lanczos agrees with Spectra on larger matrices") {
  MESSAGE("skipped: Spectra is not installed");
}
#endif

}  // namespace
}  // namespace tansolve::test
