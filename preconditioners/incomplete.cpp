// SPDX-License-Identifier: BSD-3-Clause
// Solves with both factors, one after the other.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/held_bytes.hpp>
#include <tansolve/preconditioners/incomplete.hpp>

#include <type_traits>

namespace tansolve {
namespace {

template <class T>
std::unique_ptr<const IncompleteFactors<T>> factored(const Csr<T>& A, bool cholesky, double shift) {
  return std::make_unique<IncompleteFactors<T>>(cholesky ? incomplete_cholesky(A, shift)
                                                         : incomplete_lu(A, shift));
}

}  // namespace

template <class T, class B>
Incomplete<T, B>::Incomplete(Context<B>& context, const Csr<T>& A, Kind kind, double shift)
    : LinearOperator<T, B>(context, A.rows(), A.cols()),
      kind_(kind),
      factors_(factored(A, kind == Kind::cholesky, shift)),
      lower_(context, factors_->lower, Triangle::lower),
      upper_(context, factors_->upper, Triangle::upper),
      between_(context, A.rows()) {}

template <class T, class B>
std::int64_t Incomplete<T, B>::bytes() const {
  const std::int64_t factors =
      detail::held_bytes(factors_->lower) + detail::held_bytes(factors_->upper) - host_bytes();
  return factors + lower_.bytes() + upper_.bytes() +
         this->rows() * static_cast<std::int64_t>(sizeof(T));
}

template <class T, class B>
std::int64_t Incomplete<T, B>::host_bytes() const {
  if (!std::is_same_v<B, Cuda>) return 0;
  return detail::held_bytes(factors_->lower) + detail::held_bytes(factors_->upper);
}

template <class T, class B>
void Incomplete<T, B>::apply_impl(Span<const T, B> r, Span<T, B> z) const {
  lower_.apply(r, between_.span());
  upper_.apply(between_, z);
}

#define TANSOLVE_INSTANTIATE(T, B) template class Incomplete<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
