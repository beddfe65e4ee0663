// SPDX-License-Identifier: BSD-3-Clause
// The step of a polynomial: its checks, and its loop on the host backends.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/polynomial_step.hpp>
#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/polynomial_step.hpp>
#endif

#include <fmt/format.h>

namespace tansolve {
namespace detail {
namespace {

template <class T>
void steps_in_range(std::int64_t first, std::int64_t last, T a, const T* d, const T* r, const T* w,
                    T b, const T* z, T c, T* z_old) {
  if (c == T(0))
    for (std::int64_t i = first; i < last; ++i) z_old[i] = a * (d[i] * (r[i] - w[i])) + b * z[i];
  else
    for (std::int64_t i = first; i < last; ++i)
      z_old[i] = a * (d[i] * (r[i] - w[i])) + b * z[i] + c * z_old[i];
}

}  // namespace

template <class T>
void polynomial_step(Context<Host>& context, std::int64_t n, T a, const T* d, const T* r,
                     const T* w, T b, const T* z, T c, T* z_old) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    steps_in_range(first, last, a, d, r, w, b, z, c, z_old);
  });
}

template <class T>
void polynomial_step(Context<Checked>&, std::int64_t n, T a, const T* d, const T* r, const T* w,
                     T b, const T* z, T c, T* z_old) {
  steps_in_range<T>(0, n, a, d, r, w, b, z, c, z_old);
}

}  // namespace detail

template <class T, class B>
void polynomial_step(Context<B>& context, std::type_identity_t<T> a, In<T, B> d, In<T, B> r,
                     In<T, B> w, std::type_identity_t<T> b, In<T, B> z, std::type_identity_t<T> c,
                     Span<T, B> z_old) {
  for (const Span<const T, B>& read : {d, r, w, z})
    if (read.size() != z_old.size() || detail::overlap(read, z_old))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("polynomial_step: vectors of {} and {} elements, they must have the "
                              "same size and z_old must overlap no other",
                              read.size(), z_old.size()));
  detail::count(context, (c == T(0) ? 5 : 6) * z_old.size());
  detail::polynomial_step(context, z_old.size(), a, d.data(), r.data(), w.data(), b, z.data(), c,
                          z_old.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                  \
  template void polynomial_step(Context<B>&, T, Span<const T, B>, Span<const T, B>, \
                                Span<const T, B>, T, Span<const T, B>, T, Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
