// SPDX-License-Identifier: BSD-3-Clause
// Random vectors that are the same on every backend and with every standard library.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <cstdint>

namespace tansolve {

namespace detail {

/// SplitMix64's output function: every bit of the result depends on every bit of z.
constexpr std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

/// Element i of the sequence that starts at `state`: uniform in [-1, 1), a multiple of 2^-52.
constexpr double random_element(std::uint64_t state, std::int64_t i) {
  const std::uint64_t bits =
      scramble(state + (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15U);
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

}  // namespace detail

/// Elements uniform in [-1, 1), rounded to T. The same on every backend; allocates nothing, and is
/// asynchronous on devices.
///
/// Source: Steele, Lea and Flood, OOPSLA 2014, whose sequence may be entered anywhere.
template <class T, class B>
void fill_random(Context<B>& context, std::uint64_t seed, Span<T, B> x);

}  // namespace tansolve
