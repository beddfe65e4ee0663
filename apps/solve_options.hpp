// SPDX-License-Identifier: BSD-3-Clause
// What tansolve solve can be told.
#pragma once

#include "method.hpp"
#include "multigrid.hpp"
#include "options.hpp"
#include "precondition.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tansolve::app {

struct SolveCommandOptions {
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  bool json = false;
  bool verbose = false;
  std::string solver = "auto";
  Tuning tuning;
  PreconditionerRequest preconditioner;
  NearNullFiles near_null;
  bool refine = false;
  bool project_constants = false;
  std::string rhs = "ones";
  std::string x0;
  std::string output;
  std::optional<double> rtol, atol, time_limit;
  std::optional<std::int64_t> max_iterations;
};

void add_solve_options(CLI::App& parser, SolveCommandOptions& options);

}  // namespace tansolve::app
