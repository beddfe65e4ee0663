// SPDX-License-Identifier: BSD-3-Clause
// Random numbers whose bits are the same on every platform, in streams that any thread can open.
#pragma once

#include <cmath>
#include <cstdint>

namespace tansolve::detail {

// The distributions of <random> and the functions of libm differ from platform to platform. What
// follows uses only operations that IEEE 754 rounds exactly, and is compiled without contraction to
// FMA.

/// log x of a finite x > 0, to 2 ulp: with x = 2^e m, sqrt(1/2) <= m < sqrt(2) and s = (m - 1) / (m
/// + 1), log m = 2 (s + s^3/3 + s^5/5 + ...), where s^2 < 0.0295, so that s^25 is below half an ulp
/// of s.
inline double portable_log(double x) {
  constexpr double log2 = 0x1.62e42fefa39efp-1;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 11; k >= 0; --k) sum = sum * s2 + 1.0 / (2 * k + 1);
  return exponent * log2 + 2 * s * sum;
}

/// e^x for |x| < 700, to 4 ulp and the error of x / log 2: with x = n log 2 + r, |r| <= 0.35, the
/// Taylor series of e^r, whose term r^15 / 15! is below 2^-60.
inline double portable_exp(double x) {
  constexpr double log2 = 0x1.62e42fefa39efp-1;
  const double n = std::floor(x / log2 + 0.5);
  const double r = x - n * log2;
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * (r / k);
  return std::ldexp(sum, static_cast<int>(n));
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). A stream for each row or edge makes every row
/// independent of the thread that generates it.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(mix(seed + step) + stream)) {}

  std::uint64_t next() { return mix(state_ += step); }

  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  /// In [0, bound), 0 < bound < 2^31: uneven by less than 2^-22.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(uniform() * static_cast<double>(bound));
  }

  /// Standard normal, by Marsaglia's polar method, two at a time.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u = 0, v = 0, square = 0;
    do {
      u = 2 * uniform() - 1;
      v = 2 * uniform() - 1;
      square = u * u + v * v;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * portable_log(square) / square);
    spare_ = v * factor;
    has_spare_ = true;
    return u * factor;
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace tansolve::detail
