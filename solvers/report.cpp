// SPDX-License-Identifier: BSD-3-Clause
// Names, sentences and the printed form of reports.
#include <tansolve/solvers/report.hpp>

#include <fmt/format.h>

#include <ostream>

namespace tansolve {
namespace {

struct Words {
  std::string_view name, text;
};

Words words(Status status) {
  switch (status) {
    case Status::converged:
      return {"converged", "the true residual meets the tolerance"};
    case Status::iteration_limit:
      return {"iteration_limit", "the iteration limit was reached before the tolerance"};
    case Status::time_limit:
      return {"time_limit", "the time limit was reached before the tolerance"};
    case Status::breakdown:
      return {"breakdown", "a denominator of the recurrence vanished"};
    case Status::indefinite_operator:
      return {"indefinite_operator", "the operator is not positive definite"};
    case Status::indefinite_preconditioner:
      return {"indefinite_preconditioner", "the preconditioner is not positive definite"};
    case Status::stagnated:
      return {"stagnated", "the true residual no longer decreases"};
    case Status::diverged:
      return {"diverged", "the residual grew beyond the divergence factor"};
    case Status::not_finite:
      return {"not_finite", "a number that is not finite turned up"};
    case Status::inconsistent:
      return {"inconsistent", "the system has no solution"};
    case Status::cancelled:
      return {"cancelled", "the monitor asked to stop"};
  }
  return {"unknown", "not a status"};
}

}  // namespace

std::string_view name(Status status) {
  return words(status).name;
}
std::string_view text(Status status) {
  return words(status).text;
}

std::ostream& operator<<(std::ostream& out, const Report& report) {
  std::string s = fmt::format("{}: {}{}{}\n", name(report.status), text(report.status),
                              report.detail.empty() ? "" : "; ", report.detail);
  s += fmt::format("  {} on {}{}{}: {} iterations, {} products", report.solver,
                   report.operator_name, report.preconditioner_name.empty() ? "" : " with ",
                   report.preconditioner_name, report.iterations, report.operator_applications);
  if (report.preconditioner_applications > 0)
    s += fmt::format(", {} of the preconditioner", report.preconditioner_applications);
  if (report.inner_iterations > 0)
    s += fmt::format(", {} inner iterations", report.inner_iterations);
  if (report.restarts > 0) s += fmt::format(", {} restarts", report.restarts);
  s += fmt::format(
      "\n  residual: {:.3e} at first, {:.3e} true, {:.3e} by recurrence, {:.3e} asked for\n",
      report.initial_residual, report.true_residual, report.residual, report.threshold);
  if (report.least_squares) {
    const LeastSquaresFacts& facts = *report.least_squares;
    s += fmt::format(
        "  ||A'r||: {:.3e}, ||A|| {:.3e} or more, its condition about {:.1e}; ||x||: "
        "{:.6e}\n",
        facts.normal_residual, facts.operator_norm, facts.condition, facts.solution_norm);
  }
  s += fmt::format("  {:.3g} s setup, {:.3g} s solve, {} bytes of workspace\n",
                   report.setup_seconds, report.solve_seconds, report.workspace_bytes);
  for (const std::string& warning : report.warnings) s += fmt::format("  warning: {}\n", warning);
  return out << s;
}

}  // namespace tansolve
