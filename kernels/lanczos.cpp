// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts of the vector work of Lanczos methods.
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos_kernels.hpp>
#include <tansolve/kernels/same_size.hpp>

namespace tansolve {

template <class T, class B>
void lanczos_step(Context<B>& context, const Scalar<T, B>& alpha, const Scalar<T, B>& beta,
                  In<T, B> p, In<T, B> u, Span<T, B> u_old, Scalar<T, B>& norm) {
  detail::require_same_size<T, B>("lanczos_step", u_old, {p, u});
  detail::count(context, 4 * u_old.size(), 1);
  detail::lanczos_step(context, u_old.size(), alpha.data(), beta.data(), p.data(), u.data(),
                       u_old.data(), norm.data());
}

template <class T, class B>
void divide(Context<B>& context, const Scalar<T, B>& a, Span<T, B> x) {
  detail::count(context, 2 * x.size());
  detail::divide(context, x.size(), a.data(), x.data());
}

template <class T, class B>
void minres_step(Context<B>& context, const MinresStep<T, B>& step, In<T, B> v, In<T, B> d,
                 Span<T, B> d_old, Span<T, B> x, Scalar<T, B>& u_norm) {
  detail::require_same_size<T, B>("minres_step", d_old, {v, d, x});
  detail::require_same_size<T, B>("minres_step", x, {v, d});
  detail::count(context, 6 * x.size(), 1);
  detail::minres_step(context, x.size(), detail::MinresPointers<T>(step), v.data(), d.data(),
                      d_old.data(), x.data(), u_norm.data());
}

template <class T, class B>
void minres_residual(Context<B>& context, std::type_identity_t<Span<const MinresState, B>> state,
                     In<T, B> u, Span<T, B> q, Scalar<T, B>& norm) {
  detail::require_same_size<T, B>("minres_residual", q, {u});
  detail::count(context, 3 * q.size(), 1);
  detail::minres_residual(context, q.size(), state.data(), u.data(), q.data(), norm.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                           \
  template void lanczos_step(Context<B>&, const Scalar<T, B>&, const Scalar<T, B>&,          \
                             Span<const T, B>, Span<const T, B>, Span<T, B>, Scalar<T, B>&); \
  template void divide(Context<B>&, const Scalar<T, B>&, Span<T, B>);                        \
  template void minres_step(Context<B>&, const MinresStep<T, B>&, Span<const T, B>,          \
                            Span<const T, B>, Span<T, B>, Span<T, B>, Scalar<T, B>&);        \
  template void minres_residual(Context<B>&, Span<const MinresState, B>, Span<const T, B>,   \
                                Span<T, B>, Scalar<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
