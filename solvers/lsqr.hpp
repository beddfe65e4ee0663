// SPDX-License-Identifier: BSD-3-Clause
// LSQR for least squares and for systems of any shape.
#pragma once

#include <tansolve/solvers/least_squares.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>

#include <type_traits>

namespace tansolve {

/// Minimises ||b - A x||, or solves A x = b, for any A that has a transposed product: tall, wide,
/// square, of any rank. Each iterate has the least residual over a growing Krylov space, as that of
/// conjugate gradients on A'A x = A'b, without the rounding of these.
///
/// x carries the guess in and the answer out; without damping, b = 0 gives x = 0. From x0 = 0
/// the answer is the one of least norm. How it ended:
/// - `converged`: the true residual ||b - A x|| was recomputed and meets rtol and atol;
/// - `inconsistent` with least_squares->found: no x does, and this one is a least-squares solution:
///   A'r was recomputed and meets LeastSquares::normal_rtol. Report::solved() is true of both;
/// - `stagnated`: neither is met where the recurrence's estimates are, and restarts from the true
///   residual no longer halve either; `breakdown`: the condition limit; not_finite,
///   iteration_limit, time_limit, cancelled, diverged. x is then the last iterate that a complete
///   step reached.
///
/// With damping, residuals and A are those of the system (A; damping I) x = (b; damping x0), which
/// mostly has no solution, and the end is `inconsistent` with `found` again.
///
/// Deterministic. Allocates nothing but the history on the host. Throws Error(invalid_argument) for
/// shapes, overlapping vectors, options out of range, a preconditioner, a wrong workspace, and
/// Error(not_supported) where A has no transposed product (see WithTranspose). Concurrent solves
/// need contexts, operators and workspaces of their own.
///
/// Source: Paige and Saunders, ACM TOMS 8 (1982), with their stopping rules.
template <class T, class B>
Report lsqr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem,
            std::type_identity_t<LeastSquaresWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report lsqr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options = {},
            const std::type_identity_t<LeastSquares<T>>& problem = {});

}  // namespace tansolve
