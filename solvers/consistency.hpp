// SPDX-License-Identifier: BSD-3-Clause
// When a residual shows that a system has no solution.
#pragma once

#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/progress.hpp>

#include <optional>
#include <string>

namespace tansolve::detail {

/// `inconsistent` where r is orthogonal to the range of A up to the rounding of r, `eps` being that
/// of the value type. To be asked only where a method no longer reduces r.
std::optional<Breakdown> no_solution(const RangeOverlap& r, double eps);

/// What to add to `stagnated` where r is nearly orthogonal, as restarted methods leave it; else "".
std::string perhaps_no_solution(const RangeOverlap& r, double eps);

}  // namespace tansolve::detail
