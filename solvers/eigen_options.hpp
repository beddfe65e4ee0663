// SPDX-License-Identifier: BSD-3-Clause
// Which eigenvalues are wanted, how accurately, and when a solver gives up.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace tansolve {

/// The part of the spectrum that is wanted; pairs are reported in this order.
enum class Which {
  smallest,   ///< the algebraically smallest, ascending
  largest,    ///< the algebraically largest, descending
  magnitude,  ///< the largest in magnitude, of either sign, descending in magnitude
  nearest     ///< those nearest to a target, the nearest first; only ShiftInvert finds these
};

/// How far a solve has come.
struct EigenState {
  std::int64_t products;   ///< with A, so far
  std::int64_t restarts;   ///< or iterations, for methods that do not restart
  std::int64_t converged;  ///< of the wanted pairs, by their estimates
  double residual;         ///< the largest estimate among them
  bool searching;          ///< for pairs that were missed: those found have converged
};

/// Called at each restart or iteration; false stops the solve. It changes nothing else.
using EigenMonitor = std::function<bool(const EigenState&)>;

/// Solvers throw Error(invalid_argument) for nev below 1 or above n, a tolerance or time limit that
/// is negative or NaN, and negative limits.
template <class T>
struct EigenOptions {
  std::int64_t nev = 6;  ///< pairs wanted
  Which which = Which::smallest;
  double target = 0;  ///< of Which::nearest
  /// A pair has converged: ||A v - lambda v|| <= tolerance * norm, ||v|| = 1, where norm is the
  /// largest magnitude of a Ritz value that was met, never more than ||A||.
  double tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-8;
  std::int64_t max_products = 1000000;
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds
  std::uint64_t seed = 1;                                       ///< of the vectors to start from
  EigenMonitor monitor = nullptr;
  bool probe_symmetry = true;  ///< two products before solving; warns, refuses nothing
};

}  // namespace tansolve
