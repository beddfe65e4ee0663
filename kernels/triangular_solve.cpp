// SPDX-License-Identifier: BSD-3-Clause
// Substitution on the host backends.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/triangular_solve.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tansolve {

template <class T>
void detail::require_triangular(const Csr<T>& A, Triangle triangle) {
  if (A.rows() != A.cols())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("triangular solve: the matrix is {} x {}, it must be square", A.rows(),
                            A.cols()));
  std::int64_t refused = 0, first = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    const std::int64_t begin = A.offsets()[i], end = A.offsets()[i + 1];
    const std::int64_t k = triangle == Triangle::lower ? end - 1 : begin;  // columns are sorted
    const bool fit =
        begin < end && A.columns()[k] == i && A.values()[k] != 0 && std::isfinite(A.values()[k]);
    if (!fit && refused++ == 0) first = i;
  }
  if (refused > 0)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("triangular solve: {} of {} rows do not {} with a diagonal element that "
                    "is finite and not zero, the first is row {} (counting from 1)",
                    refused, A.rows(), triangle == Triangle::lower ? "end" : "begin", first + 1));
}

template <class T, class B>
TriangularSolve<T, B>::TriangularSolve(Context<B>& context, const Csr<T>& A, Triangle triangle)
    : LinearOperator<T, B>(context, A.rows(), A.cols()), matrix_(&A), triangle_(triangle) {
  detail::require_triangular(A, triangle);
}

template <class T, class B>
void TriangularSolve<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  detail::count(this->context(), x.size() + y.size());
  const std::int64_t* offsets = matrix_->offsets().data();
  const std::int32_t* columns = matrix_->columns().data();
  const T* values = matrix_->values().data();
  const T* from = x.data();
  T* to = y.data();
  const auto row_without = [&](std::int64_t first, std::int64_t last) {
    T sum = 0;
    for (std::int64_t k = first; k < last; ++k) sum += values[k] * to[columns[k]];
    return sum;
  };
  if (triangle_ == Triangle::lower)
    for (std::int64_t i = 0; i < this->rows(); ++i)
      to[i] = (from[i] - row_without(offsets[i], offsets[i + 1] - 1)) / values[offsets[i + 1] - 1];
  else
    for (std::int64_t i = this->rows() - 1; i >= 0; --i)
      to[i] = (from[i] - row_without(offsets[i] + 1, offsets[i + 1])) / values[offsets[i]];
}

template void detail::require_triangular(const Csr<double>&, Triangle);
template void detail::require_triangular(const Csr<float>&, Triangle);
template class TriangularSolve<double, Host>;
template class TriangularSolve<float, Host>;
template class TriangularSolve<double, Checked>;
template class TriangularSolve<float, Checked>;

}  // namespace tansolve
