// SPDX-License-Identifier: BSD-3-Clause
// The compressed operator on the GPU.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/array_product.hpp>
#include <tansolve/kernels/cuda/compressed_operator.hpp>
#include <tansolve/kernels/cuda/fused_product.hpp>

#include <algorithm>
#include <vector>

namespace tansolve {

template <class T>
CompressedOperator<T, Cuda>::CompressedOperator(Context<Cuda>& context,
                                                const CompressedMatrix<T>& matrix)
    : LinearOperator<T, Cuda>(context, matrix.rows(), matrix.cols()), matrix_(&matrix) {
  refresh();
}

template <class T>
void CompressedOperator<T, Cuda>::refresh() {
  streams_.reset();
  arrays_.reset();
  if (is_stream(matrix_->plan().coding))
    streams_ = std::make_unique<detail::DeviceMatrix<T>>(this->context(), *matrix_);
  else
    arrays_ = std::make_unique<detail::ArrayMatrix<T>>(this->context(), *matrix_);
  plan_ = matrix_->plan();
}

template <class T>
void CompressedOperator<T, Cuda>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  apply_impl(T(1), x, T(0), y);
}

template <class T>
void CompressedOperator<T, Cuda>::apply_impl(T alpha, Span<const T, Cuda> x, T beta,
                                             Span<T, Cuda> y) const {
  product(detail::ProductVectors<T>::one(alpha, x.data(), beta, y.data(), nullptr));
}

template <class T>
void CompressedOperator<T, Cuda>::apply_dot_impl(Span<const T, Cuda> x, Span<T, Cuda> y,
                                                 Scalar<T, Cuda>& xy) const {
  product(detail::ProductVectors<T>::one(T(1), x.data(), T(0), y.data(), xy.data()));
}

template <class T>
void CompressedOperator<T, Cuda>::apply_block_impl(std::int64_t columns, Span<const T, Cuda> X,
                                                   Span<T, Cuda> Y) const {
  for (std::int64_t c = 0; c < columns; c += detail::most_block_columns) {
    const auto count =
        static_cast<int>(std::min<std::int64_t>(columns - c, detail::most_block_columns));
    product(detail::ProductVectors<T>::block(count, X.data() + c * this->cols(), this->cols(),
                                             Y.data() + c * this->rows(), this->rows()));
  }
}

template <class T>
void CompressedOperator<T, Cuda>::product(const detail::ProductVectors<T>& vectors) const {
  if (streams_ != nullptr)
    detail::fused_product<T>(this->context(), plan_, streams_->view(), vectors);
  else if (arrays_ != nullptr)
    detail::array_product<T>(this->context(), plan_.coding, arrays_->view(), vectors);
  else
    throw Error(ErrorCode::device, "dtans: refresh() failed and left no matrix on the GPU");
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
