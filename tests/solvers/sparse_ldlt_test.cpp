// SPDX-License-Identifier: BSD-3-Clause
// The sparse factorisation against Eigen's dense one, and what it foretells of itself.
#include <tansolve/solvers/minimum_degree.hpp>
#include <tansolve/solvers/sparse_ldlt.hpp>

#include "solvers/eigen.hpp"

#include <Eigen/SparseCholesky>

namespace tansolve::test {
namespace {

using detail::LdltFronts;
using detail::Pencil;
using detail::Pivots;
using detail::SparseLdlt;

const auto always = [] { return true; };

/// A dense corner, a long path, separate parts, a star: fronts of every kind.
std::vector<Csr<double>> patterns() {
  std::vector<Triplet<double>> star;
  for (std::int64_t i = 0; i < 60; ++i) {
    star.push_back({i, i, 3.0 + double(i % 4)});
    if (i > 0) star.push_back({0, i, 1.0}), star.push_back({i, 0, 1.0});
  }
  return {poisson<double>(17, 15),
          random_symmetric<double>(300, 4, 1),
          random_symmetric<double>(120, 60, 2),
          with_condition(70, 1e3, 3),
          path_laplacians({40, 1, 30, 2}),
          diagonal_matrix<double>({3, -1, 2}),
          diagonal_matrix<double>({-4}),
          Csr<double>::from_triplets(60, 60, star)};
}

Eigen::VectorXd some_vector(std::int64_t n) {
  Eigen::VectorXd x(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::sin(1.0 + double(i));
  return x;
}

std::span<double> elements(Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

TEST_CASE("a sparse factorisation solves and counts as Eigen's dense methods do") {
  for (const auto& matrix : patterns())
    for (const double sigma : {0.0371, -1.7, 2.3}) {
      CAPTURE(matrix.rows());
      CAPTURE(sigma);
      const Pencil pencil(matrix, nullptr);
      const LdltFronts fronts(pencil.offsets, pencil.columns, always);
      SparseLdlt factor(pencil, fronts, 2);
      REQUIRE(factor.factor(1, sigma / pencil.a_scale, Pivots::any, always) ==
              SparseLdlt::End::done);
      const std::int64_t n = matrix.rows();
      const Eigen::MatrixXd shifted = dense(matrix) - sigma * Eigen::MatrixXd::Identity(n, n);
      const auto spectrum = dense_spectrum(matrix);
      CHECK(factor.negative() ==
            std::ranges::count_if(spectrum, [=](double value) { return value < sigma; }));
      CHECK(factor.backward_error() <= 1e-9);  // there is no pivoting
      const Eigen::VectorXd b = some_vector(n);
      Eigen::VectorXd x = b / pencil.a_scale;
      factor.solve(elements(x));
      CHECK((shifted * x - b).norm() <= 1e-10 * (shifted.norm() * x.norm() + b.norm()));
    }
}

TEST_CASE("the order of elimination leaves factors about as sparse as Eigen's") {
  auto matrices = patterns();
  matrices.push_back(poisson<double>(70, 60));
  matrices.push_back(random_symmetric<double>(1500, 3, 8));
  for (const auto& matrix : matrices) {
    CAPTURE(matrix.rows());
    const Pencil pencil(matrix, nullptr);
    const LdltFronts fronts(pencil.offsets, pencil.columns, always);
    REQUIRE(fronts.complete);
    auto order = fronts.order;
    std::ranges::sort(order);
    for (std::int64_t i = 0; i < matrix.rows(); ++i) CHECK(order[i] == i);
    Eigen::SparseMatrix<double> shift(matrix.rows(), matrix.rows());
    shift.setIdentity();
    const Eigen::SparseMatrix<double> definite = to_eigen(matrix) + 1e3 * shift;
    const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> llt(definite);
    const Eigen::SparseMatrix<double> L = llt.matrixL();
    CHECK(static_cast<double>(fronts.nonzeros) <= 1.2 * static_cast<double>(L.nonZeros()));
  }
}

TEST_CASE("ordering ends once it is told so") {
  const auto matrix = poisson<double>(40, 40);
  const Pencil pencil(matrix, nullptr);
  int rows = 0;
  const auto count = [&] { return ++rows > 0; };
  const LdltFronts whole(pencil.offsets, pencil.columns, count);
  CHECK(whole.complete);
  const int all = rows;
  for (const int last : {1, all / 3, all - 10}) {
    rows = 0;
    const LdltFronts part(pencil.offsets, pencil.columns, [&] { return ++rows < last; });
    CHECK_FALSE(part.complete);
    CHECK(rows == last);
  }
}

TEST_CASE("fronts cover the pattern of L, and their counts are those of a dense elimination") {
  for (const auto& matrix : patterns()) {
    CAPTURE(matrix.rows());
    const Pencil pencil(matrix, nullptr);
    const LdltFronts fronts(pencil.offsets, pencil.columns, always);
    const std::int64_t n = matrix.rows();
    // Filled in as elimination does it: whoever is left in a column gets connected.
    Eigen::MatrixXi filled = Eigen::MatrixXi::Zero(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = pencil.offsets[i]; k < pencil.offsets[i + 1]; ++k)
        filled(fronts.place[i], fronts.place[pencil.columns[k]]) = 1;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t r = j + 1; r < n; ++r)
        if (filled(r, j) != 0)
          filled.col(r).tail(n - r) = filled.col(r).tail(n - r).cwiseMax(filled.col(j).tail(n - r));
    std::int64_t nonzeros = 0;
    for (std::int64_t s = 0; s < fronts.count(); ++s)
      for (std::int64_t j = fronts.first[s]; j < fronts.first[s + 1]; ++j) {
        const auto rows = fronts.rows_of(s);
        for (std::int64_t r = j; r < n; ++r) {
          nonzeros += filled(r, j);
          if (filled(r, j) != 0)
            CHECK(std::ranges::binary_search(rows, static_cast<std::int32_t>(r)));
        }
      }
    CHECK(fronts.nonzeros == nonzeros);
    CHECK(fronts.bytes >= 8 * nonzeros);
  }
}

TEST_CASE("positive pivots are proof of a definite matrix, and end at the first other one") {
  const auto matrix = poisson<double>(20, 15);
  const Pencil pencil(matrix, nullptr);
  const LdltFronts fronts(pencil.offsets, pencil.columns, always);
  SparseLdlt factor(pencil, fronts, 1);
  const double least = dense_spectrum(matrix).front() / pencil.a_scale;
  CHECK(factor.factor(1, 0.999 * least, Pivots::positive, always) == SparseLdlt::End::done);
  CHECK(factor.factor(1, 1.001 * least, Pivots::positive, always) == SparseLdlt::End::refused);
  CHECK(factor.factor(1, 0, Pivots::positive, [] { return false; }) ==
        SparseLdlt::End::interrupted);
}

TEST_CASE("the root of a semidefinite matrix leaves out what rounding is") {
  for (const auto& matrix :
       {path_laplacians({20, 5}), poisson<double>(9, 8), diagonal_matrix<double>({4, 0, 9})}) {
    const Pencil pencil(matrix, nullptr);
    const LdltFronts fronts(pencil.offsets, pencil.columns, always);
    SparseLdlt factor(pencil, fronts, 1);
    REQUIRE(factor.factor(1, 0, Pivots::semidefinite, always) == SparseLdlt::End::done);
    const auto spectrum = dense_spectrum(matrix);
    CHECK(factor.zeros() ==
          std::ranges::count_if(spectrum, [](double value) { return value < 1e-12; }));
    const Eigen::VectorXd x = some_vector(matrix.rows());
    Eigen::VectorXd y = x;
    factor.multiply_root_transposed(elements(y));
    factor.multiply_root(elements(y));
    CHECK((y * pencil.a_scale - to_eigen(matrix) * x).norm() <= 1e-13 * x.norm() * 16);
  }
  // The last one's pivots are 0 but not its columns: eigenvalues 1 and -1.
  for (const auto& indefinite :
       {diagonal_matrix<double>({4, -1e-3, 9}),
        Csr<double>::from_triplets(3, 3, {{{0, 1, 1.0}, {1, 0, 1.0}, {2, 2, 1.0}}})}) {
    const Pencil pencil(indefinite, nullptr);
    const LdltFronts fronts(pencil.offsets, pencil.columns, always);
    SparseLdlt factor(pencil, fronts, 1);
    CHECK(factor.factor(1, 0, Pivots::semidefinite, always) == SparseLdlt::End::refused);
  }
}

TEST_CASE("a factorisation is interrupted between fronts and within one") {
  for (const auto& matrix : {poisson<double>(40, 40), with_condition(300, 1e3, 3)}) {
    const Pencil pencil(matrix, nullptr);
    const LdltFronts fronts(pencil.offsets, pencil.columns, always);
    SparseLdlt factor(pencil, fronts, 1);
    int asked = 0;
    const auto once = [&] { return ++asked < 2; };
    CHECK(factor.factor(1, 0, Pivots::positive, once) == SparseLdlt::End::interrupted);
    CHECK(asked == 2);
  }
}

// [[t, 1], [1, t]] has D = (t, t - 1 / t), where 1 / t swallows t and half of the digits of 1.
TEST_CASE("the backward error tells of small pivots") {
  std::vector<Triplet<double>> entries;
  for (std::int64_t i = 0; i < 20; i += 2) {
    const double t = 1.1e-14 * double(i + 1);
    for (const auto& [j, k, value] : {std::tuple{0, 0, t}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, t}})
      entries.push_back({i + j, i + k, value});
  }
  const auto matrix = Csr<double>::from_triplets(20, 20, entries);
  const Pencil pencil(matrix, nullptr);
  const LdltFronts fronts(pencil.offsets, pencil.columns, always);
  SparseLdlt factor(pencil, fronts, 1);
  REQUIRE(factor.factor(1, 0, Pivots::any, always) == SparseLdlt::End::done);
  CHECK(factor.negative() == 10);
  CHECK(factor.backward_error() > 1e-4);
  REQUIRE(factor.factor(1, 0.3, Pivots::any, always) == SparseLdlt::End::done);
  CHECK(factor.backward_error() < 1e-14);
}

TEST_CASE("factors have the same bits for any number of threads") {
  const auto matrix = random_symmetric<double>(700, 8, 4);
  const Pencil pencil(matrix, nullptr);
  const LdltFronts fronts(pencil.offsets, pencil.columns, always);
  REQUIRE(fronts.flops > 1e7);
  SparseLdlt one(pencil, fronts, 1), two(pencil, fronts, 2);
  CHECK(one.factor(1, 0.1, Pivots::any, always) == SparseLdlt::End::done);
  CHECK(two.factor(1, 0.1, Pivots::any, always) == SparseLdlt::End::done);
  Eigen::VectorXd x = some_vector(700), y = x;
  one.solve(elements(x));
  two.solve(elements(y));
  CHECK(x == y);
}

}  // namespace
}  // namespace tansolve::test
