// SPDX-License-Identifier: BSD-3-Clause
// The plain CSR operator on the GPU.
#include <tansolve/kernels/cuda/csr_kernels.hpp>
#include <tansolve/kernels/cuda/csr_operator.hpp>
#include <tansolve/kernels/cuda/kernels.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <vector>

namespace tansolve {
namespace detail {

template <class T>
DeviceCsr<T>::DeviceCsr(Context<Cuda>& context, const Csr<T>& matrix)
    : offsets(context, std::ssize(matrix.offsets())),
      columns(context, matrix.nnz()),
      values(context, matrix.nnz()) {
  const auto send = [&](auto from, auto& to) {
    transfer(context, from.data(), to.span().data(), from.size_bytes());
  };
  send(matrix.offsets(), offsets);
  send(matrix.columns(), columns);
  send(matrix.values(), values);
}

template struct DeviceCsr<double>;
template struct DeviceCsr<float>;

}  // namespace detail

namespace {

template <class T>
void product(Context<Cuda>& context, const detail::DeviceCsr<T>& a, T alpha, const T* x, T beta,
             T* y) {
  detail::csr_apply(context, a.offsets.size() - 1, a.offsets.span().data(), a.columns.span().data(),
                    a.values.span().data(), alpha, x, beta, y);
}

}  // namespace

template <class T>
CsrOperator<T, Cuda>::CsrOperator(Context<Cuda>& context, const Csr<T>& matrix)
    : LinearOperator<T, Cuda>(context, matrix.rows(), matrix.cols()),
      matrix_(&matrix),
      device_(context, matrix) {}

template <class T>
void CsrOperator<T, Cuda>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  product(this->context(), device_, T(1), x.data(), T(0), y.data());
}

template <class T>
void CsrOperator<T, Cuda>::apply_impl(T alpha, Span<const T, Cuda> x, T beta,
                                      Span<T, Cuda> y) const {
  product(this->context(), device_, alpha, x.data(), beta, y.data());
}

template <class T>
void CsrOperator<T, Cuda>::apply_transposed_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  if (!transposed_)
    transposed_ = std::make_unique<detail::DeviceCsr<T>>(this->context(), transpose(*matrix_));
  product(this->context(), *transposed_, T(1), x.data(), T(0), y.data());
}

template <class T>
void CsrOperator<T, Cuda>::diagonal_impl(Span<T, Cuda> d) const {
  std::vector<T> diagonal(d.size());
  Context<Host> host;
  detail::csr_diagonal(host, *matrix_, diagonal.data());
  copy_from_host(this->context(), diagonal, d);
}

template class CsrOperator<double, Cuda>;
template class CsrOperator<float, Cuda>;

}  // namespace tansolve
