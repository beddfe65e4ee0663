// SPDX-License-Identifier: BSD-3-Clause
// Eigen's sparse matrices, of either order and any state, to Csr and back.
#include <tansolve/codec/eigen.hpp>

#include <doctest/doctest.h>
#include <Eigen/Dense>
#include <Eigen/SparseCore>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace tansolve::test {
namespace {

using Eigen::ColMajor;
using Eigen::RowMajor;
using Eigen::SparseMatrix;

/// 2 0 3 0 / 0 0 0 0 / -1 4 0 5, the zero at (2, 2) stored.
template <class M>
M example() {
  M matrix(3, 4);
  matrix.insert(0, 0) = 2;
  matrix.insert(2, 0) = -1;
  matrix.insert(2, 1) = 4;
  matrix.insert(0, 2) = 3;
  matrix.insert(2, 2) = 0;
  matrix.insert(2, 3) = 5;
  return matrix;
}

template <class T>
void check_example(const Csr<T>& matrix) {
  CHECK(matrix.rows() == 3);
  CHECK(matrix.cols() == 4);
  CHECK(std::ranges::equal(matrix.offsets(), std::vector<std::int64_t>{0, 2, 2, 6}));
  CHECK(std::ranges::equal(matrix.columns(), std::vector<std::int32_t>{0, 2, 0, 1, 2, 3}));
  CHECK(std::ranges::equal(matrix.values(), std::vector<T>{2, 3, -1, 4, 0, 5}));
}

using Matrices =
    std::tuple<SparseMatrix<double, RowMajor, int>, SparseMatrix<double, ColMajor, int>,
               SparseMatrix<double, RowMajor, std::int64_t>, SparseMatrix<float, RowMajor, int>,
               SparseMatrix<float, ColMajor, std::int64_t>>;

}  // namespace

TEST_CASE_TEMPLATE_DEFINE("an Eigen matrix becomes the same Csr and comes back", M,
                          eigen_round_trip) {
  M matrix = example<M>();
  REQUIRE_FALSE(matrix.isCompressed());
  check_example(from_eigen(matrix));
  matrix.makeCompressed();
  check_example(from_eigen(matrix));

  const M back = to_eigen<M>(from_eigen(matrix));
  CHECK(back.isCompressed());
  CHECK(back.nonZeros() == 6);
  CHECK(back.toDense() == matrix.toDense());
  check_example(from_eigen(back));
}
TEST_CASE_TEMPLATE_APPLY(eigen_round_trip, Matrices);

TEST_CASE("from_eigen takes maps, with inner indices in any order") {
  const int begins[] = {0, 2, 2, 6}, columns[] = {2, 0, 3, 1, 0, 2};
  const double values[] = {3, 2, 5, 4, -1, 0};
  const Eigen::Map<const SparseMatrix<double, RowMajor>> map(3, 4, 6, begins, columns, values);
  check_example(from_eigen(map));

  const int by_columns[] = {0, 2, 3, 5, 6}, rows[] = {2, 0, 2, 2, 0, 2};
  const double its_values[] = {-1, 2, 4, 0, 3, 5};
  check_example(from_eigen(
      Eigen::Map<const SparseMatrix<double, ColMajor>>(3, 4, 6, by_columns, rows, its_values)));
}

TEST_CASE("empty Eigen matrices become empty Csr matrices") {
  CHECK(from_eigen(SparseMatrix<double>()).rows() == 0);
  const Csr<double> tall = from_eigen(SparseMatrix<double, RowMajor>(5, 0));
  CHECK(tall.rows() == 5);
  CHECK(tall.cols() == 0);
  const auto back = to_eigen<SparseMatrix<double>>(Csr<double>(2, 3, {0, 0, 0}, {}, {}));
  CHECK(back.rows() == 2);
  CHECK(back.cols() == 3);
  CHECK(back.nonZeros() == 0);
}

TEST_CASE("from_eigen refuses what Csr cannot hold") {
  const std::int64_t begins[] = {0, 1}, wide_column[] = {std::int64_t{1} << 32};
  const double value[] = {1};
  using Wide = SparseMatrix<double, RowMajor, std::int64_t>;
  const Eigen::Map<const Wide> outside(1, 4, 1, begins, wide_column, value);
  CHECK_THROWS_WITH_AS(from_eigen(outside), "row 0: column 4 lies outside [0, 4)", Error);
  const Eigen::Map<const Wide> wide(1, std::int64_t{1} << 33, 1, begins, wide_column, value);
  CHECK_THROWS_WITH_AS(
      from_eigen(wide),
      "an Eigen matrix of 1 x 8589934592: each dimension must be at most 2147483647", Error);
  const int twice[] = {0, 2}, same[] = {1, 1};
  const double values[] = {1, 2};
  CHECK_THROWS_WITH_AS(
      from_eigen(Eigen::Map<const SparseMatrix<double, RowMajor>>(1, 4, 2, twice, same, values)),
      "row 0: column 1 occurs more than once", Error);
}

TEST_CASE("to_eigen refuses an index type that cannot count the nonzeros") {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t k = 0; k < 32768; ++k) triplets.push_back({k / 200, k % 200, 1.0});
  const auto matrix = Csr<double>::from_triplets(200, 200, triplets);
  using Small = SparseMatrix<double, RowMajor, short>;
  CHECK_THROWS_WITH_AS(
      to_eigen<Small>(matrix),
      "32768 nonzeros are more than the 16-bit StorageIndex of the Eigen matrix counts", Error);
}

}  // namespace tansolve::test
