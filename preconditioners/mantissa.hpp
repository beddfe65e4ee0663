// SPDX-License-Identifier: BSD-3-Clause
// Rounding to fewer bits, so that what a preconditioner multiplies by takes fewer bytes.
#pragma once

#include <bit>
#include <cstdint>

namespace tansolve::detail {

/// To the nearest with `bits` bits behind the leading one, from 1 to 52, of two such the even one.
inline double rounded(double value, int bits) {
  const auto word = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t exponent = word >> 52 & 0x7ff;
  const int dropped = 52 - bits;
  if (dropped <= 0 || value == 0 || exponent == 0x7ff) return value;
  if (exponent == 0) return rounded(value * 0x1p64, bits) * 0x1p-64;  // subnormal
  const std::uint64_t last = std::uint64_t{1} << dropped;
  // A carry out of the mantissa is one of the exponent, as it should be.
  const std::uint64_t up = (last >> 1) - 1 + (word >> dropped & 1);
  return std::bit_cast<double>((word + up) & ~(last - 1));
}

}  // namespace tansolve::detail
