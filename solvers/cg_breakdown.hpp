// SPDX-License-Identifier: BSD-3-Clause
// Why a step of conjugate gradients was not taken.
#pragma once

#include <tansolve/solvers/progress.hpp>

namespace tansolve::detail {

/// Why cg_step refused rho = r'Mr and pq = p'Ap, or left an r'r that is not finite; q = A p. Where
/// A p = 0, p is a null vector of the symmetric A with p'b = p'(b - A x) = r'Mr > 0, so that no A x
/// is b.
Breakdown why_no_step(double rho, double pq, double q_norm);

}  // namespace tansolve::detail
