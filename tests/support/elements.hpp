// SPDX-License-Identifier: BSD-3-Clause
// Random elements of vectors, and what a refusal threw.
#pragma once

#include <tansolve/codec/error.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace tansolve::test {

/// Standard normal.
template <class T>
std::vector<T> random_elements(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> elements(n);
  for (T& element : elements) element = static_cast<T>(normal(random));
  return elements;
}

template <class Body>
ErrorCode code_thrown_by(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("nothing was thrown");
  return ErrorCode::internal;
}

}  // namespace tansolve::test
