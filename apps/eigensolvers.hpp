// SPDX-License-Identifier: BSD-3-Clause
// Which eigensolver a problem goes to, and what happens where the first does not lead on.
#pragma once

#include "console.hpp"
#include "mass.hpp"
#include "options.hpp"
#include "prepare.hpp"

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/solvers/eigen_options.hpp>
#include <tansolve/solvers/eigen_report.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tansolve::app {

/// How it is verified that no pair was missed.
enum class Verification { none, search, inertia };

struct EigsCommandOptions {
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  bool json = false;
  bool verbose = false;
  Verification verification = Verification::search;
  std::string solver = "auto";
  bool jacobi = false;
  std::string mass;
  std::int64_t nev = 6;
  bool nev_by_default = true;  ///< then as many as there are, where these are fewer
  Which which = Which::smallest;
  double target = 0;  ///< of Which::nearest
  LanczosSpace space;
  std::string output;
  std::optional<double> tolerance, time_limit;
  std::optional<std::int64_t> max_products;
  std::int64_t repeat = 1;  ///< solves in all, of which the last is reported
};

/// By options.solver; auto: shift-invert for inner eigenvalues and for a B that lanczos does not
/// take, where a factor is cheap; lobpcg for --precond and for other such B; else lanczos, and
/// where that stalls shift-invert if the factor is cheap, after it a dense solution if n is small.
/// A factor is of the host, whatever the device. Throws Error(invalid_argument) where the solver
/// does not take the problem.
template <class T, class B>
EigenReport find_pairs(const Console& console, const EigsCommandOptions& options,
                       const EigenOptions<T>& finding, const LinearOperator<T, B>& A,
                       const Prepared<T>& matrix, const Mass<T>& mass, Span<T, B> vectors);

}  // namespace tansolve::app
