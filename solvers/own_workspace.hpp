// SPDX-License-Identifier: BSD-3-Clause
// Solves with a workspace of their own.
#pragma once

#include <chrono>

namespace tansolve::detail {

/// The report of solve(work) with the workspace that make() builds, which counts as set-up.
template <class Make, class Solve>
auto solve_with_own(const Make& make, const Solve& solve) {
  const auto began = std::chrono::steady_clock::now();
  auto work = make();
  const std::chrono::duration<double> building = std::chrono::steady_clock::now() - began;
  auto report = solve(work);
  if constexpr (requires { report.columns; })
    for (auto& column : report.columns) column.setup_seconds += building.count();
  else
    report.setup_seconds += building.count();
  return report;
}

}  // namespace tansolve::detail
