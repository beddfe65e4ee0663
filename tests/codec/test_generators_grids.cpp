// SPDX-License-Identifier: BSD-3-Clause
// Stencils and finite elements against matrices written or assembled by hand.
#include <tansolve/codec/generators.hpp>

#include "generators_support.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;

MatrixXd rows(std::initializer_list<std::initializer_list<double>> entries) {
  return MatrixXd(entries);
}

/// 24 x 24 stiffness of the hexahedron with the given corners (corner k at bits x, y, z of k) by
/// 2-point Gauss quadrature, for both Lame constants 1: B' C B with strains in Voigt's order xx yy
/// zz yz xz xy.
MatrixXd element_stiffness(const std::array<Vector3d, 8>& corners) {
  Eigen::Matrix<double, 6, 6> material = Eigen::Matrix<double, 6, 6>::Identity();
  material.topLeftCorner<3, 3>() << 3, 1, 1, 1, 3, 1, 1, 1, 3;
  MatrixXd stiffness = MatrixXd::Zero(24, 24);
  const double gauss[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  for (int point = 0; point < 8; ++point) {
    const double at[3] = {gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2 & 1]};
    Eigen::Matrix<double, 8, 3> local;  // derivatives of the shape functions on the unit cube
    Matrix3d jacobian = Matrix3d::Zero();
    for (int k = 0; k < 8; ++k) {
      for (int axis = 0; axis < 3; ++axis) {
        double product = 1;
        for (int other = 0; other < 3; ++other) {
          const bool upper = k >> other & 1;
          if (other == axis) product *= upper ? 1 : -1;
          if (other != axis) product *= upper ? at[other] : 1 - at[other];
        }
        local(k, axis) = product;
      }
      jacobian += corners[k] * local.row(k);
    }
    const Eigen::Matrix<double, 8, 3> gradient = local * jacobian.inverse();
    MatrixXd strain = MatrixXd::Zero(6, 24);
    for (int k = 0; k < 8; ++k) {
      const double x = gradient(k, 0), y = gradient(k, 1), z = gradient(k, 2);
      strain.block<6, 3>(0, 3 * k) << x, 0, 0, 0, y, 0, 0, 0, z, 0, z, y, z, 0, x, y, x, 0;
    }
    stiffness += strain.transpose() * material * strain * jacobian.determinant() / 8;
  }
  return stiffness;
}

/// The assembled elasticity matrix of n^3 free nodes inside a layer of fixed ones, on cells that
/// lean.
MatrixXd assembled_elasticity(int n) {
  const int cells = n + 1;
  MatrixXd matrix = MatrixXd::Zero(3 * n * n * n, 3 * n * n * n);
  for (int cell = 0; cell < cells * cells * cells; ++cell) {
    std::array<Vector3d, 8> corners;
    std::array<int, 8> node;  // -1: fixed
    for (int k = 0; k < 8; ++k) {
      const int x = cell % cells + (k & 1), y = cell / cells % cells + (k >> 1 & 1),
                z = cell / (cells * cells) + (k >> 2 & 1);
      corners[k] = {x + y / 8.0 + z / 8.0, double(y), double(z)};
      const bool inside = x > 0 && y > 0 && z > 0 && x <= n && y <= n && z <= n;
      node[k] = inside ? ((z - 1) * n + y - 1) * n + x - 1 : -1;
    }
    const MatrixXd element = element_stiffness(corners);
    for (int a = 0; a < 8; ++a)
      for (int b = 0; b < 8; ++b)
        if (node[a] >= 0 && node[b] >= 0)
          matrix.block<3, 3>(3 * node[a], 3 * node[b]) += element.block<3, 3>(3 * a, 3 * b);
  }
  return matrix;
}

}  // namespace

