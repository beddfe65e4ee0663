// SPDX-License-Identifier: BSD-3-Clause
// The checks, counts and defaults of linear operators.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tansolve {

template <class T, class B>
void LinearOperator<T, B>::check(const char* what, Span<const T, B> in, std::int64_t in_size,
                                 Span<const T, B> out, std::int64_t out_size) const {
  if (in.size() != in_size || out.size() != out_size)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of {} ({} x {}): takes a vector of {} elements into one of {}, "
                            "but was given {} and {}",
                            what, name(), rows_, cols_, in_size, out_size, in.size(), out.size()));
  if (detail::overlap(in, out))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of {}: x and y overlap, they must be apart", what, name()));
}

template <class T, class B>
void LinearOperator<T, B>::apply(Span<const T, B> x, Span<T, B> y) const {
  check("apply", x, cols_, y, rows_);
  ++applications_;
  detail::count_product(*context_);
  detail::spoil(y);
  apply_impl(x, y);
}

template <class T, class B>
void LinearOperator<T, B>::apply(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const {
  check("apply", x, cols_, y, rows_);
  ++applications_;
  detail::count_product(*context_);
  if (beta == T(0)) detail::spoil(y);
  apply_impl(alpha, x, beta, y);
}

template <class T, class B>
void LinearOperator<T, B>::apply_dot(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const {
  if (rows_ != cols_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("apply_dot of {} ({} x {}): x'y needs a square operator", name(), rows_,
                            cols_));
  check("apply_dot", x, cols_, y, rows_);
  ++applications_;
  detail::count_product(*context_);
  detail::spoil(y);
  apply_dot_impl(x, y, xy);
}

template <class T, class B>
void LinearOperator<T, B>::apply_block(std::int64_t columns, Span<const T, B> X,
                                       Span<T, B> Y) const {
  if (columns < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("apply_block of {}: {} columns, there cannot be less than none", name(),
                            columns));
  check("apply_block", X, columns * cols_, Y, columns * rows_);
  applications_ += columns;
  for (std::int64_t c = 0; c < columns; ++c) detail::count_product(*context_);
  detail::spoil(Y);
  apply_block_impl(columns, X, Y);
}

template <class T, class B>
void LinearOperator<T, B>::apply_transposed(Span<const T, B> x, Span<T, B> y) const {
  check("apply_transposed", x, rows_, y, cols_);
  ++applications_;
  detail::count_product(*context_);
  detail::spoil(y);
  apply_transposed_impl(x, y);
}

template <class T, class B>
void LinearOperator<T, B>::diagonal(Span<T, B> d) const {
  if (d.size() != std::min(rows_, cols_))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("diagonal of {} ({} x {}): has {} elements, but was given {}", name(),
                            rows_, cols_, std::min(rows_, cols_), d.size()));
  detail::spoil(d);
  diagonal_impl(d);
}

template <class T, class B>
void LinearOperator<T, B>::apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const {
  if (beta == T(0)) {
    apply_impl(x, y);
    if (alpha != T(1)) scale(*context_, alpha, y);
    return;
  }
  if (!scratch_) scratch_ = std::make_unique<Vector<T, B>>(*context_, rows_);
  apply_impl(x, scratch_->span());
  axpby(*context_, alpha, *scratch_, beta, y);
}

template <class T, class B>
void LinearOperator<T, B>::apply_dot_impl(Span<const T, B> x, Span<T, B> y,
                                          Scalar<T, B>& xy) const {
  apply_impl(x, y);
  dot(*context_, x, y, xy);
}

template <class T, class B>
void LinearOperator<T, B>::apply_block_impl(std::int64_t columns, Span<const T, B> X,
                                            Span<T, B> Y) const {
  for (std::int64_t c = 0; c < columns; ++c)
    apply_impl(X.subspan(c * cols_, cols_), Y.subspan(c * rows_, rows_));
}

template <class T, class B>
void LinearOperator<T, B>::apply_transposed_impl(Span<const T, B>, Span<T, B>) const {
  throw Error(ErrorCode::not_supported,
              fmt::format("{} has no transposed product: override apply_transposed_impl", name()));
}

template <class T, class B>
void LinearOperator<T, B>::diagonal_impl(Span<T, B>) const {
  throw Error(ErrorCode::not_supported,
              fmt::format("{} does not know its diagonal: override diagonal_impl", name()));
}

#define TANSOLVE_INSTANTIATE(T, B) template class LinearOperator<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
