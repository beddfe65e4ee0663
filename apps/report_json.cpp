// SPDX-License-Identifier: BSD-3-Clause
// The fields of a report, by name.
#include "report_json.hpp"

namespace tansolve::app {
namespace {

Json least_squares_json(const Report& report) {
  if (!report.least_squares) return nullptr;
  const LeastSquaresFacts& facts = *report.least_squares;
  const double size = facts.operator_norm * report.true_residual;
  return {{"found", facts.found},
          {"normal_residual", facts.normal_residual},
          {"relative_normal_residual", facts.normal_residual / size},
          {"operator_norm", facts.operator_norm},
          {"condition", facts.condition},
          {"solution_norm", facts.solution_norm}};
}

}  // namespace

Json solve_json(const Report& report, const Method& method, double verified) {
  const double iterations = static_cast<double>(report.iterations);
  return {
      {"solver", report.solver},
      {"solver_reason", method.solver_reason},
      {"preconditioner", report.preconditioner_name.empty() ? "none" : report.preconditioner_name},
      {"inner_iterations", report.inner_iterations},
      {"preconditioner_reason", method.preconditioner_reason},
      {"status", name(report.status)},
      {"status_text", text(report.status)},
      {"detail", report.detail},
      {"warnings", report.warnings},
      {"iterations", report.iterations},
      {"restarts", report.restarts},
      {"operator_applications", report.operator_applications},
      {"rhs_norm", report.baseline},
      {"threshold", report.threshold},
      {"initial_residual", report.initial_residual},
      {"recurrence_residual", report.residual},
      {"true_residual", report.true_residual},
      {"verified_residual", verified},
      {"relative_residual", report.true_residual / report.baseline},
      {"least_squares", least_squares_json(report)},
      {"seconds", report.setup_seconds + report.solve_seconds},
      {"seconds_per_iteration", report.solve_seconds / iterations},
      {"workspace_bytes", report.workspace_bytes}};
}

}  // namespace tansolve::app
