// SPDX-License-Identifier: BSD-3-Clause
// Linear systems for the solvers' tests, and their dense solutions by Eigen.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <cmath>
#include <random>
#include <vector>

namespace tansolve::test {

/// The 5-point Laplacian on nx x ny points, each row and column i scaled by weight(i): symmetric
/// positive definite.
template <class T, class Weight>
Csr<T> weighted_poisson(std::int64_t nx, std::int64_t ny, const Weight& weight) {
  std::vector<Triplet<T>> triplets;
  const auto add = [&](std::int64_t i, std::int64_t j, double value) {
    triplets.push_back({i, j, static_cast<T>(value * weight(i) * weight(j))});
  };
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::int64_t i = y * nx + x;
      add(i, i, 4);
      if (x > 0) add(i, i - 1, -1);
      if (x + 1 < nx) add(i, i + 1, -1);
      if (y > 0) add(i, i - nx, -1);
      if (y + 1 < ny) add(i, i + nx, -1);
    }
  return Csr<T>::from_triplets(nx * ny, nx * ny, triplets);
}

template <class T>
Csr<T> poisson(std::int64_t nx, std::int64_t ny) {
  return weighted_poisson<T>(nx, ny, [](std::int64_t) { return 1.0; });
}

/// The Laplacian of the path of n points, whose null vectors are the constant ones.
template <class T>
Csr<T> path_laplacian(std::int64_t n) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) triplets.push_back({i, i - 1, T(-1)});
    triplets.push_back({i, i, T(i > 0) + T(i + 1 < n)});
    if (i + 1 < n) triplets.push_back({i, i + 1, T(-1)});
  }
  return Csr<T>::from_triplets(n, n, triplets);
}

template <class T>
Csr<T> diagonal_matrix(const std::vector<T>& d) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 0; i < std::ssize(d); ++i) triplets.push_back({i, i, d[i]});
  return Csr<T>::from_triplets(std::ssize(d), std::ssize(d), triplets);
}

/// Dense and symmetric with the eigenvalues condition^(-k / (n - 1)), k = 0 ... n - 1.
inline Csr<double> with_condition(std::int64_t n, double condition, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd g(n, n);
  for (std::int64_t k = 0; k < n * n; ++k) g.data()[k] = normal(random);
  const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(g).householderQ();
  Eigen::VectorXd d(n);
  for (std::int64_t k = 0; k < n; ++k)
    d[k] = std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
  const Eigen::MatrixXd a = q * d.asDiagonal() * q.transpose();
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) triplets.push_back({i, j, (a(i, j) + a(j, i)) / 2});
  return Csr<double>::from_triplets(n, n, triplets);
}

template <class T>
Eigen::SparseMatrix<double> to_eigen(const Csr<T>& a) {
  std::vector<Eigen::Triplet<double>> triplets;
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      triplets.emplace_back(static_cast<int>(i), a.columns()[k], a.values()[k]);
  Eigen::SparseMatrix<double> sparse(a.rows(), a.cols());
  sparse.setFromTriplets(triplets.begin(), triplets.end());
  return sparse;
}

template <class T>
Eigen::VectorXd to_eigen(const std::vector<T>& x) {
  Eigen::VectorXd vector(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) vector[i] = x[i];
  return vector;
}

/// ||b - A x||, computed by Eigen in double.
template <class T>
double eigen_residual(const Csr<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
  return (to_eigen(b) - to_eigen(a) * to_eigen(x)).norm();
}

template <class T>
Eigen::VectorXd dense_solution(const Csr<T>& a, const std::vector<T>& b) {
  return Eigen::MatrixXd(to_eigen(a)).ldlt().solve(to_eigen(b));
}

}  // namespace tansolve::test
