// SPDX-License-Identifier: BSD-3-Clause
// The CSR operator on the host backends.
#include <tansolve/kernels/checked/kernels.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/host/kernels.hpp>

namespace tansolve {

template <class T, class B>
CsrOperator<T, B>::CsrOperator(Context<B>& context, const Csr<T>& matrix)
    : LinearOperator<T, B>(context, matrix.rows(), matrix.cols()),
      matrix_(&matrix),
      parts_(detail::csr_parts(context, matrix)) {}

template <class T, class B>
void CsrOperator<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  detail::csr_apply<T>(this->context(), *matrix_, parts_, T(1), x.data(), T(0), y.data());
}

template <class T, class B>
void CsrOperator<T, B>::apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const {
  detail::csr_apply<T>(this->context(), *matrix_, parts_, alpha, x.data(), beta, y.data());
}

template <class T, class B>
void CsrOperator<T, B>::apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const {
  detail::csr_apply_dot<T>(this->context(), *matrix_, parts_, x.data(), y.data(), xy.data());
}

template <class T, class B>
void CsrOperator<T, B>::apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const {
  detail::csr_apply_transposed<T>(this->context(), *matrix_, x.data(), y.data());
}

template <class T, class B>
void CsrOperator<T, B>::diagonal_impl(Span<T, B> d) const {
  detail::csr_diagonal<T>(this->context(), *matrix_, d.data());
}

template class CsrOperator<double, Host>;
template class CsrOperator<float, Host>;
template class CsrOperator<double, Checked>;
template class CsrOperator<float, Checked>;

}  // namespace tansolve
