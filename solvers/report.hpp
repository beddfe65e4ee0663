// SPDX-License-Identifier: BSD-3-Clause
// What a solve did and how it ended.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve {

/// How a solve ended. Only `converged` means that the answer meets the tolerance.
enum class Status {
  converged,                  ///< the true residual b - A x was computed and meets the tolerance
  iteration_limit,            ///< max_iterations were done
  time_limit,                 ///< time_limit seconds have passed
  breakdown,                  ///< a denominator vanished; detail says which
  indefinite_operator,        ///< p'Ap < 0, in a method that needs a positive definite operator
  indefinite_preconditioner,  ///< r'Mr < 0, where M must be positive definite
  stagnated,                  ///< restarts from the true residual no longer reduce it
  diverged,                   ///< the residual exceeded divergence_factor times the first one
  not_finite,    ///< NaN or infinity in b, x0, x, the operator or a scalar; detail says where
  inconsistent,  ///< no solution exists (singular systems, least squares)
  cancelled      ///< the monitor returned false
};

/// The enumerator's name, for programs: "iteration_limit".
std::string_view name(Status status);

/// A sentence for people, without a full stop.
std::string_view text(Status status);

/// What solvers of least squares find besides, r being b - A x of the returned x.
struct LeastSquaresFacts {
  /// Whether x is a least-squares solution up to the tolerance: normal_residual, recomputed, is at
  /// most normal_rtol operator_norm ||r||.
  bool found = false;
  double normal_residual = 0;  ///< ||A'r||, or ||A'r - damping^2 (x - x0)||; NaN where not computed
  double operator_norm = 0;    ///< the largest ||A v|| of the unit vectors v that were met
  double condition = 0;        ///< an estimate of what the solver saw of ||A|| ||A^+||
  double solution_norm = 0;    ///< ||x||
};

/// Residuals are 2-norms of b - A x, unpreconditioned, in the units of b; NaN where they could not
/// be computed. x is always the one returned.
struct Report {
  Status status = Status::not_finite;
  std::string detail;  ///< what exactly: the denominator, the row, the limit; may be empty
  std::string solver;
  std::string operator_name;
  std::string preconditioner_name;    ///< empty without one
  std::vector<std::string> warnings;  ///< what the look before solving found odd

  std::int64_t iterations = 0;
  std::int64_t restarts =
      0;  ///< from the true residual, where the recurrence's had drifted from it
  std::int64_t operator_applications = 0;  ///< all of them: looks, true residuals, iterations
  std::int64_t preconditioner_applications = 0;
  std::int64_t inner_iterations = 0;  ///< of the inner solver, where there is one

  double baseline = 0;          ///< the norm that rtol refers to
  double threshold = 0;         ///< max(rtol baseline, atol)
  double initial_residual = 0;  ///< of x0
  double residual = 0;          ///< of the recurrence, when it stopped
  double true_residual = 0;     ///< of the returned x, recomputed
  std::vector<double>
      history;  ///< the recurrence's residual after 0, 1, ... iterations, if recorded

  std::optional<LeastSquaresFacts> least_squares = {};  ///< of lsqr and lsmr

  double setup_seconds = 0;  ///< workspace, looks, first residual
  double solve_seconds = 0;
  std::int64_t workspace_bytes = 0;

  bool converged() const { return status == Status::converged; }
  /// Whether x is what the solver was asked for: A x = b is met, or by a solver of least squares,
  /// where there is no such x (`inconsistent`), the residual is least.
  bool solved() const { return converged() || (least_squares && least_squares->found); }
};

/// A few lines of text, the last one ended.
std::ostream& operator<<(std::ostream& out, const Report& report);

}  // namespace tansolve