TEST_CASE("poisson5 is the five-point Laplacian with x running fastest") {
  CHECK(dense(generate("poisson5:2")) ==
        rows({{4, -1, -1, 0}, {-1, 4, 0, -1}, {-1, 0, 4, -1}, {0, -1, -1, 4}}));
  CHECK(dense(generate("poisson5:3x2")) == rows({{4, -1, 0, -1, 0, 0},
                                                 {-1, 4, -1, 0, -1, 0},
                                                 {0, -1, 4, 0, 0, -1},
                                                 {-1, 0, 0, 4, -1, 0},
                                                 {0, -1, 0, -1, 4, -1},
                                                 {0, 0, -1, 0, -1, 4}}));
  const MatrixXd three = dense(generate("poisson5:3"));
  CHECK(three.row(4) == rows({{0, -1, 0, -1, 4, -1, 0, -1, 0}}));
  CHECK(three.row(2) == rows({{0, -1, 4, 0, 0, -1, 0, 0, 0}}));
}

TEST_CASE("poisson7 is the seven-point Laplacian") {
  CHECK(dense(generate("poisson7:2")) == rows({{6, -1, -1, 0, -1, 0, 0, 0},
                                               {-1, 6, 0, -1, 0, -1, 0, 0},
                                               {-1, 0, 6, -1, 0, 0, -1, 0},
                                               {0, -1, -1, 6, 0, 0, 0, -1},
                                               {-1, 0, 0, 0, 6, -1, -1, 0},
                                               {0, -1, 0, 0, -1, 6, 0, -1},
                                               {0, 0, -1, 0, -1, 0, 6, -1},
                                               {0, 0, 0, -1, 0, -1, -1, 6}}));
  CHECK(dense(generate("poisson7:3x1x2")) == rows({{6, -1, 0, -1, 0, 0},
                                                   {-1, 6, -1, 0, -1, 0},
                                                   {0, -1, 6, 0, 0, -1},
                                                   {-1, 0, 0, 6, -1, 0},
                                                   {0, -1, 0, -1, 6, -1},
                                                   {0, 0, -1, 0, -1, 6}}));
}

TEST_CASE("poisson27 couples a point to all within one step in each direction") {
  MatrixXd all = MatrixXd::Constant(8, 8, -1);
  all.diagonal().setConstant(26);
  CHECK(dense(generate("poisson27:2")) == all);

  const MatrixXd line = dense(generate("poisson27:4x1x1"));
  CHECK(line == rows({{26, -1, 0, 0}, {-1, 26, -1, 0}, {0, -1, 26, -1}, {0, 0, -1, 26}}));

  const MatrixXd three = dense(generate("poisson27:3"));
  CHECK(three.row(13).sum() == 0);
  CHECK(three.row(13).minCoeff() == -1);
  CHECK((three.row(0).array() != 0).count() == 8);
}

TEST_CASE("convdiff7 leans against the wind along each axis") {
  const MatrixXd matrix = dense(generate("convdiff7:2"));
  CHECK(matrix.row(0) == rows({{7.75, -1, -1, 0, -1, 0, 0, 0}}));
  CHECK(matrix.row(3) == rows({{0, -1.5, -2, 7.75, 0, 0, 0, -1}}));
  CHECK(matrix.row(7) == rows({{0, 0, 0, -1.25, 0, -1.5, -2, 7.75}}));
  CHECK_FALSE(is_symmetric(generate("convdiff7:2")));
  CHECK(dense(generate("convdiff7:3")).row(13).sum() == 0);
}

TEST_CASE(
    "varcoef7 with equal cells is a multiple of a Laplacian with half cells at the boundary") {
  // c = 1 everywhere: interior faces 1, boundary faces 2.
  CHECK(dense(generate("varcoef7:2x1x1:1")) == rows({{11, -1}, {-1, 11}}));
  CHECK(dense(generate("varcoef7:3:1")).row(13).maxCoeff() == 6);
}

