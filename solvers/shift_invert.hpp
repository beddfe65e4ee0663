// SPDX-License-Identifier: BSD-3-Clause
// Eigenpairs where products alone do not separate them: Lanczos on (A - sigma B)^-1, on the host,
// with counts that prove that none was missed.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/vector.hpp>
#include <tansolve/solvers/eigen_options.hpp>
#include <tansolve/solvers/eigen_report.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace tansolve {

/// What a factorisation of A - sigma B takes, known from the pattern before it is begun.
struct FactorCost {
  std::int64_t nonzeros;  ///< of L
  std::int64_t bytes;     ///< of L and what waits during the factorisation, at the most
  double flops;           ///< of one factorisation
};

/// How many eigenvalues lie below sigma: the negative elements of D in L D L' = A - sigma B + E.
/// With B = I they are those of A + E, which are those of A but for ||E||; a singular B adds what A
/// has of negative ones on its null space, at any sigma.
struct InertiaCount {
  std::int64_t below;     ///< -1 where there is no factorisation
  double backward_error;  ///< about ||E||_F, measured by products with random vectors; NaN: none
};

/// A symmetric A and a symmetric positive semidefinite mass B (none: I), what they are factorised
/// with, and the memory of it. Both must outlive it. One solve at a time.
class ShiftInvert {
 public:
  /// Asked often during long work, which ends once it says no.
  using GoOn = std::function<bool()>;
  static bool always() { return true; }

  /// Orders the elimination, which takes as long as some hundred to a thousand products with A.
  /// Throws Error(invalid_argument) for shapes, for values that are not finite and for a matrix
  /// that is not symmetric. If `go_on` ends it, whatever needs the order begins anew with it.
  ShiftInvert(Context<Host>& context, const Csr<double>& A, const Csr<double>* mass = nullptr,
              const GoOn& go_on = always);
  ~ShiftInvert();
  ShiftInvert(ShiftInvert&&) noexcept;

  bool ordered() const;
  FactorCost cost() const;  ///< zeros unless it is ordered

  /// One factorisation. If `go_on` ends it, there is no count: -1. Throws Error(out_of_memory) with
  /// the bytes.
  InertiaCount count_below(double sigma, const GoOn& go_on = always);

  /// Counts, for a report of another solver of the same problem that has converged, the eigenvalues
  /// that are better than its last one by more than a few times its residual, with one
  /// factorisation (magnitude: two). As many as were found: sets `verified` and `proof`. More: the
  /// status becomes stagnated. Neither, where the factorisation is too inaccurate, was interrupted
  /// or counts fewer, or where a mass leaves the residuals too coarse: false, and a warning.
  bool prove(EigenReport& report, Which which, const GoOn& go_on = always);

  /// Finds options.nev eigenpairs A v = lambda B v: the smallest, the largest, or those nearest to
  /// options.target. Vectors, orthonormal (B-orthonormal), are written one after another into
  /// `vectors`, n * nev elements, unless it is empty. options.probe_symmetry has no effect: the
  /// matrices were looked at.
  ///
  /// For an end of the spectrum sigma is placed beyond it, which a factorisation with positive
  /// pivots proves, and moved towards it by what the runs of Lanczos show, until one converges. The
  /// Ritz vectors are improved by a step of inverse iteration and a projection. Residuals are those
  /// of products with A and B: ||A v - lambda B v|| / ||v||; the threshold is tolerance * |A|, with
  /// a mass tolerance * (|A| + |lambda| |B|), the norms estimated from below by Lanczos.
  ///
  /// With `verify` the inertia of further factorisations counts the eigenvalues that are better
  /// than the last one found by more than a slack, several times its residual and the error of the
  /// factorisation. If there are more than were found, the search goes on; if not, the report says
  /// `verified`, and `proof` how. Where rounding spoils the count (there is no pivoting), `proof`
  /// is empty, and `verified` tells of a search from random vectors, as lanczos has it.
  ///
  /// Numerical outcomes are a status of the report: breakdown (no shift beyond the end was found,
  /// as for the largest eigenvalues with a singular B, which has infinite ones; a mass with a
  /// negative eigenvalue; a factorisation too inaccurate to be used), stagnated, iteration_limit
  /// (max_products: products with A and solutions together), time_limit, cancelled, not_finite. The
  /// limit of time and the monitor are looked at during factorisations, too.
  ///
  /// Throws Error(invalid_argument) for options out of range and Which::magnitude, and
  /// Error(out_of_memory), with the bytes, before it factorises. Deterministic by options.seed.
  ///
  /// Sources: Ericsson and Ruhe, Math. Comp. 35 (1980); Grimes, Lewis and Simon, SIAM J. Matrix
  /// Anal. Appl. 15 (1994), for shifts that follow the spectrum and inertia that proves; Sylvester,
  /// for its law.
  EigenReport solve(Span<double, Host> vectors, const EigenOptions<double>& options,
                    bool verify = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tansolve
