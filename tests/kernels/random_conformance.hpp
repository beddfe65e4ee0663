// SPDX-License-Identifier: BSD-3-Clause
// What random vectors must be on every backend.
#pragma once

#include <tansolve/kernels/random_vector.hpp>

#include "support/backends.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace tansolve::test {

TEST_CASE_TEMPLATE_DEFINE("random vectors are the same on every backend, for all seeds different",
                          S, random_vectors) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const std::int64_t n : {0, 1, 100'000}) {
    Vector<T, B> x(context, n), y(context, n);
    fill_random(context, 1, x.span());
    fill_random(context, 2, y.span());
    const auto first = download(context, x), second = download(context, y);
    double sum = 0, squares = 0;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      wrong += first[i] != static_cast<T>(detail::random_element(detail::scramble(1), i));
      wrong += !(std::abs(first[i]) <= 1);
      sum += first[i];
      squares += first[i] * first[i];
    }
    CHECK(wrong == 0);
    if (n < 100) continue;
    // Six standard deviations of uniform variables' mean and mean square.
    CHECK(std::abs(sum / n) < 6 * std::sqrt(1.0 / 3 / n));
    CHECK(std::abs(squares / n - 1.0 / 3) < 6 * std::sqrt(4.0 / 45 / n));
    for (const std::int64_t shift : {-1, 0, 1}) CHECK(first[n / 2] != second[n / 2 + shift]);
  }
}

}  // namespace tansolve::test
