// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts of the vector work of IDR(s).
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/idr_kernels.hpp>
#include <tansolve/kernels/same_size.hpp>

#include <fmt/format.h>

namespace tansolve {
namespace {

/// The pointers of a space that fits vectors of n elements and step k.
template <class T, class B>
detail::IdrPointers<T> checked(const char* name, const IdrSpace<T, B>& space, std::int64_t n,
                               std::int64_t k = 0) {
  const auto s = std::ssize(space.p);
  bool fits = space.state.size() == 1 && s >= 1 && s <= IdrState::most &&
              std::ssize(space.g) == s && std::ssize(space.u) == s && k >= 0 && k < s;
  for (const auto& family : {space.p, space.g, space.u})
    for (const Span<T, B>& vector : family) fits = fits && vector.size() == n;
  if (!fits)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: step {} of {}, {} and {} vectors, there must be as many of each, 1 "
                    "to {}, of {} elements like the others, and a state",
                    name, k, s, space.g.size(), space.u.size(), IdrState::most, n));
  return detail::IdrPointers<T>(space);
}

/// Throws where a written vector overlaps one of a family from the `first` on.
template <class T, class B>
void require_apart(const char* name, Span<const T, B> written, std::span<const Span<T, B>> family,
                   std::int64_t first = 0) {
  for (const Span<T, B>& vector : family.subspan(first))
    detail::require_same_size<T, B>(name, written, {vector});
}

}  // namespace

template <class T, class B>
void idr_begin(Context<B>& context, const IdrSpace<T, B>& space, In<T, B> r) {
  const auto in = checked("idr_begin", space, r.size());
  detail::count(context, (in.s + 1) * r.size(), in.s + 1);
  detail::idr_begin(context, r.size(), in, r.data());
}

template <class T, class B>
void idr_rest(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, In<T, B> r,
              Span<T, B> v) {
  const auto in = checked("idr_rest", space, r.size(), k);
  detail::require_same_size<T, B>("idr_rest", v, {r});
  require_apart<T, B>("idr_rest", v, space.g);
  detail::count(context, (in.s - k + 2) * r.size());
  detail::idr_rest(context, r.size(), in, static_cast<int>(k), r.data(), v.data());
}

template <class T, class B>
void idr_direction(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, In<T, B> z) {
  const auto in = checked("idr_direction", space, z.size(), k);
  detail::require_same_size<T, B>("idr_direction", space.u[k], {z});
  require_apart<T, B>("idr_direction", space.u[k], space.u, k + 1);
  detail::count(context, (in.s - k + 2) * z.size());
  detail::idr_direction(context, z.size(), in, static_cast<int>(k), false, z.data());
}

template <class T, class B>
void idr_rest_direction(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k,
                        In<T, B> r) {
  const auto in = checked("idr_rest_direction", space, r.size(), k);
  detail::require_same_size<T, B>("idr_rest_direction", space.u[k], {r});
  require_apart<T, B>("idr_rest_direction", space.u[k], space.u, k + 1);
  require_apart<T, B>("idr_rest_direction", space.u[k], space.g);
  detail::count(context, (2 * (in.s - k) + 2) * r.size());
  detail::idr_direction(context, r.size(), in, static_cast<int>(k), true, r.data());
}

template <class T, class B>
void idr_image(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k) {
  const std::int64_t n = space.p.empty() ? 0 : space.p[0].size();
  const auto in = checked("idr_image", space, n, k);
  detail::count(context, (in.s + 1) * n, in.s + 1);
  detail::idr_image(context, n, in, static_cast<int>(k));
}

template <class T, class B>
void idr_step(Context<B>& context, const IdrSpace<T, B>& space, std::int64_t k, Span<T, B> x,
              Span<T, B> r) {
  const auto in = checked("idr_step", space, r.size(), k);
  detail::require_same_size<T, B>("idr_step", x, {r});
  for (const auto& family : {space.g, space.u}) {
    require_apart<T, B>("idr_step", x, family);
    require_apart<T, B>("idr_step", r, family);
    require_apart<T, B>("idr_step", family[k], family.first(k));
  }
  detail::require_same_size<T, B>("idr_step", space.g[k], {space.u[k]});
  detail::count(context, (2 * k + 8) * r.size(), 1);
  detail::idr_step(context, r.size(), in, static_cast<int>(k), x.data(), r.data());
}

template <class T, class B>
void idr_last_step(Context<B>& context, const IdrSpace<T, B>& space, const Scalar<T, B>& rt,
                   const Scalar<T, B>& t_norm, In<T, B> y, In<T, B> t, Span<T, B> x, Span<T, B> r) {
  const bool along_r = y.data() == r.data();
  const auto in = checked("idr_last_step", space, r.size());
  detail::require_same_size<T, B>("idr_last_step", x, {y, t, r});
  detail::require_same_size<T, B>("idr_last_step", r, {t});
  if (!along_r) detail::require_same_size<T, B>("idr_last_step", r, {y});
  require_apart<T, B>("idr_last_step", x, space.p);
  require_apart<T, B>("idr_last_step", r, space.p);
  detail::count(context, (in.s + (along_r ? 5 : 6)) * r.size(), in.s + 1);
  detail::idr_last_step(context, r.size(), in, rt.data(), t_norm.data(),
                        along_r ? nullptr : y.data(), t.data(), x.data(), r.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                                 \
  template void idr_begin(Context<B>&, const IdrSpace<T, B>&, Span<const T, B>);                   \
  template void idr_rest(Context<B>&, const IdrSpace<T, B>&, std::int64_t, Span<const T, B>,       \
                         Span<T, B>);                                                              \
  template void idr_direction(Context<B>&, const IdrSpace<T, B>&, std::int64_t, Span<const T, B>); \
  template void idr_rest_direction(Context<B>&, const IdrSpace<T, B>&, std::int64_t,               \
                                   Span<const T, B>);                                              \
  template void idr_image(Context<B>&, const IdrSpace<T, B>&, std::int64_t);                       \
  template void idr_step(Context<B>&, const IdrSpace<T, B>&, std::int64_t, Span<T, B>,             \
                         Span<T, B>);                                                              \
  template void idr_last_step(Context<B>&, const IdrSpace<T, B>&, const Scalar<T, B>&,             \
                              const Scalar<T, B>&, Span<const T, B>, Span<const T, B>, Span<T, B>, \
                              Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
