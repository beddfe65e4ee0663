// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts of the vector work of least-squares methods.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/bidiagonal_kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <fmt/format.h>

#include <initializer_list>

namespace tansolve {
namespace {

/// Throws unless the views have one size and none overlaps another.
template <class T, class B>
void check(const char* name, std::initializer_list<Span<const T, B>> views) {
  for (const auto* a = views.begin(); a != views.end(); ++a)
    for (const auto* b = a + 1; b != views.end(); ++b) {
      if (a->size() != b->size())
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{}: vectors of {} and of {} elements, they must have the same "
                                "size",
                                name, a->size(), b->size()));
      if (detail::overlap(*a, *b))
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{}: a vector that is written overlaps another", name));
    }
}

}  // namespace

template <class T, class B>
void bidiagonal_step(Context<B>& context, const Scalar<T, B>& a, In<T, B> p, Span<T, B> u,
                     Scalar<T, B>& norm) {
  check<T, B>("bidiagonal_step", {u, p});
  detail::count(context, 3 * u.size(), 1);
  detail::bidiagonal_step(context, u.size(), a.data(), p.data(), u.data(), norm.data());
}

template <class T, class B>
void lsqr_step(Context<B>& context, const std::type_identity_t<LsqrScalars<T>>& s, Span<T, B> v,
               Span<T, B> w, Span<T, B> x, Scalar<T, B>& norm) {
  check<T, B>("lsqr_step", {v, w, x});
  detail::count(context, 6 * x.size(), 1);
  detail::lsqr_step(context, x.size(), s, v.data(), w.data(), x.data(), norm.data());
}

template <class T, class B>
void lsmr_step(Context<B>& context, const std::type_identity_t<LsmrScalars<T>>& s, Span<T, B> v,
               Span<T, B> h, Span<T, B> hbar, Span<T, B> x) {
  check<T, B>("lsmr_step", {v, h, hbar, x});
  detail::count(context, 8 * x.size());
  detail::lsmr_step(context, x.size(), s, v.data(), h.data(), hbar.data(), x.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                                \
  template void bidiagonal_step(Context<B>&, const Scalar<T, B>&, Span<const T, B>, Span<T, B>,   \
                                Scalar<T, B>&);                                                   \
  template void lsqr_step(Context<B>&, const LsqrScalars<T>&, Span<T, B>, Span<T, B>, Span<T, B>, \
                          Scalar<T, B>&);                                                         \
  template void lsmr_step(Context<B>&, const LsmrScalars<T>&, Span<T, B>, Span<T, B>, Span<T, B>, \
                          Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
