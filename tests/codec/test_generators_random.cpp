// SPDX-License-Identifier: BSD-3-Clause
// Bands, graphs and spin chains: structure, statistics, known energies.
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/generators/random.hpp>

#include "generators_support.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// The least eigenvalue after `steps` steps of Lanczos without reorthogonalisation, whose spurious
/// copies do not move it.
double least_eigenvalue(const Csr<double>& csr, int steps) {
  const auto matrix = tansolve::to_eigen<Eigen::SparseMatrix<double, Eigen::RowMajor>>(csr);
  std::mt19937_64 random(1);
  Eigen::VectorXd previous = Eigen::VectorXd::Zero(csr.rows()), current(csr.rows());
  for (double& x : current) x = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
  current.normalize();
  Eigen::VectorXd alpha(steps), beta(steps);
  for (int k = 0; k < steps; ++k) {
    Eigen::VectorXd next = matrix * current - (k > 0 ? beta[k - 1] : 0) * previous;
    alpha[k] = next.dot(current);
    next -= alpha[k] * current;
    beta[k] = next.norm();
    previous = current;
    current = next / beta[k];
  }
  Eigen::MatrixXd ritz = Eigen::MatrixXd::Zero(steps, steps);
  ritz.diagonal() = alpha;
  ritz.diagonal(1) = ritz.diagonal(-1) = beta.head(steps - 1);
  return eigenvalues(ritz)[0];
}

bool has_loops(const Csr<double>& matrix) {
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.columns().subspan(matrix.offsets()[i], matrix.row_nnz(i));
    if (std::ranges::binary_search(row, static_cast<std::int32_t>(i))) return true;
  }
  return false;
}

bool all_ones(const Csr<double>& matrix) {
  return std::ranges::all_of(matrix.values(), [](double value) { return value == 1; });
}

}  // namespace

TEST_CASE("the portable logarithm and exponential agree with the library's") {
  detail::Random random(1, 0);
  for (int k = 0; k < 20000; ++k) {
    const double x =
        std::ldexp(random.uniform() + 0x1p-53, static_cast<int>(random.below(120)) - 60);
    const double log = std::log(x), y = 1400 * random.uniform() - 700;
    CHECK(std::abs(detail::portable_log(x) - log) <= 4e-16 * std::max(1e-3, std::abs(log)));
    CHECK(std::abs(detail::portable_exp(y) / std::exp(y) - 1) <= 1e-15 + 3e-16 * std::abs(y));
  }
  CHECK(detail::portable_log(1) == 0);
  CHECK(detail::portable_exp(0) == 1);
}

TEST_CASE("random numbers have the moments of their distributions, and streams are uncorrelated") {
  constexpr int count = 200000;
  detail::Random random(7, 3), other(7, 4);
  double moments[5] = {}, correlation = 0, uniform = 0;
  for (int k = 0; k < count; ++k) {
    const double x = random.normal(), y = other.normal();
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(x, power) / count;
    correlation += x * y / count;
    uniform += random.uniform() / count;
  }
  // Standard deviations: 1, sqrt(2), sqrt(15), sqrt(96) and 1 over sqrt(count) = 447; 4 of them
  // allowed.
  CHECK(std::abs(moments[1]) < 0.0090);
  CHECK(std::abs(moments[2] - 1) < 0.0127);
  CHECK(std::abs(moments[3]) < 0.0347);
  CHECK(std::abs(moments[4] - 3) < 0.0877);
  CHECK(std::abs(correlation) < 0.0090);
  CHECK(std::abs(uniform - 0.5) < 0.0026);
}

TEST_CASE("heisenberg:4 is the Hamiltonian worked out by hand") {
  // States 0011 0101 0110 1001 1010 1100; the two alternating ones have four bonds of opposite
  // spins.
  Eigen::MatrixXd expected(6, 6);
  expected << 0, 0.5, 0, 0, 0.5, 0,  //
      0.5, -1, 0.5, 0.5, 0, 0.5,     //
      0, 0.5, 0, 0, 0.5, 0,          //
      0, 0.5, 0, 0, 0.5, 0,          //
      0.5, 0, 0.5, 0.5, -1, 0.5,     //
      0, 0.5, 0, 0, 0.5, 0;
  const Csr<double> matrix = generate("heisenberg:4");
  CHECK(dense(matrix) == expected);
  CHECK(matrix.nnz() == 6 + 16);  // every diagonal is stored
}

TEST_CASE("heisenberg has the ground-state energies of the literature") {
  const auto energy = [](const char* name, int steps) {
    const Csr<double> matrix = generate(name);
    CHECK(is_symmetric(matrix));
    return least_eigenvalue(matrix, steps) / std::atoi(std::strchr(name, ':') + 1);
  };
  const Eigen::MatrixXd eight = dense(generate("heisenberg:8"));
  const Eigen::VectorXd spectrum = eigenvalues(eight);
  CHECK(std::abs(spectrum[0] / 8 + 0.456387) < 1e-6);
  CHECK(std::abs(spectrum[69] / 8 - 0.25) < 1e-12);  // the ferromagnet, exactly
  CHECK(std::abs(energy("heisenberg:10", 60) + 0.451545) < 1e-6);
  CHECK(std::abs(energy("heisenberg:12", 60) + 0.448949) < 1e-6);
  CHECK(std::abs(energy("heisenberg:16", 80) + 0.446394) < 1e-6);
}

