// SPDX-License-Identifier: BSD-3-Clause
// A solve as a part of the program's document.
#pragma once

#include "console.hpp"
#include "method.hpp"

#include <tansolve/solvers/report.hpp>

namespace tansolve::app {

/// solve{solver, status, iterations, ...}; `verified` is the residual that was computed apart from
/// the solver.
Json solve_json(const Report& report, const Method& method, double verified);

}  // namespace tansolve::app
