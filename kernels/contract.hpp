// SPDX-License-Identifier: BSD-3-Clause
// The checks and counts that the public functions of every backend share.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <cstring>
#include <functional>

namespace tansolve::detail {

/// Whether two views share an element.
template <class T, class U, class B>
bool overlap(Span<T, B> a, Span<U, B> b) {
  const std::less<const void*> before;
  return a.size() > 0 && b.size() > 0 && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

/// What the Checked backend counts of the vectors that a function passes over; nothing on the
/// others.
template <class B>
void count([[maybe_unused]] Context<B>& context, [[maybe_unused]] std::int64_t elements,
           [[maybe_unused]] std::int64_t reductions = 0) {
  if constexpr (std::is_same_v<B, Checked>) {
    context.counters().elements += elements;
    context.counters().reductions += reductions;
  }
}

/// The same for an operator application; its passes are counted by what carries it out.
template <class B>
void count_product([[maybe_unused]] Context<B>& context) {
  if constexpr (std::is_same_v<B, Checked>) ++context.counters().products;
}

/// On the Checked backend, fills with NaN what an operator is about to overwrite.
template <class T, class B>
void spoil([[maybe_unused]] Span<T, B> y) {
  if constexpr (std::is_same_v<B, Checked>)
    if (y.size() > 0) std::memset(y.data(), 0xff, y.size() * sizeof(T));
}

}  // namespace tansolve::detail
