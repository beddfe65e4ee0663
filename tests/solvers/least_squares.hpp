// SPDX-License-Identifier: BSD-3-Clause
// Problems of least squares for the tests, and their solutions by dense factorisations of Eigen's.
#pragma once

#include <tansolve/solvers/lsmr.hpp>
#include <tansolve/solvers/lsqr.hpp>

#include "solvers/solving.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tansolve::test {

inline constexpr LeastSquaresMethod both_methods[] = {LeastSquaresMethod::lsqr,
                                                      LeastSquaresMethod::lsmr};

/// Solves from the guess x0.
template <class T, class B>
Answer<T> least_squares_from(LeastSquaresMethod method, const LinearOperator<T, B>& A,
                             const std::vector<T>& x0, const std::vector<T>& b,
                             const SolveOptions<T, B>& options = {},
                             const LeastSquares<T>& problem = {}) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  auto x = upload(context, x0);
  Report report = method == LeastSquaresMethod::lsqr ? lsqr(A, device_b, x, options, problem)
                                                     : lsmr(A, device_b, x, options, problem);
  return {std::move(report), download(context, x)};
}

template <class T, class B>
Answer<T> least_squares(LeastSquaresMethod method, const LinearOperator<T, B>& A,
                        const std::vector<T>& b, const SolveOptions<T, B>& options = {},
                        const LeastSquares<T>& problem = {}) {
  return least_squares_from(method, A, std::vector<T>(A.cols()), b, options, problem);
}

/// A matrix of that rank at most, with about 4 entries a row of each of its two factors.
template <class T>
Csr<T> with_rank(std::int64_t rows, std::int64_t cols, std::int64_t rank, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto sparse = [&](std::int64_t m, std::int64_t n) {
    Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(m, n);
    for (std::int64_t i = 0; i < std::max(m, n); ++i) factor(i % m, i % n) = 2 + normal(random) / 4;
    for (std::int64_t k = 0; k < 3 * std::max(m, n); ++k)
      factor(static_cast<std::int64_t>(random() % m), static_cast<std::int64_t>(random() % n)) =
          normal(random) / 4;
    return factor;
  };
  const Eigen::MatrixXd product = sparse(rows, rank) * sparse(rank, cols);
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      if (product(i, j) != 0) triplets.push_back({i, j, static_cast<T>(product(i, j))});
  return Csr<T>::from_triplets(rows, cols, triplets);
}

/// The solution of least norm of min ||b - A x||^2 + damping^2 ||x||^2.
template <class T>
Eigen::VectorXd dense_least_squares(const Csr<T>& a, const std::vector<T>& b, double damping = 0) {
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(a.rows() + a.cols(), a.cols());
  system.topRows(a.rows()) = Eigen::MatrixXd(to_eigen(a));
  for (std::int64_t j = 0; j < a.cols(); ++j) system(a.rows() + j, j) = damping;
  Eigen::VectorXd rhs = Eigen::VectorXd::Zero(a.rows() + a.cols());
  rhs.head(a.rows()) = to_eigen(b);
  return least_norm_solution(system, rhs, std::is_same_v<T, float> ? 1e-5 : 1e-10);
}

/// ||A'(b - A x)||, computed by Eigen in double.
template <class T>
double eigen_normal_residual(const Csr<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
  const auto A = to_eigen(a);
  return (Eigen::SparseMatrix<double>(A.transpose()) *
          Eigen::VectorXd(to_eigen(b) - A * to_eigen(x)))
      .norm();
}

}  // namespace tansolve::test
