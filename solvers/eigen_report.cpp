// SPDX-License-Identifier: BSD-3-Clause
// The printed form of the eigensolvers' reports.
#include <tansolve/solvers/eigen_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tansolve {

std::int64_t EigenReport::converged_pairs() const {
  return std::ranges::count_if(pairs, [](const EigenPair& pair) { return pair.converged; });
}

std::ostream& operator<<(std::ostream& out, const EigenReport& report) {
  std::string s = fmt::format("{}: {} of {} pairs have true residuals within the tolerance{}{}\n",
                              name(report.status), report.converged_pairs(), report.pairs.size(),
                              report.detail.empty() ? "" : "; ", report.detail);
  s += fmt::format("  {} on {}", report.solver, report.operator_name);
  if (!report.mass_name.empty()) s += fmt::format(" and {}", report.mass_name);
  if (!report.preconditioner_name.empty()) s += fmt::format(" with {}", report.preconditioner_name);
  s += fmt::format(": {} products, {} restarts", report.operator_applications, report.iterations);
  if (report.preconditioner_applications > 0)
    s += fmt::format(", {} of the preconditioner", report.preconditioner_applications);
  if (report.factorizations > 0)
    s += fmt::format(", {} factorisations of {} bytes, {} solutions", report.factorizations,
                     report.factor_bytes, report.solutions);
  if (!report.proof.empty()) s += fmt::format("\n  {}", report.proof);
  if (report.searches > 0)
    s += fmt::format(", {} searches for missed pairs, the last {}", report.searches,
                     report.verified ? "in vain" : "unfinished");
  s += fmt::format("\n  norm at least {:.6e}, residuals of {:.3e} asked for\n", report.norm,
                   report.threshold);
  for (std::size_t i = 0; i < report.pairs.size(); ++i)
    s += fmt::format("  {:4}  {:23.16e}  +- {:.3e}{}\n", i + 1, report.pairs[i].value,
                     report.pairs[i].residual, report.pairs[i].converged ? "" : "  not converged");
  s += fmt::format("  {:.3g} s setup, {:.3g} s solve, {} bytes of workspace\n",
                   report.setup_seconds, report.solve_seconds, report.workspace_bytes);
  for (const std::string& warning : report.warnings) s += fmt::format("  warning: {}\n", warning);
  return out << s;
}

}  // namespace tansolve
