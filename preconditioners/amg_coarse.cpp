// SPDX-License-Identifier: BSD-3-Clause
// A dense Cholesky factorisation, or eigenvalues where it fails.
#include <tansolve/codec/error.hpp>
#include <tansolve/preconditioners/amg_coarse.hpp>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace tansolve::detail {
namespace {

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& S, double singular) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(S);
  const Eigen::VectorXd& values = eigen.eigenvalues();
  const double cut = singular * values[values.size() - 1];
  if (!(values[0] >= -cut))
    throw Error(ErrorCode::bad_input,
                fmt::format("amg: the matrix is not positive definite: on the coarsest level, "
                            "scaled to a diagonal of 1, it has an eigenvalue of {:.3g}",
                            values[0]));
  const Eigen::VectorXd inverses =
      values.unaryExpr([&](double value) { return value > cut ? 1 / value : 0; });
  return eigen.eigenvectors() * inverses.asDiagonal() * eigen.eigenvectors().transpose();
}

}  // namespace

Csr<double> dense_inverse(const Csr<double>& A, const std::vector<double>& inverse_diagonal,
                          double singular) {
  const std::int64_t n = A.rows();
  Eigen::MatrixXd S = Eigen::MatrixXd::Zero(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      S(i, A.columns()[k]) = A.values()[k];
  const Eigen::VectorXd scale =
      Eigen::Map<const Eigen::VectorXd>(inverse_diagonal.data(), n).cwiseSqrt();
  S = scale.asDiagonal() * S * scale.asDiagonal();
  const Eigen::LLT<Eigen::MatrixXd> cholesky(S);
  const bool regular = n == 0 || (cholesky.info() == Eigen::Success && cholesky.rcond() > singular);
  Eigen::MatrixXd X = regular ? cholesky.solve(Eigen::MatrixXd::Identity(n, n)).eval()
                              : pseudo_inverse(S, singular);
  X = scale.asDiagonal() * X * scale.asDiagonal();

  std::vector<std::int64_t> offsets(n + 1);
  std::vector<std::int32_t> columns(n * n);
  std::vector<double> values(n * n);
  for (std::int64_t i = 0; i < n; ++i) {
    offsets[i + 1] = (i + 1) * n;
    std::iota(columns.begin() + i * n, columns.begin() + (i + 1) * n, 0);
    for (std::int64_t j = 0; j < n; ++j) values[i * n + j] = (X(i, j) + X(j, i)) / 2;
  }
  return Csr<double>(n, n, std::move(offsets), std::move(columns), std::move(values));
}

}  // namespace tansolve::detail
