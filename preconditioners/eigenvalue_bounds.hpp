// SPDX-License-Identifier: BSD-3-Clause
// Bounds of the eigenvalues of a symmetric operator that was scaled to a diagonal of 1.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <cstdint>

namespace tansolve {

struct EigenvalueBounds {
  double lower = 0;
  double upper = 0;
};

/// Factor on the largest Ritz value and its error bound: the eigenvalues above it that so few steps
/// have not found are near it.
inline constexpr double upper_bound_safety = 1.05;

/// The eigenvalues of W A W for a symmetric A and a diagonal W = diag(w), by `steps` steps of
/// Lanczos from a random vector: `lower` is the smallest Ritz value, which lies above the smallest
/// eigenvalue, `upper` is upper_bound_safety times the largest Ritz value plus the norm of its
/// residual. Costs a product and 18 passes over vectors a step; holds 4 vectors. Throws
/// Error(bad_input) where A yields numbers that are not finite, or a negative Ritz value (beyond
/// rounding), and so is not positive semidefinite.
template <class T, class B>
EigenvalueBounds estimate_bounds(const LinearOperator<T, B>& A, const Vector<T, B>& w, int steps,
                                 std::uint64_t seed);

/// The same where A need not be positive semidefinite: `lower` is the smallest Ritz value as it is.
template <class T, class B>
EigenvalueBounds estimate_symmetric_bounds(const LinearOperator<T, B>& A, const Vector<T, B>& w,
                                           int steps, std::uint64_t seed);

}  // namespace tansolve
