// SPDX-License-Identifier: BSD-3-Clause
// The files of multigrid, and its hierarchy as a part of the program's document.
#pragma once

#include "console.hpp"
#include "options.hpp"

#include <tansolve/preconditioners/amg.hpp>

#include <cstdint>
#include <string>

namespace tansolve::app {

/// Paths of files, at most one of them.
struct NearNullFiles {
  std::string vectors, coordinates;

  bool given() const { return !vectors.empty() || !coordinates.empty(); }
};

/// Adds --near-null and --coordinates.
void add_near_null_options(CLI::App& parser, NearNullFiles& files);

/// Options for n rows, with the near-null vectors of the file that was given, or those of
/// coordinates. Throws Error as the readers do, and bad_input, naming the file, when it does not
/// fit.
AmgOptions with_near_null(const NearNullFiles& files, std::int64_t n);

/// {levels: [{A, P, R, ...}], coarse_inverse, operator_complexity, ...}
Json hierarchy_json(const AmgFacts& facts);

}  // namespace tansolve::app
