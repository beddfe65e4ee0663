// SPDX-License-Identifier: BSD-3-Clause
// A system on a backend, solved in one line.
#pragma once

#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/cg.hpp>

#include "support/backends.hpp"
#include "support/elements.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tansolve::test {

template <class T>
struct Answer {
  Report report;
  std::vector<T> x;
};

/// Runs cg on a backend from the guess x0.
template <class T, class B>
Answer<T> solve_from(const LinearOperator<T, B>& A, const std::vector<T>& x0,
                     const std::vector<T>& b,
                     const std::type_identity_t<SolveOptions<T, B>>& options = {}) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  auto x = upload(context, x0);
  Report report = cg(A, device_b, x, options);
  return {std::move(report), download(context, x)};
}

template <class T, class B>
Answer<T> solve(const LinearOperator<T, B>& A, const std::type_identity_t<std::vector<T>>& b,
                const std::type_identity_t<SolveOptions<T, B>>& options = {}) {
  return solve_from(A, std::vector<T>(A.rows(), T(0)), b, options);
}

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
  return random_elements<T>(n, seed);
}

template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

}  // namespace tansolve::test
