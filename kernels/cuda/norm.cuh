// SPDX-License-Identifier: BSD-3-Clause
// Norms whose squares neither overflow nor underflow, in one pass.
#pragma once

#include <tansolve/kernels/cuda/reduce.cuh>

namespace tansolve::detail {

// The squares of numbers too small or too large are summed apart, scaled by powers of two
// (Blue, ACM TOMS 4 (1978); Anderson, ACM TOMS 44 (2017), algorithm 978). Thresholds leave room for
// 2^50 terms: 2^-461 squared is above the least normal number over epsilon, 2^460 squared times
// 2^50 below the largest. Squares of floats need neither in double, but do no harm.

/// Adds x^2 to the sum of its size.
__device__ inline void add_square(double x, Sums<3>& sums) {
  constexpr double small = 0x1p-461, large = 0x1p460, up = 0x1p600, down = 0x1p-538;
  const double value = fabs(x);
  if (value > large)
    sums.of[2] += (value * down) * (value * down);
  else if (value < small)
    sums.of[0] += (value * up) * (value * up);
  else
    sums.of[1] += value * value;  // NaN, too
}

/// The root of what was added.
__device__ inline double norm_of(const Sums<3>& total) {
  constexpr double up = 0x1p600, down = 0x1p-538;
  const auto& [tiny, middle, huge] = total.of;
  if (isnan(middle)) return middle;
  if (huge > 0) return sqrt(huge + (middle * down) * down) / down;
  if (middle > 0) return sqrt(middle + (tiny / up) / up);
  return sqrt(tiny) / up;
}

}  // namespace tansolve::detail
