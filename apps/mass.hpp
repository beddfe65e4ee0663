// SPDX-License-Identifier: BSD-3-Clause
// The mass matrix of a generalized eigenproblem, and residuals computed afresh.
#pragma once

#include "options.hpp"
#include "prepare.hpp"

#include <tansolve/codec/csr.hpp>
#include <tansolve/solvers/eigen_report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tansolve::app {

/// B of A v = lambda B v, from a file; none without.
template <class T>
struct Mass {
  std::optional<Csr<T>> matrix = {};
  std::vector<T> diagonal = {};  ///< where that is all it has
};

/// From `name`, as MATRIX on the command line; `input` has the options for reading. Throws Error as
/// the readers do, and bad_input for another shape than n x n or a B that is not symmetric.
template <class T>
Mass<T> read_mass(const std::string& name, InputOptions input, std::int64_t n);

/// ||A v - lambda B v|| / ||v|| for each pair, the vectors one after another: serially in double, B
/// v rounded to T, as verified_residual, so that nothing is shared with the products that the
/// solver used.
template <class T>
std::vector<double> verified_residuals(const Prepared<T>& matrix, const Mass<T>& mass,
                                       const EigenReport& report, const std::vector<T>& vectors);

}  // namespace tansolve::app
