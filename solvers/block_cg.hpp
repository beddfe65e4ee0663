// SPDX-License-Identifier: BSD-3-Clause
// Block conjugate gradients for several right-hand sides of a symmetric positive definite system.
#pragma once

#include <tansolve/solvers/block.hpp>

#include <cstdint>
#include <type_traits>

namespace tansolve {

/// The memory of block_cg: 5 vectors a column, and small matrices. Everything is allocated here,
/// but for small things on the host.
template <class T, class B>
class BlockCgWorkspace {
 public:
  /// Throws Error(out_of_memory).
  BlockCgWorkspace(Context<B>& context, std::int64_t n, std::int64_t columns)
      : vectors(context, shape(n, columns)),
        gram(context, columns * columns),
        small(context, columns * columns) {}

  static WorkspaceShape shape(std::int64_t n, std::int64_t columns) {
    return {.size = n * columns, .vectors = 5, .scalars = 2 * columns};
  }
  std::int64_t bytes() const {
    return vectors.bytes() + gram.size() * std::int64_t{sizeof(double)} +
           small.size() * std::int64_t{sizeof(T)};
  }

  Workspace<T, B> vectors;
  Vector<double, B> gram;  ///< products of two blocks
  Vector<T, B> small;      ///< what a block is multiplied by
};

/// Solves A X = B as the solvers of block.hpp do, for a symmetric positive definite A, with a
/// symmetric positive definite preconditioner, if options has one. All columns search the sum of
/// their Krylov spaces, which takes fewer iterations than cg, the fewer the more columns there are.
/// Directions that depend on others, as of equal right-hand sides, are left out, so that the method
/// does not break down on them: a block of s directions costs s products, and columns that are done
/// leave it.
///
/// Statuses are those of cg but for indefinite_preconditioner; indefinite_operator and breakdown
/// (P'AP is not positive definite), and steps that overflow, end all columns at work.
///
/// Source: O'Leary, Linear Algebra Appl. 29 (1980); Ji and Li, BIT 57 (2017), for dependent
/// directions.
template <class T, class B>
MultiReport block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                     std::type_identity_t<Span<const T, B>> b, std::type_identity_t<Span<T, B>> x,
                     const std::type_identity_t<SolveOptions<T, B>>& options,
                     std::type_identity_t<BlockCgWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
MultiReport block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                     std::type_identity_t<Span<const T, B>> b, std::type_identity_t<Span<T, B>> x,
                     const std::type_identity_t<SolveOptions<T, B>>& options = {});

}  // namespace tansolve
