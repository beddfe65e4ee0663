// SPDX-License-Identifier: BSD-3-Clause
// Small symmetric eigenproblems by Eigen, behind an interface that does not show it.
#include <tansolve/codec/error.hpp>
#include <tansolve/solvers/symmetric_eigen.hpp>

#include <Eigen/Eigenvalues>

namespace tansolve::detail {

struct SymmetricEigen::Matrices {
  explicit Matrices(std::int64_t most) : a(most, most), solver(most) {}
  Eigen::MatrixXd a;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
};

SymmetricEigen::SymmetricEigen(std::int64_t most) : matrices_(std::make_unique<Matrices>(most)) {}
SymmetricEigen::SymmetricEigen(SymmetricEigen&&) noexcept = default;
SymmetricEigen::~SymmetricEigen() = default;

std::int64_t SymmetricEigen::bytes(std::int64_t most) {
  return 2 * most * most * std::int64_t{sizeof(double)};
}

void SymmetricEigen::solve(std::int64_t k, const double* a, std::int64_t stride) {
  matrices_->a.resize(k, k);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = 0; i <= j; ++i) matrices_->a(j, i) = a[j * stride + i];
  if (matrices_->solver.compute(matrices_->a).info() != Eigen::Success)
    throw Error(ErrorCode::internal, "the eigenvalues of a small matrix were not found");
}

double SymmetricEigen::value(std::int64_t i) const {
  return matrices_->solver.eigenvalues()[i];
}

const double* SymmetricEigen::vector(std::int64_t i) const {
  return matrices_->solver.eigenvectors().col(i).data();
}

}  // namespace tansolve::detail
