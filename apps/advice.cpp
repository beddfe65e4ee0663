// SPDX-License-Identifier: BSD-3-Clause
// One sentence for each way to fail.
#include "advice.hpp"

namespace tansolve::app {
namespace {

/// Of what was merely too slow.
std::string faster(const Method& method, const Traits& traits) {
  const std::string &solver = method.solver, &preconditioner = method.preconditioner;
  const bool weak =
      preconditioner == "none" || preconditioner == "jacobi" || preconditioner == "block-jacobi";
  if (solver == "cg" || solver == "fcg" || solver == "block_cg")
    return weak ? "--precond ic0 or fsai, which know more of the matrix than its diagonal"
                : "--precond amg for problems on grids and meshes, or a looser --rtol";
  if (solver == "minres" && traits.singular_diagonal.empty())
    return "--solver gmres --precond ilu0, which also serves indefinite ones";
  if (solver == "lsmr" || solver == "lsqr") return "a looser --rtol, or --damp S";
  const bool restarts = solver == "gmres" || solver == "fgmres";
  const bool large = restarts && method.restart >= 200;
  const std::string larger = large ? "--solver idr, or a looser --rtol"
                             : restarts
                                 ? "--restart 200, a larger Krylov space"
                                 : "--solver gmres --restart 200, which needs memory instead";
  if (!traits.singular_diagonal.empty())
    return larger + "; ilu0 needs rows in an order that leaves no zero on the diagonal";
  return weak ? "--precond ilu0, which knows more of the matrix than its diagonal"
              : larger + (solver == "idr" || large ? "" : ", or --solver idr");
}

}  // namespace

std::string advice(const Report& report, const Method& method, const Traits& traits) {
  if (report.solved()) return "";
  switch (report.status) {
    case Status::indefinite_operator:
      return "--solver minres, for symmetric matrices that are not definite";
    case Status::indefinite_preconditioner:
      return "--precond jacobi or none, or --solver gmres, which takes any preconditioner";
    case Status::breakdown:
      return method.solver == "gmres" ? ""
                                      : "--solver gmres, which does not break down in this way";
    case Status::stagnated:
      if (report.residual <= report.threshold)
        return "a looser --rtol: rounding keeps ||b - A x|| above what was asked for";
      return faster(method, traits);
    case Status::iteration_limit:
    case Status::time_limit:
    case Status::diverged:
      return faster(method, traits);
    default:
      return "";
  }
}

std::string advice(const EigenReport& report) {
  if (report.status != Status::iteration_limit && report.status != Status::time_limit &&
      report.status != Status::stagnated)
    return "";
  if (report.solver == "lanczos")
    return "--solver shift-invert, which factors A, a larger --ncv, or a looser --tol";
  return report.solver == "lobpcg" ? "--solver auto, or --precond jacobi"
                                   : "a higher limit, or a looser --tol";
}

}  // namespace tansolve::app
