// SPDX-License-Identifier: BSD-3-Clause
// Eigenpairs at an end of the spectrum with a preconditioner, also of A v = lambda B v: LOBPCG.
#pragma once

#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/solvers/eigen_options.hpp>
#include <tansolve/solvers/eigen_report.hpp>
#include <tansolve/solvers/symmetric_eigen.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace tansolve {
namespace detail {
template <class T, class B>
class TrialSpace;
}

/// What helps or generalises; both are of the context and the size of A.
template <class T, class B>
struct LobpcgOperators {
  const LinearOperator<T, B>* preconditioner = nullptr;  ///< near the inverse of A, symmetric
  const LinearOperator<T, B>* mass = nullptr;  ///< B, symmetric positive definite; none: I
};

/// The memory of lobpcg. Everything is allocated here, nothing of the backend's later.
template <class T, class B>
class LobpcgWorkspace {
 public:
  /// For n unknowns and nev pairs, iterated together with `guard` more, whose convergence is not
  /// waited for but helps the last of those. Throws Error(out_of_memory), and
  /// Error(invalid_argument) unless 3 (nev + guard) <= n, both numbers positive, guard maybe 0.
  LobpcgWorkspace(Context<B>& context, std::int64_t n, std::int64_t nev, std::int64_t guard = 2);

  /// The bytes of the backend's memory that it takes.
  static std::int64_t bytes(const Context<B>& context, std::int64_t n, std::int64_t nev,
                            std::int64_t guard = 2);
  std::int64_t bytes() const;

  /// Throws Error(invalid_argument) unless it fits.
  void require(const Context<B>& context, std::int64_t n, std::int64_t nev) const;

  std::int64_t block() const { return block_; }  ///< nev + guard
  /// Four vectors and two scalars, between solves free.
  Span<T, B> vector(std::int64_t i) { return vectors_.vector(i); }
  Scalar<T, B>& scalar(std::int64_t i) { return vectors_.scalar(i); }

 private:
  friend class detail::TrialSpace<T, B>;

  std::int64_t n_, nev_, block_;
  Basis<T, B> V_;            // 3 block: X, P and W, orthonormal
  Workspace<T, B> vectors_;  // 4, and 2 scalars
  Vector<T, B> columns_;     // coefficients of one vector, twice
  Vector<T, B> Q_;           // how V is rotated
  std::vector<T> seen_;      // those on the host
  std::vector<double> T_, next_, coefficients_;
  detail::SymmetricEigen eigen_;
};

/// Finds options.nev pairs A v = lambda B v at one end of the spectrum of a symmetric A and a
/// symmetric positive definite B, with products alone. Vectors, B-orthonormal, are written one
/// after another into `vectors`, n * nev elements, unless it is empty.
///
/// residual is ||A v - lambda B v|| / ||v||, by products of the last iteration: true residuals. The
/// threshold is tolerance * (|A| + |lambda| |B|), for the largest |lambda| that is wanted; |A| and
/// |B| are the largest ||A v|| / ||v|| and ||B v|| / ||v|| that were met, from random vectors on:
/// bounds of the norms from below, at least about the roots of the mean squared eigenvalues. Where
/// B is I, an eigenvalue lies within residual of each value. Nothing is searched for missed pairs:
/// eigenvalues of more copies than nev + guard cannot be missed, others hardly, but `verified`
/// stays false.
///
/// Pairs that have converged take no part in new directions (soft locking). Directions that depend
/// on others up to rounding are dropped. An iteration with a of nev + guard pairs not converged: 2
/// a products with A and a with M, and as many with B as orthogonalising takes, 4 a.
///
/// Numerical outcomes are a status of the report: breakdown (v'Bv <= 0, or a B so ill-conditioned
/// that random vectors are dependent by it), stagnated, not_finite, iteration_limit (max_products),
/// time_limit, cancelled. Throws Error(invalid_argument) for shapes, options out of range,
/// Which::magnitude, a wrong workspace, and a B whose diagonal, where it can be had, is not
/// positive: how many elements, the first row.
///
/// Deterministic by options.seed. Sources: Knyazev, SIAM J. Sci. Comput. 23 (2001); Hetmaniuk and
/// Lehoucq, J. Comput. Phys. 218 (2006), and Duersch et al., SIAM J. Sci. Comput. 40 (2018), for
/// the orthonormal basis and directions P orthogonal to X in their coefficients.
template <class T, class B>
EigenReport lobpcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                   const std::type_identity_t<EigenOptions<T>>& options,
                   const std::type_identity_t<LobpcgOperators<T, B>>& operators,
                   std::type_identity_t<LobpcgWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
EigenReport lobpcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors = {},
                   const std::type_identity_t<EigenOptions<T>>& options = {},
                   const std::type_identity_t<LobpcgOperators<T, B>>& operators = {});

}  // namespace tansolve
