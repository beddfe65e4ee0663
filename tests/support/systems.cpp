// SPDX-License-Identifier: BSD-3-Clause
// The dense algebra of the tests by Eigen, compiled once.
#include "support/systems.hpp"

#include <algorithm>

namespace tansolve::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Csr<double> with_condition(std::int64_t n, double condition, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  MatrixXd g(n, n);
  for (std::int64_t k = 0; k < n * n; ++k) g.data()[k] = normal(random);
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(g).householderQ();
  VectorXd d(n);
  for (std::int64_t k = 0; k < n; ++k)
    d[k] = std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
  const MatrixXd a = q * d.asDiagonal() * q.transpose();
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
VectorXd to_eigen(const std::vector<T>& x) {
  VectorXd vector(x.size());
  std::ranges::copy(x, vector.data());
  return vector;
}

template <class T>
MatrixXd dense(const Csr<T>& a) {
  return MatrixXd(to_eigen(a));
}

template <class T>
double eigen_residual(const Csr<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
  return (to_eigen(b) - to_eigen(a) * to_eigen(x)).norm();
}

template <class T>
VectorXd dense_solution(const Csr<T>& a, const std::vector<T>& b) {
  return dense(a).ldlt().solve(to_eigen(b));
}

#define TANSOLVE_INSTANTIATE(T)                                                                \
  template Eigen::SparseMatrix<double> to_eigen(const Csr<T>&);                                \
  template VectorXd to_eigen(const std::vector<T>&);                                           \
  template MatrixXd dense(const Csr<T>&);                                                      \
  template double eigen_residual(const Csr<T>&, const std::vector<T>&, const std::vector<T>&); \
  template VectorXd dense_solution(const Csr<T>&, const std::vector<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

MatrixXd product(const MatrixXd& a, const MatrixXd& b) {
  return a.operator*(b);
}

VectorXd product(const MatrixXd& a, const VectorXd& x) {
  return a.operator*(x);
}

VectorXd product(const Eigen::SparseMatrix<double>& a, const VectorXd& x) {
  return a.operator*(x);
}

MatrixXd inverse(const MatrixXd& a) {
  return a.inverse();
}

MatrixXd cholesky_factor(const MatrixXd& a) {
  return a.llt().matrixL();
}

VectorXd least_norm_solution(const MatrixXd& a, const VectorXd& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
  decomposition.setThreshold(threshold);
  return decomposition.compute(a).solve(b);
}

VectorXd eigenvalues(const MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

VectorXd eigenvalues(const MatrixXd& a, const MatrixXd& b) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd>(a, b, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

MatrixXd eigenvectors(const MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(a).eigenvectors();
}

}  // namespace tansolve::test
