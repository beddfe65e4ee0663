// SPDX-License-Identifier: BSD-3-Clause
// The scaling of an operator by the roots of a diagonal.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/unfit_elements.hpp>
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
  const std::string unfit = detail::unfit_elements<T>(
      elements, "not positive and finite", [](T d) { return d > 0 && std::isfinite(d); });
  if (!unfit.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the mass is not positive definite: {}", unfit));
  for (T& element : elements) element = 1 / std::sqrt(element);
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
