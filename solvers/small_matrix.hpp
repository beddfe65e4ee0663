// SPDX-License-Identifier: BSD-3-Clause
// The small dense matrices inside block methods, on the host; all by columns.
#pragma once

#include <cstdint>
#include <span>

namespace tansolve::detail {

/// A = L L' in place, L in the lower triangle of the symmetric n x n matrix. Returns how many
/// pivots were above `rounding` times the largest diagonal element before one was not (n: all), and
/// that one.
struct CholeskyPivots {
  std::int64_t good;
  double bad;  ///< NaN where A is
};
CholeskyPivots cholesky(std::int64_t n, double rounding, std::span<double> A);

/// X = (L L')^-1 X for k columns.
void cholesky_solve(std::int64_t n, std::span<const double> L, std::int64_t k, std::span<double> X);

/// Of m vectors with the Gram matrix G, which is overwritten: an m x s matrix C such that the
/// vectors times C are orthonormal up to rounding and span what they span, s being their numerical
/// rank: each of the s leaves more than the root of `rounding` of itself beyond those before it.
/// Returns s, or -1 where G is not finite. L: scratch of m x m elements.
std::int64_t orthonormalising(std::int64_t m, double rounding, std::span<double> G,
                              std::span<double> L, std::span<double> C);

}  // namespace tansolve::detail
