// SPDX-License-Identifier: BSD-3-Clause
// The scaling of an operator by the roots of a diagonal.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/mass_scaled.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace tansolve {

template <class T, class B>
MassScaled<T, B>::MassScaled(const LinearOperator<T, B>& A, Span<const T, B> D)
    : LinearOperator<T, B>(A.context(), A.rows(), A.cols()),
      A_(&A),
      scale_(A.context(), D.size()),
      s_(A.context(), D.size()),
      t_(A.context(), D.size()) {
  if (D.size() != A.rows() || A.rows() != A.cols())
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is {} x {}, the mass has {} elements",
                                                         A.name(), A.rows(), A.cols(), D.size()));
  std::vector<T> elements(D.size());
  copy_to_host<T>(A.context(), D, elements);
  std::int64_t unfit = 0, first = 0;
  for (std::int64_t i = 0; i < D.size(); ++i) {
    const bool fits = elements[i] > 0 && std::isfinite(elements[i]);
    if (!fits && unfit++ == 0) first = i;
    if (fits) elements[i] = 1 / std::sqrt(elements[i]);
  }
  if (unfit > 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the mass is not positive definite: {} of {} diagonal elements are not "
                            "positive and finite, first in row {} (counting from 1): {}",
                            unfit, D.size(), first + 1, elements[first]));
  copy_from_host<T>(A.context(), elements, scale_.span());
}

template <class T, class B>
void MassScaled<T, B>::recover(Span<T, B> vectors) const {
  const std::int64_t n = this->rows();
  for (std::int64_t i = 0; i + n <= vectors.size(); i += n) {
    copy<T, B>(this->context(), vectors.subspan(i, n), s_.span());
    multiply<T, B>(this->context(), scale_, s_, vectors.subspan(i, n));
  }
}

template <class T, class B>
void MassScaled<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  multiply<T, B>(this->context(), scale_, x, s_.span());
  A_->apply(s_, t_);
  multiply<T, B>(this->context(), scale_, t_, y);
}

#define TANSOLVE_INSTANTIATE(T, B) template class MassScaled<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
