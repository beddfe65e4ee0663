// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts of products of blocks of vectors.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/block_kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <fmt/format.h>

namespace tansolve {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", name, why));
}

/// The elements of a column, of which both blocks have whole ones. A block without columns fits
/// any.
template <class T, class B>
std::int64_t column_size(const char* name, std::int64_t j, Span<const T, B> X, std::int64_t k,
                         Span<const T, B> Y) {
  const auto whole = [](std::int64_t count, std::int64_t size) {
    return count == 0 ? size == 0 : count > 0 && size % count == 0;
  };
  if (!whole(j, X.size()) || !whole(k, Y.size()))
    refuse(name, fmt::format("{} and {} elements are not {} and {} whole columns", X.size(),
                             Y.size(), j, k));
  const std::int64_t n = j > 0 ? X.size() / j : k > 0 ? Y.size() / k : 0;
  if (k > 0 && Y.size() / k != n)
    refuse(name, fmt::format("columns of {} and of {} elements, they must have the same size", n,
                             Y.size() / k));
  return n;
}

/// Passes over a block of `columns` that is read once for every `tile` columns of the other.
std::int64_t passes(std::int64_t columns, std::int64_t others, std::int64_t tile) {
  return columns * ((others + tile - 1) / tile);
}

}  // namespace

template <class T, class B>
void gram(Context<B>& context, std::int64_t j, In<T, B> X, std::int64_t k, In<T, B> Y,
          Span<double, B> G) {
  const std::int64_t n = column_size<T, B>("gram", j, X, k, Y);
  if (G.size() != j * k)
    refuse("gram", fmt::format("a result of {} elements, it must have {} x {}", G.size(), j, k));
  detail::count(context, n * (passes(j, k, detail::gram_tile) + passes(k, j, detail::gram_tile)),
                j * k);
  detail::gram(context, n, j, X.data(), k, Y.data(), G.data());
}

template <class T, class B>
void combine(Context<B>& context, std::int64_t j, In<T, B> X, In<T, B> C, std::type_identity_t<T> b,
             std::int64_t k, Span<T, B> Y) {
  const std::int64_t n = column_size<T, B>("combine", j, X, k, Y);
  if (C.size() != j * k)
    refuse("combine",
           fmt::format("a small matrix of {} elements, it must have {} x {}", C.size(), j, k));
  if (detail::overlap(X, Y) || detail::overlap(C, Y))
    refuse("combine", "a block that is written overlaps another");
  detail::count(context, n * (passes(j, k, detail::combine_tile) + (b == T(0) ? 1 : 2) * k));
  detail::combine(context, n, j, X.data(), C.data(), b, k, Y.data());
}

#define TANSOLVE_INSTANTIATE(T, B)                                                        \
  template void gram<T>(Context<B>&, std::int64_t, Span<const T, B>, std::int64_t,        \
                        Span<const T, B>, Span<double, B>);                               \
  template void combine(Context<B>&, std::int64_t, Span<const T, B>, Span<const T, B>, T, \
                        std::int64_t, Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
