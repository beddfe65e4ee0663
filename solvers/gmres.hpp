// SPDX-License-Identifier: BSD-3-Clause
// Restarted GMRES for square systems of any kind, and its flexible form.
#pragma once

#include <tansolve/kernels/basis.hpp>
#include <tansolve/solvers/gram_schmidt.hpp>
#include <tansolve/solvers/hessenberg.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tansolve {
namespace detail {

/// Iterations that a GPU carries out between two looks of the host. What it does beyond the last
/// that is wanted is not used.
inline constexpr std::int64_t gmres_look = 6;

/// Scalars of one of them: h of both passes of Gram-Schmidt, the norms of v and of z.
constexpr std::int64_t gmres_column(std::int64_t restart) {
  return 2 * restart + 2;
}

template <class T, class B>
class Arnoldi;

}  // namespace detail

/// The basis of a Krylov space.
struct KrylovBasis {
  std::int64_t restart = 30;  ///< vectors before the method restarts, at most n are kept
  /// Stored below working precision the basis is read in less time, while each cycle reduces the
  /// residual by at most about the storage's precision. The answer is as accurate as ever, but for
  /// what rounding adds to x along null vectors of a singular A, which the residual does not see.
  BasisStorage storage = BasisStorage::working;
  /// `needed` takes fewer passes over the basis where the operator turns vectors by more than 45
  /// degrees out of the space, and more where it does not, as on stencils.
  Reorthogonalize reorthogonalize = Reorthogonalize::always;
};

/// The memory of gmres and fgmres. Everything is allocated here, nothing later.
template <class T, class B>
class GmresWorkspace {
 public:
  /// For n unknowns; `flexible`: for fgmres, which keeps a second basis. Throws
  /// Error(out_of_memory) that names the restart, and Error(invalid_argument) for one below 1.
  GmresWorkspace(Context<B>& context, std::int64_t n, const KrylovBasis& basis, bool flexible);

  /// The bytes of the backend's memory that it takes.
  static std::int64_t bytes(const Context<B>& context, std::int64_t n, const KrylovBasis& basis,
                            bool flexible);
  std::int64_t bytes() const;

  std::int64_t restart() const { return V_.count() - 1; }

  /// Throws Error(invalid_argument), naming the solver, unless it fits.
  void require(std::string_view solver, const Context<B>& context, std::int64_t n,
               bool flexible) const;

 private:
  friend class detail::Arnoldi<T, B>;

  Reorthogonalize reorthogonalize_;
  Basis<T, B> V_;                 // restart + 1 vectors, orthonormal
  std::optional<Basis<T, B>> Z_;  // restart vectors of norm 1, as a flexible M made them
  Workspace<T, B> vectors_;
  Vector<T, B> columns_;  // of gmres_look iterations: h of both passes, and two norms
  std::vector<T> seen_;   // those on the host, where the rest lies, too
  detail::HessenbergQr qr_;
  std::vector<double> h_, y_;
};

/// Solves A x = b for any square A, by the residual of least norm over Krylov spaces of `restart`
/// dimensions, one after another. A preconditioner M near the inverse of A is applied from the
/// right, so that residuals are those of A x = b; it must be the same linear map all the time.
///
/// x carries the guess in and the answer out; b = 0 gives x = 0. Numerical outcomes are a status of
/// the report: stagnated (another cycle would not reduce the true residual), inconsistent (neither
/// would it, and the residual is orthogonal to the range of A up to rounding: x is a least-squares
/// solution), breakdown (A is singular on the Krylov space, which holds no solution), not_finite,
/// diverged, iteration_limit, time_limit, cancelled. x changes at the end of each cycle only, by
/// finite steps that do not increase the true residual. Every report holds the true residual of the
/// returned x, and a solve whose true residual meets the tolerance is `converged`. `restarts`
/// counts the cycles after the first. A system without solution is proved to be one where a cycle
/// finds a least-squares solution whole; many short cycles mostly end as `stagnated`, with a detail
/// that says so.
///
/// On a GPU the host looks every gmres_look iterations: what was computed beyond the one that ends
/// a solve or a cycle is not used, but counted as products.
///
/// Deterministic. Allocates nothing but the history on the host. Throws Error(invalid_argument) for
/// shapes, overlapping vectors, options out of range, a wrong workspace. Concurrent solves need
/// contexts, operators and workspaces of their own.
///
/// Sources: Saad and Schultz, SIAM J. Sci. Stat. Comput. 7 (1986); Giraud, Langou and Rozloznik,
/// Comput. Math. Appl. 50 (2005), for classical Gram-Schmidt done twice; Aliaga et al., Int. J.
/// High Perform. Comput. Appl. 37 (2023), for the compressed basis.
template <class T, class B>
Report gmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
             std::type_identity_t<Span<T, B>> x,
             const std::type_identity_t<SolveOptions<T, B>>& options,
             std::type_identity_t<GmresWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report gmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
             std::type_identity_t<Span<T, B>> x,
             const std::type_identity_t<SolveOptions<T, B>>& options = {},
             const KrylovBasis& basis = {});

/// gmres with a preconditioner that may change from one application to the next, such as an
/// iterative method: keeps what it returned, M v_j, as a second basis.
///
/// Source: Saad, SIAM J. Sci. Comput. 14 (1993).
template <class T, class B>
Report fgmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options,
              std::type_identity_t<GmresWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report fgmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options = {},
              const KrylovBasis& basis = {});

}  // namespace tansolve
