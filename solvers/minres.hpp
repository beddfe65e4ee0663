// SPDX-License-Identifier: BSD-3-Clause
// MINRES for symmetric systems, definite, indefinite or singular.
#pragma once

#include <tansolve/kernels/minres_state.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// Solves A x = b for a symmetric A of n x n, which may be indefinite or singular, with a symmetric
/// positive definite preconditioner M near the inverse of |A|, if options has one. Without M each
/// iterate has the least residual over a growing Krylov space; with M, the least in the norm
/// (r'Mr)^(1/2), while the report's residuals are 2-norms as always.
///
/// Where A is singular and b in its range, from x0 = 0 and without M the answer is the solution of
/// least norm. Where b is not in the range the status is `inconsistent`, and x a least-squares
/// solution, once the true residual is orthogonal to the range of A up to rounding; where rounding
/// is reached before that, `stagnated`.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. Numerical outcomes are a status of
/// the report: also indefinite_preconditioner, breakdown (r'Mr = 0), not_finite, diverged,
/// iteration_limit, time_limit, cancelled; x is then the last iterate that a complete step reached.
/// Every report holds the true residual of the returned x, and a solve whose true residual meets
/// the tolerance is `converged`. When the recurrence's residual meets it and the true one does not,
/// the method restarts from the true one, until a restart has failed to halve it.
///
/// On a GPU the host looks every batch_size iterations, as cg has it. Deterministic. Allocates
/// nothing but the history on the host. Throws Error(invalid_argument) for shapes, overlapping
/// vectors, options out of range, a wrong workspace. Concurrent solves need contexts, operators and
/// workspaces of their own.
///
/// Source: Paige and Saunders, SIAM J. Numer. Anal. 12 (1975); Choi, Paige and Saunders, SIAM J.
/// Sci. Comput. 33 (2011), for singular systems.
template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options,
              std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What minres needs for n unknowns; more does no harm.
inline WorkspaceShape minres_workspace(std::int64_t n, bool preconditioned) {
  // A batch of states, in the narrowest scalars there are, with a norm each; 4 that do not pile up.
  constexpr std::int64_t state = sizeof(MinresState) / sizeof(float) + 1;
  return {.size = n, .vectors = preconditioned ? 7 : 5, .scalars = detail::batch_size * state + 4};
}

/// The bytes of that.
template <class T>
std::int64_t minres_workspace_bytes(std::int64_t n, bool preconditioned) {
  return minres_workspace(n, preconditioned).bytes<T>();
}

}  // namespace tansolve
