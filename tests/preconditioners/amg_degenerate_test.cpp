// SPDX-License-Identifier: BSD-3-Clause
// Multigrid on matrices that have little to coarsen: uncoupled, disconnected, singular.
#include <tansolve/preconditioners/amg.hpp>

#include "preconditioners/dense.hpp"
#include "solvers/solving.hpp"

#include <vector>

namespace tansolve::test {
namespace {

/// Iterations of cg to 1e-8 with multigrid by the options; the answer is checked.
std::int64_t iterations(const Csr<double>& matrix, const AmgOptions& options = {},
                        const std::vector<double>& b = {}) {
  Context<Host> context(2);
  const CsrOperator<double, Host> A(context, matrix);
  const Amg<double, Host> M(A, matrix, options);
  const auto rhs = b.empty() ? random_vector<double>(matrix.rows(), 17) : b;
  const auto [report, x] = solve(A, rhs, {.preconditioner = &M});
  CHECK(report.status == Status::converged);
  if (matrix.rows() > 0) CHECK(eigen_residual(matrix, rhs, x) <= 1.0001 * report.threshold);
  return report.iterations;
}

TEST_CASE("matrices without any coupling are solved at once") {
  CHECK(iterations(diagonal_matrix<double>({7})) <= 1);
  CHECK(iterations(Csr<double>()) == 0);
  std::vector<double> d(2000);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + static_cast<double>(i % 97) * 1e3;
  CHECK(iterations(diagonal_matrix(d)) <= 1);
  // Explicit zeros beside the diagonal connect nothing.
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 900; ++i) {
    triplets.push_back({i, i, 1.0 + static_cast<double>(i)});
    triplets.push_back({i, 899 - i, 0.0});
  }
  CHECK(iterations(Csr<double>::from_triplets(900, 900, triplets)) <= 1);
}

/// Blocks along the diagonal.
Csr<double> side_by_side(const std::vector<Csr<double>>& blocks) {
  std::vector<Triplet<double>> triplets;
  std::int64_t first = 0;
  for (const Csr<double>& block : blocks) {
    for (std::int64_t i = 0; i < block.rows(); ++i)
      for (std::int64_t k = block.offsets()[i]; k < block.offsets()[i + 1]; ++k)
        triplets.push_back({first + i, first + block.columns()[k], block.values()[k]});
    first += block.rows();
  }
  return Csr<double>::from_triplets(first, first, triplets);
}

TEST_CASE("disconnected graphs and rows without neighbours do no harm") {
  const Csr<double> parts =
      side_by_side({poisson<double>(20, 20), diagonal_matrix(std::vector<double>(50, 1e6)),
                    poisson<double>(9, 30), diagonal_matrix(std::vector<double>(3, 1e-6))});
  CHECK(iterations(parts, {.coarse_rows = 20}) <= 12);
  CHECK(iterations(parts, {.coarse_rows = 1}) <= 12);
}

/// The Laplacian of a grid without boundary values: singular.
Csr<double> neumann(std::int64_t nx, std::int64_t ny) {
  std::vector<Triplet<double>> triplets;
  const auto couple = [&](std::int64_t i, std::int64_t j) {
    triplets.insert(triplets.end(), {{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}});
  };
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      if (x > 0) couple(y * nx + x, y * nx + x - 1);
      if (y > 0) couple(y * nx + x, (y - 1) * nx + x);
    }
  return Csr<double>::from_triplets(nx * ny, nx * ny, triplets);
}

std::vector<double> without_mean(std::vector<double> b) {
  double mean = 0;
  for (const double element : b) mean += element / static_cast<double>(b.size());
  for (double& element : b) element -= mean;
  return b;
}

TEST_CASE("singular Neumann problems converge like regular ones") {
  const auto b = without_mean(random_vector<double>(50 * 60, 4));
  CHECK(iterations(neumann(50, 60), {}, b) <= 12);
  CHECK(iterations(neumann(50, 60), {.coarse_rows = 1}, b) <= 12);
  CHECK(iterations(neumann(50, 60), {.cycle = AmgCycle::w, .coarse_rows = 50}, b) <= 12);
  // Many components, each of which is singular.
  std::vector<Csr<double>> parts;
  std::vector<double> consistent;
  for (int part = 0; part < 40; ++part) {
    parts.push_back(neumann(3, 4 + part % 3));
    const auto piece = without_mean(random_vector<double>(parts.back().rows(), part));
    consistent.insert(consistent.end(), piece.begin(), piece.end());
  }
  CHECK(iterations(side_by_side(parts), {.coarse_rows = 5}, consistent) <= 12);
  CHECK(iterations(side_by_side(parts), {}, consistent) <= 12);
}

}  // namespace
}  // namespace tansolve::test
