// SPDX-License-Identifier: BSD-3-Clause
// Which scalar of a conjugate gradient step ruled it out.
#include <tansolve/solvers/cg_breakdown.hpp>

#include <fmt/format.h>

#include <cmath>

namespace tansolve::detail {

Breakdown why_no_step(double rho, double pq, double q_norm) {
  if (!std::isfinite(rho)) return {Status::not_finite, fmt::format("r'Mr = {}", rho)};
  if (rho < 0) return {Status::indefinite_preconditioner, fmt::format("r'Mr = {:g}", rho)};
  if (rho == 0) return {Status::breakdown, "r'Mr = 0 for a residual that is not 0"};
  if (!std::isfinite(pq)) return {Status::not_finite, fmt::format("p'Ap = {}", pq)};
  if (pq < 0) return {Status::indefinite_operator, fmt::format("p'Ap = {:g}", pq)};
  if (q_norm == 0) return {Status::inconsistent, "A p = 0 for a direction p with p'b > 0"};
  if (pq == 0) return {Status::breakdown, "p'Ap = 0: the operator is singular or indefinite"};
  return {Status::not_finite, fmt::format("the step r'Mr / p'Ap = {:g} / {:g} overflows", rho, pq)};
}

}  // namespace tansolve::detail
