// SPDX-License-Identifier: BSD-3-Clause
// The public primitives and transfers: the contract is checked here, once for all backends.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/checked/kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/host/kernels.hpp>
#include <tansolve/kernels/primitives.hpp>
#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/kernels.hpp>
#endif

#include <fmt/format.h>

#include <initializer_list>

namespace tansolve {
namespace {

/// Throws unless all views have n elements and none that is written overlaps another.
template <class T, class B>
void check(const char* name, std::initializer_list<Span<const T, B>> written,
           std::initializer_list<Span<const T, B>> read = {}) {
  const std::int64_t n = written.begin()->size();
  const auto require = [&](Span<const T, B> view, Span<const T, B> other) {
    if (view.size() != n)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: vectors of {} and of {} elements, they must have the same size",
                              name, n, view.size()));
    if (detail::overlap(view, other))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: a vector that is written overlaps another", name));
  };
  for (const auto* w = written.begin(); w != written.end(); ++w) {
    for (const auto* other = w + 1; other != written.end(); ++other) require(*other, *w);
    for (const auto& other : read) require(other, *w);
  }
}

}  // namespace

template <class T, class B>
void fill(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x) {
  detail::count(context, x.size());
  detail::fill(context, x.size(), a, x.data());
}

template <class T, class B>
void copy(Context<B>& context, In<T, B> x, Span<T, B> y) {
  check<T, B>("copy", {y}, {x});
  detail::count(context, 2 * y.size());
  detail::copy(context, y.size(), x.data(), y.data());
}

template <class T, class B>
void scale(Context<B>& context, std::type_identity_t<T> a, Span<T, B> x) {
  detail::count(context, 2 * x.size());
  detail::scale(context, x.size(), a, x.data());
}

template <class T, class B>
void axpby(Context<B>& context, std::type_identity_t<T> a, In<T, B> x, std::type_identity_t<T> b,
           Span<T, B> y) {
  check<T, B>("axpby", {y}, {x});
  detail::count(context, (b == T(0) ? 2 : 3) * y.size());
  detail::axpby(context, y.size(), a, x.data(), b, y.data());
}

template <class T, class B>
void axpbypcz(Context<B>& context, std::type_identity_t<T> a, In<T, B> x, std::type_identity_t<T> b,
              In<T, B> y, std::type_identity_t<T> c, Span<T, B> z) {
  check<T, B>("axpbypcz", {z}, {x, y});
  detail::count(context, (c == T(0) ? 3 : 4) * z.size());
  detail::axpbypcz(context, z.size(), a, x.data(), b, y.data(), c, z.data());
}

template <class T, class U, class B>
void convert(Context<B>& context, T a, In<T, B> x, Span<U, B> y) {
  if (x.size() != y.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("convert: {} elements into a vector of {}", x.size(), y.size()));
  if (detail::overlap(x, y))
    throw Error(ErrorCode::invalid_argument, "convert: x and y overlap, they must be apart");
  detail::count(context, 2 * x.size());
  detail::convert(context, x.size(), a, x.data(), y.data());
}

template <class T, class B>
void multiply(Context<B>& context, In<T, B> x, In<T, B> y, Span<T, B> z) {
  check<T, B>("multiply", {z}, {x, y});
  detail::count(context, 3 * z.size());
  detail::multiply(context, z.size(), x.data(), y.data(), z.data());
}

template <class T, class B>
void dot(Context<B>& context, In<T, B> x, In<T, B> y, Scalar<T, B>& result) {
  if (x.size() != y.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("dot: vectors of {} and of {} elements, they must have the same size",
                            x.size(), y.size()));
  detail::count(context, 2 * x.size(), 1);
  detail::dot(context, x.size(), x.data(), y.data(), result.data());
}

template <class T, class B>
void norm2(Context<B>& context, In<T, B> x, Scalar<T, B>& result) {
  detail::count(context, x.size(), 1);
  detail::norm2(context, x.size(), x.data(), result.data());
}

template <class T, class B>
void cg_residual(Context<B>& context, const CgStep<T, B>& step, In<T, B> q, Span<T, B> r,
                 Scalar<T, B>& rr_next) {
  check<T, B>("cg_residual", {r}, {q});
  detail::count(context, 3 * r.size(), 1);
  detail::cg_residual(context, r.size(), detail::CgPointers<T>(step), q.data(), r.data(),
                      rr_next.data());
}

template <class T, class B>
void cg_direction(Context<B>& context, const CgStep<T, B>& step,
                  const std::type_identity_t<Ratio<T, B>>& beta, const Scalar<T, B>& rr, In<T, B> z,
                  Span<T, B> p, Span<T, B> x) {
  check<T, B>("cg_direction", {p, x}, {z});
  detail::count(context, 5 * p.size());
  detail::cg_direction(context, p.size(), detail::CgPointers<T>(step),
                       detail::RatioPointers<T>(beta), rr.data(), z.data(), p.data(), x.data());
}

template <class T, class B>
void copy_from_host(Context<B>& context, std::type_identity_t<std::span<const T>> from,
                    Span<T, B> to) {
  if (std::ssize(from) != to.size())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("copy_from_host: {} elements into a vector of {}", from.size(), to.size()));
  detail::transfer(context, from.data(), to.data(), from.size_bytes());
}

template <class T, class B>
void copy_to_host(Context<B>& context, In<T, B> from, std::span<T> to) {
  if (std::ssize(to) != from.size())
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("copy_to_host: a vector of {} into {} elements", from.size(), to.size()));
  detail::transfer(context, from.data(), to.data(), to.size_bytes());
}

template <class T, class B>
T read(Context<B>& context, const Scalar<T, B>& scalar) {
  T value;
  detail::transfer(context, scalar.data(), &value, sizeof(T));
  return value;
}

template <class T, class B>
void write(Context<B>& context, std::type_identity_t<T> value, Scalar<T, B>& scalar) {
  detail::transfer(context, &value, scalar.data(), sizeof(T));
}

/// The other one of the two value types.
template <class T>
using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template void fill(Context<B>&, T, Span<T, B>);                                               \
  template void copy(Context<B>&, Span<const T, B>, Span<T, B>);                                \
  template void scale(Context<B>&, T, Span<T, B>);                                              \
  template void axpby(Context<B>&, T, Span<const T, B>, T, Span<T, B>);                         \
  template void axpbypcz(Context<B>&, T, Span<const T, B>, T, Span<const T, B>, T, Span<T, B>); \
  template void convert(Context<B>&, T, Span<const T, B>, Span<Other<T>, B>);                   \
  template void multiply(Context<B>&, Span<const T, B>, Span<const T, B>, Span<T, B>);          \
  template void dot(Context<B>&, Span<const T, B>, Span<const T, B>, Scalar<T, B>&);            \
  template void norm2(Context<B>&, Span<const T, B>, Scalar<T, B>&);                            \
  template void cg_residual(Context<B>&, const CgStep<T, B>&, Span<const T, B>, Span<T, B>,     \
                            Scalar<T, B>&);                                                     \
  template void cg_direction(Context<B>&, const CgStep<T, B>&, const Ratio<T, B>&,              \
                             const Scalar<T, B>&, Span<const T, B>, Span<T, B>, Span<T, B>);    \
  template void copy_from_host(Context<B>&, std::span<const T>, Span<T, B>);                    \
  template void copy_to_host(Context<B>&, Span<const T, B>, std::span<T>);                      \
  template T read(Context<B>&, const Scalar<T, B>&);                                            \
  template void write(Context<B>&, T, Scalar<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