TEST_CASE("band has its diagonal and distinct columns, evenly spread within the width") {
  const Csr<double> matrix = generate("band:3000:9:40:16@2");
  CHECK(matrix.nnz() == 9 * 3000);
  std::vector<int> hits(81);  // of column i - 40 + k, in rows whose band is whole
  for (std::int64_t i = 0; i < 3000; ++i) {
    const auto row = matrix.columns().subspan(matrix.offsets()[i], matrix.row_nnz(i));
    REQUIRE(row.size() == 9);
    REQUIRE(std::ranges::binary_search(row, static_cast<std::int32_t>(i)));
    for (const std::int32_t col : row) {
      REQUIRE(std::abs(col - i) <= 40);
      if (i >= 40 && i < 2960) ++hits[col - i + 40];
    }
  }
  CHECK(hits[40] == 2920);
  for (int k = 0; k < 81; ++k)  // 292 expected, standard deviation 16
    if (k != 40) CHECK(std::abs(hits[k] - 292) < 80);
  CHECK(std::set<double>(matrix.values().begin(), matrix.values().end()).size() == 16);
}

TEST_CASE("band with no list of values has all of them different, and may be full") {
  const Csr<double> matrix = generate("band:200:20:30:0");
  CHECK(std::set<double>(matrix.values().begin(), matrix.values().end()).size() == 4000);
  CHECK(generate("band:7:7:6:1").nnz() == 49);
  CHECK(generate("band:5:1:0:2").nnz() == 5);
}

TEST_CASE("er is a simple graph with the mean degree asked for") {
  const Csr<double> matrix = generate("er:20000:10@4");
  CHECK(is_symmetric(matrix));
  CHECK(all_ones(matrix));
  CHECK_FALSE(has_loops(matrix));
  // 100,000 edges expected, standard deviation 316.
  CHECK(std::abs(matrix.nnz() / 2 - 100000) < 1300);
  std::int64_t early = 0;  // edges between the first halves: a quarter of all
  for (std::int64_t i = 0; i < 10000; ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k)
      early += matrix.columns()[k] < 10000;
  CHECK(std::abs(early / 2 - 25000) < 640);
  double variance = 0;  // of the degrees: that of a Poisson distribution, 10 +- 0.1
  for (std::int64_t i = 0; i < 20000; ++i)
    variance += std::pow(matrix.row_nnz(i) - 10.0, 2) / 20000;
  CHECK(std::abs(variance - 10) < 0.6);
  CHECK(generate("er:3:1").rows() == 3);
}

TEST_CASE("ws is a ring of neighbours with a tenth of its edges moved") {
  const std::int64_t n = 10000;
  const Csr<double> matrix = generate("ws:10000:6@11");
  CHECK(is_symmetric(matrix));
  CHECK(all_ones(matrix));
  CHECK_FALSE(has_loops(matrix));
  CHECK(matrix.nnz() <= 6 * n);
  CHECK(matrix.nnz() >= 6 * n - 8);  // where two ends drew each other
  std::int64_t moved = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(matrix.row_nnz(i) > 0);
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k) {
      const std::int64_t distance = std::abs(matrix.columns()[k] - i);
      moved += std::min(distance, n - distance) > 3;
    }
  }
  CHECK(std::abs(moved / 2 - 3000) < 210);  // 3 n edges, standard deviation 52
}

TEST_CASE("ba has degree / 2 edges a new vertex and hubs among the old ones") {
  const std::int64_t n = 5000;
  const Csr<double> matrix = generate("ba:5000:8@6");
  CHECK(is_symmetric(matrix));
  CHECK(all_ones(matrix));
  CHECK_FALSE(has_loops(matrix));
  CHECK(matrix.nnz() == 2 * (10 + (n - 5) * 4));
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(matrix.row_nnz(i) >= 4);
    largest = std::max(largest, matrix.row_nnz(i));
  }
  CHECK(largest >
        100);  // a power law reaches about m sqrt(n) = 283; a binomial one would stay below 40
  CHECK(dense(generate("ba:3:2")).sum() == 4);
}

TEST_CASE("rmat fills its quadrants with 0.57, 0.19, 0.19 and 0.05 of the edges") {
  const Csr<double> matrix = generate("rmat:15:1@8");
  CHECK(matrix.rows() == 32768);
  CHECK(all_ones(matrix));
  CHECK_FALSE(is_symmetric(matrix));
  CHECK(matrix.nnz() <= 32768);
  CHECK(matrix.nnz() > 32000);  // few edges coincide, so the fractions are those of the draws
  double quadrant[2][2] = {};
  for (std::int64_t i = 0; i < 32768; ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k)
      quadrant[i >= 16384][matrix.columns()[k] >= 16384] += 1.0 / static_cast<double>(matrix.nnz());
  CHECK(std::abs(quadrant[0][0] - 0.57) < 0.015);
  CHECK(std::abs(quadrant[0][1] - 0.19) < 0.01);
  CHECK(std::abs(quadrant[1][0] - 0.19) < 0.01);
  CHECK(std::abs(quadrant[1][1] - 0.05) < 0.01);
}

TEST_CASE("laplacian is D - A: zero row sums, semidefinite, every diagonal stored") {
  for (const std::string graph : {"er:300:3@5", "ws:300:4@5", "ba:300:6@5"}) {
    CAPTURE(graph);
    const Csr<double> matrix = generate("laplacian:" + graph), adjacency = generate(graph);
    const Eigen::MatrixXd laplacian = dense(matrix), ones = dense(adjacency);
    CHECK(is_symmetric(matrix));
    CHECK(matrix.nnz() == adjacency.nnz() + 300);
    CHECK(laplacian == Eigen::MatrixXd(ones.rowwise().sum().asDiagonal()) - ones);
    CHECK(laplacian.rowwise().sum().cwiseAbs().maxCoeff() == 0);
    CHECK(eigenvalues(laplacian)[0] > -1e-12);
  }
}

}  // namespace tansolve::test
