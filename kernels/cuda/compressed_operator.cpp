// SPDX-License-Identifier: BSD-3-Clause
// The compressed operator on the GPU.
#include <tansolve/kernels/cuda/compressed_operator.hpp>
#include <tansolve/kernels/cuda/fused_product.hpp>

#include <vector>

namespace tansolve {

template <class T>
CompressedOperator<T, Cuda>::CompressedOperator(Context<Cuda>& context,
                                                const CompressedMatrix<T>& matrix)
    : LinearOperator<T, Cuda>(context, matrix.rows(), matrix.cols()),
      matrix_(&matrix),
      device_(context, matrix) {}

template <class T>
void CompressedOperator<T, Cuda>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  apply_impl(T(1), x, T(0), y);
}

template <class T>
void CompressedOperator<T, Cuda>::apply_impl(T alpha, Span<const T, Cuda> x, T beta,
                                             Span<T, Cuda> y) const {
  detail::fused_product<T>(this->context(), matrix_->plan(), device_.view(), alpha, x.data(), beta,
                           y.data(), nullptr);
}

template <class T>
void CompressedOperator<T, Cuda>::apply_dot_impl(Span<const T, Cuda> x, Span<T, Cuda> y,
                                                 Scalar<T, Cuda>& xy) const {
  detail::fused_product<T>(this->context(), matrix_->plan(), device_.view(), T(1), x.data(), T(0),
                           y.data(), xy.data());
}

template <class T>
void CompressedOperator<T, Cuda>::diagonal_impl(Span<T, Cuda> d) const {
  std::vector<T> diagonal(d.size(), T(0));
  matrix_->for_each_nonzero([&](std::int64_t row, std::uint32_t, std::uint32_t column, T value) {
    if (row == column) diagonal[row] = value;
  });
  copy_from_host(this->context(), diagonal, d);
}

template class CompressedOperator<double, Cuda>;
template class CompressedOperator<float, Cuda>;

}  // namespace tansolve
