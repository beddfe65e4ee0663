// SPDX-License-Identifier: BSD-3-Clause
// Induced dimension reduction for nonsymmetric systems.
#pragma once

#include <tansolve/kernels/idr_state.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tansolve {

/// The space that residuals are made orthogonal to: spanned by `dimension` random vectors, from 1
/// to 16 and at most the number of unknowns. More of them need fewer products and more memory;
/// with 1 the method is about BiCGSTAB.
struct IdrShadow {
  std::int64_t dimension = 4;
  std::uint64_t seed = 1;
};

/// Solves A x = b for an A of n x n, with a preconditioner M near the inverse of A from the right,
/// if options has one: residuals are those of A x = b. An iteration takes one product.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. Numerical outcomes are a status of
/// the report: breakdown (p'g = 0 or omega = 0, where a run from the true residual had not reduced
/// it; otherwise another run follows), stagnated, diverged, not_finite, iteration_limit,
/// time_limit, cancelled; x is then the last iterate that a complete step reached. Every report
/// holds the true residual of the returned x, and a solve whose true residual meets the tolerance
/// is `converged`. When the recurrence's residual meets it and the true one does not, the method
/// restarts from the true one, until a restart has failed to halve it.
///
/// `inconsistent` is said instead of breakdown or stagnated where the residual of the returned x is
/// orthogonal to the range of A up to rounding: x is a least-squares solution. The method does not
/// look for one, and mostly breaks down or diverges before that on systems without solution.
///
/// Residuals are iterated relative to the first one, so that b and A may be scaled by any number
/// that leaves b, A b and x finite and normal. On a GPU the host looks every few whole cycles of
/// dimension + 1 iterations, those that batch_size holds but one at least, as cg has it.
/// Deterministic. Allocates nothing but the history on the host. Throws Error(invalid_argument) for
/// shapes, overlapping vectors, options out of range, a wrong workspace. Concurrent solves need
/// contexts, operators and workspaces of their own.
///
/// Source: van Gijzen and Sonneveld, ACM TOMS 38 (2011), algorithm 913: biorthogonal residuals.
template <class T, class B>
Report idr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options, IdrShadow shadow,
           std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report idr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options = {}, IdrShadow shadow = {});

/// What idr needs for n unknowns; more does no harm.
inline WorkspaceShape idr_workspace(std::int64_t n, bool preconditioned, IdrShadow shadow = {}) {
  const std::int64_t s = std::min(n, shadow.dimension);
  // The state, in the narrowest scalars there are, and two of the iteration.
  constexpr std::int64_t state = sizeof(IdrState) / sizeof(float);
  return {.size = n, .vectors = 3 * s + (preconditioned ? 3 : 2), .scalars = state + 2};
}

}  // namespace tansolve
