// SPDX-License-Identifier: BSD-3-Clause
// Passes products on to a matrix or to its transpose.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/with_transpose.hpp>

#include <fmt/format.h>

namespace tansolve {

template <class T, class B>
WithTranspose<T, B>::WithTranspose(const LinearOperator<T, B>& A,
                                   const LinearOperator<T, B>& transpose)
    : LinearOperator<T, B>(A.context(), A.rows(), A.cols()), A_(&A), transpose_(&transpose) {
  if (transpose.rows() != A.cols() || transpose.cols() != A.rows())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the transpose of {} ({} x {}) is {} x {}, it must be {} x {}", A.name(),
                    A.rows(), A.cols(), transpose.rows(), transpose.cols(), A.cols(), A.rows()));
  if (&transpose.context() != &A.context())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the transpose of {} is of another context", A.name()));
}

template <class T, class B>
void WithTranspose<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  A_->apply(x, y);
}

template <class T, class B>
void WithTranspose<T, B>::apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const {
  A_->apply(alpha, x, beta, y);
}

template <class T, class B>
void WithTranspose<T, B>::apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const {
  A_->apply_dot(x, y, xy);
}

template <class T, class B>
void WithTranspose<T, B>::apply_block_impl(std::int64_t columns, Span<const T, B> X,
                                           Span<T, B> Y) const {
  A_->apply_block(columns, X, Y);
}

template <class T, class B>
void WithTranspose<T, B>::apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const {
  transpose_->apply(x, y);
}

template <class T, class B>
void WithTranspose<T, B>::diagonal_impl(Span<T, B> d) const {
  A_->diagonal(d);
}

#define TANSOLVE_INSTANTIATE(T, B) template class WithTranspose<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
