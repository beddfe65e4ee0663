// SPDX-License-Identifier: BSD-3-Clause
// Flexible conjugate gradients, for preconditioners that change from step to step.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// Solves A x = b for a symmetric positive definite A of n x n, with a preconditioner M near its
/// inverse that need be neither linear nor the same in every step: an inner solver, multigrid with
/// a nonlinear cycle. Only r'Mr > 0 is asked of it.
///
/// Arguments, statuses, restarts and errors are those of cg, scaling, determinism and the looks of
/// the host at a GPU too.
///
/// Source: Notay, SIAM J. Sci. Comput. 22 (2000), FCG(1); its beta is that of Polak and Ribiere.
template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options,
           std::type_identity_t<Workspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What fcg needs for n unknowns; more does no harm.
inline WorkspaceShape fcg_workspace(std::int64_t n, bool preconditioned) {
  return {.size = n, .vectors = preconditioned ? 4 : 3, .scalars = 3 * detail::batch_size + 1};
}

}  // namespace tansolve
