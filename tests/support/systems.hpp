// SPDX-License-Identifier: BSD-3-Clause
// Linear systems for the solvers' tests, and their dense solutions by Eigen.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <Eigen/Dense>
#include <Eigen/Sparse>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <random>
#include <vector>

namespace tansolve::test {

template <class M>
concept OwnDense = std::same_as<M, Eigen::MatrixXd> || std::same_as<M, Eigen::VectorXd> ||
    std::same_as<M, Eigen::SparseMatrix<double>>;

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

/// The matrix with value(i, j, a_ij) in the place of each a_ij that is stored.
template <class T, class Value>
Csr<T> with_values(const Csr<T>& a, const Value& value) {
  std::vector<T> values(a.values().begin(), a.values().end());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      values[k] = static_cast<T>(value(i, std::int64_t{a.columns()[k]}, values[k]));
  return Csr<T>(a.rows(), a.cols(), {a.offsets().begin(), a.offsets().end()},
                {a.columns().begin(), a.columns().end()}, values);
}

/// Dense and symmetric with the eigenvalues condition^(-k / (n - 1)), k = 0 ... n - 1.
Csr<double> with_condition(std::int64_t n, double condition, std::uint64_t seed);

/// What follows is instantiated in systems.cpp for float and double, since most of the time to
/// compile a test went into Eigen's templates.
template <class T>
Eigen::SparseMatrix<double> to_eigen(const Csr<T>& a);

template <class T>
Eigen::VectorXd to_eigen(const std::vector<T>& x);

template <class T>
Eigen::MatrixXd dense(const Csr<T>& a);

/// ||b - A x||, computed by Eigen in double.
template <class T>
double eigen_residual(const Csr<T>& a, const std::vector<T>& b, const std::vector<T>& x);

template <class T>
Eigen::VectorXd dense_solution(const Csr<T>& a, const std::vector<T>& b);

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::VectorXd product(const Eigen::MatrixXd& a, const Eigen::VectorXd& x);
Eigen::VectorXd product(const Eigen::SparseMatrix<double>& a, const Eigen::VectorXd& x);

/// Tests in this namespace find these products of plain matrices before Eigen's templates.
template <class A, class B>
requires requires(const A& a, const B& b) {
  product(a, b);
} && OwnDense<A> && OwnDense<B>
auto operator*(const A& a, const B& b) {
  return product(a, b);
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& a);

/// L of the positive definite A = L L'.
Eigen::MatrixXd cholesky_factor(const Eigen::MatrixXd& a);

/// The solution of least norm of min ||b - A x||, singular values below `threshold` times the
/// largest taken for 0.
Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                    double threshold = 1e-10);

/// The eigenvalues of the symmetric A, ascending; with B, of A v = lambda B v.
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& a);
Eigen::VectorXd eigenvalues(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The columns belong to the eigenvalues of the symmetric A, ascending.
Eigen::MatrixXd eigenvectors(const Eigen::MatrixXd& a);

}  // namespace tansolve::test
