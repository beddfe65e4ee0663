// SPDX-License-Identifier: BSD-3-Clause
// What an eigensolver found and how it ended.
#pragma once

#include <tansolve/solvers/report.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tansolve {

/// An eigenvalue, and the residual of its vector v of norm 1, recomputed by a product. An exact
/// eigenvalue lies within `residual` of `value`, whatever else happened: for A v = lambda v,
/// residual is ||A v - lambda v||; with a mass matrix, see the solver. NaN where none was found.
struct EigenPair {
  double value;
  double residual;
  bool converged;  ///< residual <= threshold
};

/// `converged` is said only where all wanted pairs have true residuals within the threshold, and
/// where a search for missed pairs was wanted, it came to its end.
struct EigenReport {
  Status status = Status::not_finite;
  std::string detail;  ///< what exactly; may be empty
  std::string solver;
  std::string operator_name;
  std::string mass_name;              ///< empty for A v = lambda v
  std::string preconditioner_name;    ///< empty without one
  std::vector<std::string> warnings;  ///< what the look before solving found odd

  std::vector<EigenPair> pairs;  ///< nev of them, in the order of Which
  double norm = 0;       ///< the largest magnitude of a Ritz value: a bound of ||A|| from below
  double threshold = 0;  ///< tolerance * norm
  /// Whether a search from fresh random vectors, orthogonal to those found, ended without a better
  /// pair: evidence with probability 1 in exact arithmetic, no proof. Where there is one, by
  /// inertia, `proof` says so, and no search is needed.
  bool verified = false;
  std::string proof;  ///< what inertia counted, of ShiftInvert; empty: nothing

  std::int64_t iterations = 0;  ///< of Lanczos: restarts
  std::int64_t searches = 0;    ///< from fresh vectors, after all pairs had converged
  std::int64_t operator_applications = 0;
  std::int64_t preconditioner_applications = 0;
  std::int64_t factorizations = 0;  ///< of ShiftInvert, those given up included
  std::int64_t solutions = 0;       ///< with a factor
  std::int64_t factor_bytes = 0;    ///< of the largest, and of what it needed meanwhile

  double setup_seconds = 0;  ///< workspace and looks
  double solve_seconds = 0;
  std::int64_t workspace_bytes = 0;

  bool converged() const { return status == Status::converged; }
  std::int64_t converged_pairs() const;
};

/// A line for each pair and a few for the rest, the last one ended.
std::ostream& operator<<(std::ostream& out, const EigenReport& report);

}  // namespace tansolve
