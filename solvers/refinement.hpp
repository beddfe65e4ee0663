// SPDX-License-Identifier: BSD-3-Clause
// Iterative refinement: corrections solved for in fp32, residuals in fp64.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <functional>

namespace tansolve {

/// Solves A d = r approximately in fp32, from d = 0, with whatever solver, preconditioner and
/// tolerance; each correction reduces the residual by about its relative residual. 1 <= ||r|| < 2,
/// whatever the scale of the system.
///
///     [&](auto r, auto d) { return cg(A32, r, d, {.rtol = 1e-3}, work32); }
template <class B>
using InnerSolver = std::function<Report(Span<const float, B> r, Span<float, B> d)>;

/// Solves A x = b to the accuracy of fp64, while products that dominate, those of `inner`, read a
/// matrix of half the bytes: A32 is A rounded. Converges where A32 is near A by comparison with the
/// condition of A, at most about 1e7.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. An iteration is a correction: 1
/// product, 12 passes over fp64 vectors with its 2 included and 3 over fp32 ones, and what `inner`
/// does, whose iterations the report counts apart; the residuals of history are true. Ends
/// `stagnated` with the outcome of `inner` as a detail where a correction does not halve the
/// residual; not_finite, with the x before it, where it is not finite. Of the options those for
/// stopping and the monitor count. Throws Error(invalid_argument) for shapes, overlapping vectors,
/// options out of range, a preconditioner (it belongs to `inner`), wrong workspaces. Allocates what
/// `inner` does.
///
/// Source: Moler, J. ACM 14 (1967).
template <class B>
Report refine(const LinearOperator<double, B>& A, const std::type_identity_t<InnerSolver<B>>& inner,
              std::type_identity_t<Span<const double, B>> b,
              std::type_identity_t<Span<double, B>> x,
              const std::type_identity_t<SolveOptions<double, B>>& options,
              std::type_identity_t<Workspace<double, B>>& work,
              std::type_identity_t<Workspace<float, B>>& inner_work);

/// The same with workspaces of its own.
template <class B>
Report refine(const LinearOperator<double, B>& A, const std::type_identity_t<InnerSolver<B>>& inner,
              std::type_identity_t<Span<const double, B>> b,
              std::type_identity_t<Span<double, B>> x,
              const std::type_identity_t<SolveOptions<double, B>>& options = {});

/// What refine needs for n unknowns, in fp64 and in fp32.
inline WorkspaceShape refinement_workspace(std::int64_t n) {
  return {.size = n, .vectors = 2, .scalars = 1};
}

}  // namespace tansolve
