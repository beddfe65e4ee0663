// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: every product with A serves all of them.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <iosfwd>
#include <type_traits>
#include <vector>

namespace tansolve {

/// What became of each right-hand side, and of all together.
struct MultiReport {
  /// One a column. operator_applications counts the products that a column took part in, its looks
  /// and true residuals; seconds go from the common start until the column was done;
  /// workspace_bytes are those of all.
  std::vector<Report> columns;
  std::int64_t products = 0;        ///< with A, of single vectors: what all columns cost together
  std::int64_t block_products = 0;  ///< calls in which several of them, or one, were made at once

  double seconds = 0;  ///< until the last column was done, set-up of the workspace aside

  bool solved() const;
};

/// The columns' reports one after another.
std::ostream& operator<<(std::ostream& out, const MultiReport& report);

// All of these, and block_cg, solve A X = B for an A of n x n and k columns, one after another in B
// and in X, each of which carries its guess in and its answer out. The reports are those that the
// method for one column would give: every one holds the true residual of its own x, `converged` is
// said of that alone, and a column that is done, or broke down, leaves the block and costs no more
// products. The monitor is called for every column and iteration; false stops that column.
// Deterministic. Allocate nothing but histories and small things on the host. Throw
// Error(invalid_argument) for shapes, overlap, options out of range, a wrong workspace.

/// cg for every column on its own, with the products of a step taken together: per column the
/// iterations, and up to rounding the x, of cg.
template <class T, class B>
MultiReport pseudo_block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                            std::type_identity_t<Span<const T, B>> b,
                            std::type_identity_t<Span<T, B>> x,
                            const std::type_identity_t<SolveOptions<T, B>>& options,
                            std::type_identity_t<Workspace<T, B>>& work);

/// bicgstab, likewise.
template <class T, class B>
MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>& A, std::int64_t columns,
                                  std::type_identity_t<Span<const T, B>> b,
                                  std::type_identity_t<Span<T, B>> x,
                                  const std::type_identity_t<SolveOptions<T, B>>& options,
                                  std::type_identity_t<Workspace<T, B>>& work);

/// The same with workspaces of their own.
template <class T, class B>
MultiReport pseudo_block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                            std::type_identity_t<Span<const T, B>> b,
                            std::type_identity_t<Span<T, B>> x,
                            const std::type_identity_t<SolveOptions<T, B>>& options = {});
template <class T, class B>
MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>& A, std::int64_t columns,
                                  std::type_identity_t<Span<const T, B>> b,
                                  std::type_identity_t<Span<T, B>> x,
                                  const std::type_identity_t<SolveOptions<T, B>>& options = {});

/// What they need for n unknowns; more does no harm.
inline WorkspaceShape pseudo_block_cg_workspace(std::int64_t n, std::int64_t columns,
                                                bool preconditioned) {
  return {.size = n * columns, .vectors = preconditioned ? 5 : 4, .scalars = 3 * columns};
}
inline WorkspaceShape pseudo_block_bicgstab_workspace(std::int64_t n, std::int64_t columns,
                                                      bool preconditioned) {
  return {.size = n * columns, .vectors = preconditioned ? 8 : 6, .scalars = 2 * columns};
}

}  // namespace tansolve
