// SPDX-License-Identifier: BSD-3-Clause
// The norm of a vector whose sum of squares another pass has made.
#pragma once

#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <cmath>

namespace tansolve::detail {

/// The norm of x from its sum of squares, unless squares may have left the range.
template <class T>
void take_root(Context<Host>& context, double sum, std::int64_t n, const T* x, T* norm) {
  if (std::isfinite(sum) && sum > safe_sum_of_squares)
    *norm = static_cast<T>(std::sqrt(sum));
  else
    norm2(context, n, x, norm);
}

}  // namespace tansolve::detail
