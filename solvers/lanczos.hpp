// SPDX-License-Identifier: BSD-3-Clause
// Eigenpairs at an end of the spectrum of a symmetric operator: thick-restart Lanczos, also in
// blocks.
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
class KrylovSpace;
}

/// The Krylov space of lanczos.
struct LanczosSpace {
  std::int64_t ncv = 0;    ///< vectors before a restart; 0: nev and as many again, at least 30
  std::int64_t block = 1;  ///< vectors that it grows from: finds eigenvalues up to so many fold,
                           ///< and one decode serves them all where A has a block product
  /// Stored below working precision the basis takes less memory and time, and the tolerance must
  /// not be below least_tolerance.
  BasisStorage storage = BasisStorage::working;
  /// Where restarts do not lead on soon, the space becomes one of a Chebyshev polynomial of A of up
  /// to this degree, which makes the wanted end of the spectrum stand out: many products for each
  /// vector of the basis, far fewer restarts. 1: never, which saves two blocks. Not used for
  /// Which::magnitude and below working precision.
  std::int64_t degree = 1000;
};

/// What rounding the vectors of such a basis leaves of residuals, relative to ||A||; 0 for working
/// precision.
template <class T>
double least_tolerance(BasisStorage storage);

/// The memory of lanczos. Everything is allocated here, nothing of the backend's later.
template <class T, class B>
class LanczosWorkspace {
 public:
  /// For n unknowns and nev pairs. Throws Error(out_of_memory) that names ncv, and
  /// Error(invalid_argument) for numbers out of range: nev or a block not from 1 to n, ncv beyond
  /// n or below nev + 2 block.
  LanczosWorkspace(Context<B>& context, std::int64_t n, std::int64_t nev,
                   const LanczosSpace& space);

  /// The bytes of the backend's memory that it takes.
  static std::int64_t bytes(const Context<B>& context, std::int64_t n, std::int64_t nev,
                            const LanczosSpace& space);
  /// The bytes of the host's memory for small dense matrices.
  static std::int64_t host_bytes(std::int64_t n, std::int64_t nev, const LanczosSpace& space);
  std::int64_t bytes() const;

  /// Where the space would be all there is, A is formed and solved as a dense matrix.
  bool dense() const { return dense_; }
  std::int64_t nev() const { return nev_; }
  std::int64_t ncv() const { return space_.ncv; }
  const LanczosSpace& space() const { return space_; }

  /// Throws Error(invalid_argument) unless it fits.
  void require(const Context<B>& context, std::int64_t n, std::int64_t nev) const;

  /// Before a solve vectors -1, 0 and 1, during one vector 1; and two scalars.
  Span<T, B> spare(std::int64_t i) {
    return i == 1 ? spare_.span() : blocks_.vector(i + 1).subspan(0, n_);
  }
  Scalar<T, B>& scalar(std::int64_t i) { return blocks_.scalar(i); }
  std::int64_t degree() const { return space_.degree; }
  /// Two blocks for a polynomial of A, where its degree may be above 1.
  Span<T, B> filter(std::int64_t i) {
    return space_.degree > 1 ? blocks_.vector(2 + i) : Span<T, B>();
  }

  detail::SymmetricEigen& eigen() { return eigen_; }
  std::vector<double>& matrix() { return matrix_; }

 private:
  friend class detail::KrylovSpace<T, B>;

  LanczosSpace space_;
  bool dense_;
  std::int64_t n_, nev_;
  Basis<T, B> V_;           // ncv + block vectors, orthonormal
  Workspace<T, B> blocks_;  // V's last block in working precision, its next, maybe two filters
  Vector<T, B> spare_;
  Vector<T, B> columns_;  // of the steps between two looks of the host: h twice, and a norm
  Vector<T, B> Q_;        // how V is rotated
  std::vector<T> seen_;   // columns_ and Q_ on the host
  std::vector<double> matrix_, kept_;
  detail::SymmetricEigen eigen_;
};

/// Finds options.nev eigenpairs at one end of the spectrum of a symmetric A of n x n. The vectors,
/// orthonormal, are written one after another into `vectors`, n * nev elements, unless it is empty.
///
/// Converged means that every pair's residual, recomputed by a product, meets the tolerance. One
/// Krylov space shows one vector of a multiple eigenvalue (or as many as the block has). Therefore,
/// with `verify`, the space is then grown anew from random vectors orthogonal to those found, until
/// its best Ritz pair is settled: its residual is at most the threshold, or a hundredth of its
/// distance from the pairs wanted. If it is better than one of them, it is taken and the search
/// repeated. The first search costs about what one more pair would have; each copy that was missed,
/// another search. Without `verify` nothing is searched, and the report does not say `verified`.
///
/// Numerical outcomes are a status of the report: stagnated (true residuals no longer follow their
/// estimates: the tolerance is below rounding), not_finite, iteration_limit (max_products),
/// time_limit, cancelled; the pairs are then the best there are. At the end nev products more
/// measure the residuals, whatever the limit; a polynomial of A is applied to its end, too. On a
/// GPU the host looks every 6 steps: products done beyond a breakdown are not used, but counted.
///
/// Where n is at most ncv + block, A is formed by n products and solved densely on the host; all of
/// its eigenvalues are then known, and the report says `verified`. This is not begun where fewer
/// products or no time are left, but once begun it ends; the monitor is not called.
///
/// Deterministic by options.seed, unless time is limited. Throws Error(invalid_argument) for
/// shapes, options out of range, a wrong workspace. Concurrent solves need contexts, operators and
/// workspaces of their own.
///
/// Sources: Wu and Simon, SIAM J. Matrix Anal. Appl. 22 (2000), and Stewart, ibid. 23 (2001), for
/// thick restarts; Ruhe, Math. Comp. 33 (1979), for the band form of block Lanczos; Kuczynski and
/// Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992), for what random starting vectors promise;
/// Zhou et al., Phys. Rev. E 74 (2006), for Chebyshev filters that follow the spectrum.
template <class T, class B>
EigenReport lanczos(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                    const std::type_identity_t<EigenOptions<T>>& options, bool verify,
                    std::type_identity_t<LanczosWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
EigenReport lanczos(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors = {},
                    const std::type_identity_t<EigenOptions<T>>& options = {},
                    const LanczosSpace& space = {}, bool verify = true);

}  // namespace tansolve