TEST_CASE("varcoef7 has harmonic means of log-uniform cells, the same bits on both sides") {
  const Csr<double> matrix = generate("varcoef7:12:100@3");
  CHECK(is_symmetric(matrix));
  CHECK(matrix.nnz() == 7 * 12 * 12 * 12 - 6 * 12 * 12);
  double least = 1e300, largest = 0, sum_of_logs = 0;
  std::set<double> faces;
  for (const double value : matrix.values()) {
    if (value > 0) continue;
    least = std::min(least, -value);
    largest = std::max(largest, -value);
    sum_of_logs += std::log(-value);
    faces.insert(value);
  }
  CHECK(least >= 1);
  CHECK(largest <= 100);
  CHECK(largest > 50);
  CHECK(faces.size() == 3 * 11 * 12 * 12);  // each face of its own
  // Two cells a single face: with boundary faces 2c the diagonal gives the cells back.
  const MatrixXd pair = dense(generate("varcoef7:2x1x1:1000@7"));
  const double face = -pair(0, 1), a = (pair(0, 0) - face) / 10, b = (pair(1, 1) - face) / 10;
  CHECK(face == doctest::Approx(2 * a * b / (a + b)).epsilon(1e-14));
  CHECK(a != doctest::Approx(b));
}

TEST_CASE("fem3 is the elasticity matrix that quadrature assembles") {
  const MatrixXd expected = 36 * assembled_elasticity(3);
  const MatrixXd matrix = dense(generate("fem3:3"));
  REQUIRE(matrix.rows() == 81);
  CHECK((matrix - expected).cwiseAbs().maxCoeff() < 1e-11);
}

TEST_CASE("fem3 has 39 distinct values, none of them zero, and interior rows that sum to zero") {
  const Csr<double> matrix = generate("fem3:5");
  CHECK(matrix.nnz() == 9 * 13 * 13 * 13);
  const std::set<double> distinct(matrix.values().begin(), matrix.values().end());
  CHECK(distinct.size() == 39);
  CHECK_FALSE(distinct.contains(0.0));
  const std::int64_t middle = 3 * ((2 * 5 + 2) * 5 + 2);
  for (std::int64_t row = middle; row < middle + 3; ++row) {
    REQUIRE(matrix.row_nnz(row) == 81);
    double sum = 0;
    for (std::int64_t k = matrix.offsets()[row]; k < matrix.offsets()[row + 1]; ++k)
      sum += matrix.values()[k];
    CHECK(sum == 0);
  }
}

TEST_CASE("fem3u has the pattern of fem3 and standard normal values, all different") {
  const Csr<double> matrix = generate("fem3u:8@5"), pattern = generate("fem3:8");
  CHECK(std::ranges::equal(matrix.offsets(), pattern.offsets()));
  CHECK(std::ranges::equal(matrix.columns(), pattern.columns()));
  CHECK_FALSE(is_symmetric(matrix));
  CHECK(std::set<double>(matrix.values().begin(), matrix.values().end()).size() ==
        static_cast<std::size_t>(matrix.nnz()));
  double mean = 0, square = 0;
  for (const double value : matrix.values()) {
    mean += value / static_cast<double>(matrix.nnz());
    square += value * value / static_cast<double>(matrix.nnz());
  }
  // 95,832 values: standard deviations 0.0032 and 0.0046.
  CHECK(std::abs(mean) < 0.013);
  CHECK(std::abs(square - 1) < 0.019);
}

TEST_CASE("the stencils that claim it are symmetric and positive definite") {
  for (const std::string name :
       {"poisson5:13", "poisson5:20x7", "poisson7:6", "poisson7:4x9x3", "poisson27:6", "varcoef7:6",
        "varcoef7:5:1e6@9", "fem3:4", "fem3:5x2x4"}) {
    CAPTURE(name);
    CHECK(is_positive_definite(generate(name)));
  }
}

TEST_CASE("the numbers of nonzeros follow their formulas") {
  for (const std::int64_t n : {1, 2, 3, 10, 33}) {
    CAPTURE(n);
    const std::string size = std::to_string(n);
    CHECK(generate("poisson5:" + size).nnz() == 5 * n * n - 4 * n);
    CHECK(generate("poisson7:" + size).nnz() == 7 * n * n * n - 6 * n * n);
    CHECK(generate("convdiff7:" + size).nnz() == 7 * n * n * n - 6 * n * n);
    CHECK(generate("poisson27:" + size).nnz() == (3 * n - 2) * (3 * n - 2) * (3 * n - 2));
  }
  CHECK(generate("fem3:4x5x6").nnz() == 9 * 10 * 13 * 16);
  CHECK(generate("poisson27:4x5x6").nnz() == 10 * 13 * 16);
}

}  // namespace tansolve::test
