// SPDX-License-Identifier: BSD-3-Clause
// What to try where a solve did not end well.
#pragma once

#include "method.hpp"

#include <tansolve/solvers/eigen_report.hpp>
#include <tansolve/solvers/report.hpp>

#include <string>

namespace tansolve::app {

/// Options of the program that have a chance, and why; empty where x is what was asked for, or
/// where none is known.
std::string advice(const Report& report, const Method& method, const Traits& traits);

/// The same of eigenvalues.
std::string advice(const EigenReport& report);

}  // namespace tansolve::app
