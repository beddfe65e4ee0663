// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients for symmetric positive definite systems.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// Solves A x = b for a symmetric positive definite A of n x n, with a symmetric positive definite
/// preconditioner M near the inverse of A, if options has one.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. Numerical outcomes are a status of
/// the report: indefinite_operator, indefinite_preconditioner, inconsistent (A p = 0 for a
/// direction with p'b > 0), breakdown (p'Ap = 0 otherwise, or r'Mr = 0), stagnated, diverged,
/// not_finite, iteration_limit, time_limit, cancelled; x is then the last iterate that a complete
/// step reached. Every report holds the true residual of the returned x, and a solve whose true
/// residual meets the tolerance is `converged`. When the recurrence's residual meets it and the
/// true one does not, the method restarts from the true one, until a restart has failed to halve
/// it.
///
/// On a GPU the host looks every 12 iterations, or down to 3 where the operators' launches are
/// many: a solve that is cancelled, diverges or runs out of time goes on for up to so many, which
/// x, the history and the counts include.
///
/// Residuals are iterated relative to the first one, so that b may be scaled by any number that
/// leaves b, A b and x finite and normal. Deterministic. Allocates nothing but the history on the
/// host. Throws Error(invalid_argument) for shapes, overlapping vectors, options out of range, a
/// wrong workspace. Concurrent solves need contexts, operators and workspaces of their own.
///
/// Source: Hestenes and Stiefel, J. Res. NBS 49 (1952); Saad, Iterative Methods, 2nd ed.,
/// algorithm 9.1.
template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options,
          std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What cg needs for n unknowns; more does no harm.
inline WorkspaceShape cg_workspace(std::int64_t n, bool preconditioned) {
  return {.size = n, .vectors = preconditioned ? 4 : 3, .scalars = 3 * detail::batch_size};
}

/// The bytes of that.
template <class T>
std::int64_t cg_workspace_bytes(std::int64_t n, bool preconditioned) {
  return cg_workspace(n, preconditioned).bytes<T>();
}

}  // namespace tansolve
