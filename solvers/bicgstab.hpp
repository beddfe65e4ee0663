// SPDX-License-Identifier: BSD-3-Clause
// Stabilised biconjugate gradients for nonsymmetric systems.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// Solves A x = b for an A of n x n, with a preconditioner M near the inverse of A from the right,
/// if options has one: residuals are those of A x = b. An iteration takes two products.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. Numerical outcomes are a status of
/// the report: breakdown (r0'A M p = 0, omega = 0 or r0'r = 0, where a run from the true residual
/// had not reduced it; otherwise another run follows), stagnated, diverged, not_finite,
/// iteration_limit, time_limit, cancelled; x is then the last iterate that a complete step reached.
/// Every report holds the true residual of the returned x, and a solve whose true residual meets
/// the tolerance is `converged`. When the recurrence's residual meets it and the true one does not,
/// the method restarts from the true one, until a restart has failed to halve it.
///
/// `inconsistent` is said instead of breakdown or stagnated where the residual of the returned x is
/// orthogonal to the range of A up to rounding: x is a least-squares solution. The method does not
/// look for one, and mostly breaks down or diverges before that on systems without solution.
///
/// Residuals are iterated relative to the first one, so that b and A may be scaled by any number
/// that leaves b, A b and x finite and normal. On a GPU the host looks every batch_size iterations,
/// as cg has it. Deterministic. Allocates nothing but the history on the host. Throws
/// Error(invalid_argument) for shapes, overlapping vectors, options out of range, a wrong
/// workspace. Concurrent solves need contexts, operators and workspaces of their own.
///
/// Source: van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992).
template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options,
                std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What bicgstab needs for n unknowns; more does no harm.
inline WorkspaceShape bicgstab_workspace(std::int64_t n, bool preconditioned) {
  return {.size = n, .vectors = preconditioned ? 7 : 5, .scalars = 6 * detail::batch_size + 1};
}

}  // namespace tansolve
