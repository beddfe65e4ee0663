// SPDX-License-Identifier: BSD-3-Clause
// Restarted GMRES for several right-hand sides of a square system of any kind.
#pragma once

#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/gmres.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace tansolve {

/// The memory of pseudo_block_gmres: for each column a basis and 4 vectors. Everything is allocated
/// here, but for small things on the host.
template <class T, class B>
class BlockGmresWorkspace {
 public:
  /// Throws Error: out_of_memory, invalid_argument for columns or a restart below 1.
  BlockGmresWorkspace(Context<B>& context, std::int64_t n, std::int64_t columns,
                      const KrylovBasis& basis);

  std::int64_t restart() const { return bases.front().count() - 1; }
  std::int64_t bytes() const;

  Reorthogonalize reorthogonalize;
  Workspace<T, B> vectors;
  std::vector<Basis<T, B>> bases;  ///< restart + 1 vectors each
  Vector<T, B> coefficients;       ///< of a step of all columns
};

/// gmres for every column on its own, as the solvers of block.hpp do, with the products of a step
/// taken together.
template <class T, class B>
MultiReport pseudo_block_gmres(const LinearOperator<T, B>& A, std::int64_t columns,
                               std::type_identity_t<Span<const T, B>> b,
                               std::type_identity_t<Span<T, B>> x,
                               const std::type_identity_t<SolveOptions<T, B>>& options,
                               std::type_identity_t<BlockGmresWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
MultiReport pseudo_block_gmres(const LinearOperator<T, B>& A, std::int64_t columns,
                               std::type_identity_t<Span<const T, B>> b,
                               std::type_identity_t<Span<T, B>> x,
                               const std::type_identity_t<SolveOptions<T, B>>& options = {},
                               const KrylovBasis& basis = {});

}  // namespace tansolve
