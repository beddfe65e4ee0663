// SPDX-License-Identifier: BSD-3-Clause
// What to try where a solve did not end well.
#pragma once

#include <tansolve/solvers/report.hpp>

#include <string>
#include <string_view>

namespace tansolve::app {

/// Options of the program that have a chance, and why; empty where x is what was asked for, or
/// where none is known. `solver` and `preconditioner` are the names that the program gives them.
std::string advice(const Report& report, std::string_view solver, std::string_view preconditioner);

}  // namespace tansolve::app
