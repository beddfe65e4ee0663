// SPDX-License-Identifier: BSD-3-Clause
// The options of multigrid, and its hierarchy as a part of the program's document.
#pragma once

#include "console.hpp"
#include "options.hpp"

#include <tansolve/preconditioners/amg.hpp>

#include <string>

namespace tansolve::app {

struct MultigridOptions {
  AmgOptions amg;
  std::string near_null, coordinates;  ///< paths of files; at most one of them
};

/// Adds --amg-theta, --amg-cycle, --amg-smoother, --amg-degree, --unknowns-per-node, --near-null
/// and --coordinates.
void add_multigrid_options(CLI::App& parser, MultigridOptions& options);

/// With the near-null vectors of the file that was given, or those of coordinates. Throws Error as
/// the readers do.
AmgOptions amg_options(const MultigridOptions& options);

/// {levels: [{A, P, R, ...}], coarse_inverse, operator_complexity, ...}
Json hierarchy_json(const AmgFacts& facts);

}  // namespace tansolve::app
