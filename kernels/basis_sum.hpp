// SPDX-License-Identifier: BSD-3-Clause
// How every backend sums V h, to the same bits.
#pragma once

#include <tansolve/kernels/unit_half.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tansolve::detail {

/// The vectors of V that are summed before w changes.
inline constexpr std::int64_t basis_run = 32;

/// Their sums are floats where V has 16 bits an element: far more exact than V is, and a GPU
/// converts few numbers to double at a time.
template <class T, class S>
using RunSum = std::conditional_t<std::is_same_v<S, UnitHalf>, float, T>;

/// What w and the sums of a run are added in.
template <class T, class S>
using RunTotal = std::conditional_t<std::is_same_v<S, UnitHalf>, double, T>;

/// The biased exponent of |x|.
constexpr int exponent_bits(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ffU);
}

/// A power of two that numbers are divided by so that floats hold the greatest of them, and its
/// inverse. Exponents from 2 to 2044 leave both normal; an infinity or NaN stays what it is.
struct PowerOfTwo {
  static constexpr int least = 2, greatest = 2044;
  int exponent = least;  // biased

  static constexpr PowerOfTwo near(int exponent) {
    return {exponent < least ? least : exponent > greatest ? greatest : exponent};
  }
  constexpr double value() const { return of(exponent); }
  constexpr double inverse() const { return of(2046 - exponent); }

 private:
  static constexpr double of(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << 52);
  }
};

/// The scale of coefficients whose greatest biased exponent is `exponent`: 1 where sums are not
/// narrower than T.
template <class T, class S>
constexpr PowerOfTwo run_scale(int exponent) {
  if constexpr (std::is_same_v<RunSum<T, S>, RunTotal<T, S>>)
    return {1023};
  else
    return PowerOfTwo::near(exponent);
}

/// h_j as the sums of a run take it.
template <class T, class S>
constexpr RunSum<T, S> run_factor(T h, PowerOfTwo scale) {
  using Total = RunTotal<T, S>;
  return static_cast<RunSum<T, S>>(static_cast<Total>(h) * static_cast<Total>(scale.inverse()));
}

/// w + sign scale sum
template <class T, class S>
constexpr T add_run(T w, T sign, PowerOfTwo scale, RunSum<T, S> sum) {
  using Total = RunTotal<T, S>;
  const Total amount = static_cast<Total>(sign) * static_cast<Total>(scale.value());
  return static_cast<T>(static_cast<Total>(w) + amount * static_cast<Total>(sum));
}

}  // namespace tansolve::detail
