// SPDX-License-Identifier: BSD-3-Clause
// Rounding to fewer bits, so that what a preconditioner multiplies by takes fewer bytes.
#pragma once

#include <cmath>

namespace tansolve::detail {

/// To the nearest with `bits` bits behind the leading one, at most 52.
inline double rounded(double value, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
}

}  // namespace tansolve::detail
