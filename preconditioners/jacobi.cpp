// SPDX-License-Identifier: BSD-3-Clause
// Checks, inverts and applies a diagonal.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/jacobi.hpp>

#include <vector>

namespace tansolve {

template <class T, class B>
Jacobi<T, B>::Jacobi(Context<B>& context, const LinearOperator<T, B>& A)
    : LinearOperator<T, B>(context, A.rows(), A.cols()), inverse_(context, A.rows()) {
  detail::require_square("jacobi", A.name(), A);
  A.diagonal(inverse_);
  invert();
}

template <class T, class B>
Jacobi<T, B>::Jacobi(Context<B>& context, Span<const T, B> diagonal)
    : LinearOperator<T, B>(context, diagonal.size(), diagonal.size()),
      inverse_(context, diagonal.size()) {
  copy(context, diagonal, inverse_.span());
  invert();
}

template <class T, class B>
void Jacobi<T, B>::invert() {
  std::vector<T> d(inverse_.size());
  copy_to_host<T>(this->context(), inverse_, d);
  detail::require_diagonal<T>("jacobi", d, detail::without_inverse, detail::has_inverse<T>);
  for (T& element : d) element = 1 / element;
  copy_from_host(this->context(), d, inverse_.span());
}

template <class T, class B>
void Jacobi<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  multiply(this->context(), inverse_, x, y);
}

template <class T, class B>
void Jacobi<T, B>::apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const {
  apply_impl(x, y);
}

template <class T, class B>
void Jacobi<T, B>::diagonal_impl(Span<T, B> d) const {
  copy(this->context(), inverse_, d);
}

#define TANSOLVE_INSTANTIATE(T, B) template class Jacobi<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
