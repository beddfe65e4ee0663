// SPDX-License-Identifier: BSD-3-Clause
// Every solver of square systems as one list, and what must hold of any answer.
#pragma once

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/idr.hpp>

#include "solvers/krylov.hpp"

#include <Eigen/SVD>

#include <algorithm>
#include <string>
#include <vector>

namespace tansolve::test {

/// Kinds of matrices, each with those before it.
enum class Takes { definite, symmetric, general };

template <class T, class B>
struct AnySolver {
  std::string name;
  Takes takes;
  Report (*solve)(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,
                  const SolveOptions<T, B>&);
};

/// With a basis that holds the whole space.
template <class T, class B, BasisStorage storage, Reorthogonalize when = Reorthogonalize::always>
Report full_gmres(const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                  const SolveOptions<T, B>& options) {
  return gmres(A, b, x, options,
               KrylovBasis{.restart = 60, .storage = storage, .reorthogonalize = when});
}

/// The Krylov methods, those for several right-hand sides with one.
template <class T, class B>
std::vector<AnySolver<T, B>> every_solver() {
  using A = const LinearOperator<T, B>&;
  using In = Span<const T, B>;
  using Out = Span<T, B>;
  using Options = const SolveOptions<T, B>&;
  return {
      {"cg", Takes::definite, cg<T, B>},
      {"fcg", Takes::definite, fcg<T, B>},
      {"pseudo_block_cg", Takes::definite,
       [](A a, In b, Out x, Options options) {
         return pseudo_block_cg(a, 1, b, x, options).columns.front();
       }},
      {"block_cg", Takes::definite,
       [](A a, In b, Out x, Options options) {
         return block_cg(a, 1, b, x, options).columns.front();
       }},
      {"minres", Takes::symmetric, minres<T, B>},
      {"gmres", Takes::general, full_gmres<T, B, BasisStorage::working>},
      {"gmres, second passes when needed", Takes::general,
       full_gmres<T, B, BasisStorage::working, Reorthogonalize::needed>},
      {"gmres, a basis of fp32", Takes::general, full_gmres<T, B, BasisStorage::fp32>},
      {"gmres, a basis of fp16", Takes::general, full_gmres<T, B, BasisStorage::fp16>},
      {"fgmres", Takes::general,
       [](A a, In b, Out x, Options options) {
         return fgmres(a, b, x, options, KrylovBasis{.restart = 60});
       }},
      {"pseudo_block_gmres", Takes::general,
       [](A a, In b, Out x, Options options) {
         return pseudo_block_gmres(a, 1, b, x, options, KrylovBasis{.restart = 60}).columns.front();
       }},
      {"bicgstab", Takes::general, bicgstab<T, B>},
      {"pseudo_block_bicgstab", Takes::general,
       [](A a, In b, Out x, Options options) {
         return pseudo_block_bicgstab(a, 1, b, x, options).columns.front();
       }},
      {"idr", Takes::general,
       [](A a, In b, Out x, Options options) { return idr(a, b, x, options); }}};
}

/// A x = b with the x of least norm, by a dense singular value decomposition.
template <class T>
struct DenseAnswer {
  DenseAnswer(const Csr<T>& matrix, const std::vector<T>& b) {
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(dense(matrix),
                                                Eigen::ComputeThinU | Eigen::ComputeThinV);
    const auto& values = svd.singularValues();
    const double least = 1e-6 * values[0];
    x = Eigen::VectorXd::Zero(matrix.cols());
    for (Eigen::Index i = 0; i < values.size(); ++i) {
      if (values[i] <= least) continue;
      x += svd.matrixU().col(i).dot(to_eigen(b)) / values[i] * svd.matrixV().col(i);
      inverse_norm = 1 / values[i];
    }
  }
  Eigen::VectorXd x;
  double inverse_norm = 0;  ///< on the range of A
};

/// Checks that x is finite, that the report has its residual, and that nothing is said to have
/// converged that has not.
template <class T>
void check_truth(const Csr<T>& matrix, const std::vector<T>& b, const Answer<T>& answer) {
  const auto& [report, x] = answer;
  for (const T element : x) CHECK(std::isfinite(element));
  const double size = std::abs(
      *std::ranges::max_element(matrix.values(), {}, [](T value) { return std::abs(value); }));
  // Of the terms of A x, and of b.
  const double rounding =
      100 * std::numeric_limits<T>::epsilon() * (size * to_eigen(x).norm() + to_eigen(b).norm());
  CHECK(std::abs(report.true_residual - eigen_residual(matrix, b, x)) <= rounding);
  CHECK((report.true_residual <= report.threshold) == report.converged());
  CHECK(report.residual >= 0);
}

/// Checks a converged report, and x, of which nothing is left along null vectors.
template <class T>
void check_converged(const Csr<T>& matrix, const std::vector<T>& b, const Answer<T>& answer,
                     const std::vector<T>& x) {
  const Report& report = answer.report;
  CHECK(report.status == Status::converged);
  check_truth(matrix, b, answer);
  const DenseAnswer<T> expected(matrix, b);
  CHECK(within(x, expected.x, 1.2 * expected.inverse_norm * report.threshold));
}
template <class T>
void check_converged(const Csr<T>& matrix, const std::vector<T>& b, const Answer<T>& answer) {
  check_converged(matrix, b, answer, answer.x);
}

}  // namespace tansolve::test
