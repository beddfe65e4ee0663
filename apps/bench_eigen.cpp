// SPDX-License-Identifier: BSD-3-Clause
// Eigen's product, the yardstick on the host, apart because it takes long to compile.
#include "bench.hpp"

#include <tansolve/codec/eigen.hpp>

#include <Eigen/SparseCore>

#include <memory>

namespace tansolve::app {

template <class T>
std::function<void()> eigen_product(const Csr<T>& matrix, int threads, const T* x, T* y) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
  using Column = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  Eigen::setNbThreads(threads);
  const auto A = std::make_shared<const Matrix>(to_eigen<Matrix>(matrix));
  return [A, x, y] {
    Eigen::Map<Column>(y, A->rows()).noalias() = *A * Eigen::Map<const Column>(x, A->cols());
  };
}

template std::function<void()> eigen_product(const Csr<double>&, int, const double*, double*);
template std::function<void()> eigen_product(const Csr<float>&, int, const float*, float*);

}  // namespace tansolve::app
