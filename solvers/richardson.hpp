// SPDX-License-Identifier: BSD-3-Clause
// The stationary iteration of a preconditioner, such as multigrid by itself.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// x += M (b - A x) until the residual is small, M being the preconditioner of the options (the
/// identity without one). Converges where the spectral radius of I - M A is below 1, as for a
/// symmetric positive definite A by multigrid; for such A and M, cg takes fewer iterations.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. All residuals are true ones.
/// Numerical outcomes are a status of the report: diverged, not_finite (x is then the last finite
/// iterate), iteration_limit, time_limit, cancelled. An iteration costs a product, an application
/// of M and 10 passes over vectors, those of the product included; the host reads the norm.
/// Allocates nothing but the history on the host. Throws Error(invalid_argument) for shapes,
/// overlapping vectors, options out of range, a wrong workspace.
template <class T, class B>
Report richardson(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                  std::type_identity_t<Span<T, B>> x,
                  const std::type_identity_t<SolveOptions<T, B>>& options,
                  std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report richardson(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                  std::type_identity_t<Span<T, B>> x,
                  const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What richardson needs for n unknowns.
inline WorkspaceShape richardson_workspace(std::int64_t n) {
  return {.size = n, .vectors = 2, .scalars = 1};
}

}  // namespace tansolve
