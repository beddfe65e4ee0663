// SPDX-License-Identifier: BSD-3-Clause
// Which solver and which preconditioner fit a matrix, and why.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tansolve::app {

enum class Solver { automatic, cg };
enum class Preconditioner { automatic, none, jacobi };

/// What the choice rests on.
struct Traits {
  std::optional<bool> symmetric;  ///< exactly; not known of a container
  std::string asymmetry;   ///< where a random probe found it not symmetric: says so; or empty
  std::string not_finite;  ///< which entries are not; or empty
  bool positive_diagonal = false;
  bool negative_diagonal = false;
  bool constant_diagonal = false;
  std::string unfit_diagonal;  ///< which elements are not positive with a finite inverse; or empty
};

/// Throws Error(invalid_argument) for a matrix that no solver of this build takes: not square, or
/// known not to be symmetric where the solver is `automatic`.
void require_solver(const std::string& name, std::int64_t rows, std::int64_t cols, Solver solver,
                    std::optional<bool> symmetric);

/// Decodes the diagonal; where symmetry is not known, probes it with two products, unless entries
/// are `not_finite`. A is square; `name` stands for it in what is said.
template <class T, class B>
Traits look_at(const std::string& name, const LinearOperator<T, B>& A,
               std::optional<bool> symmetric, std::string not_finite);

struct Method {
  std::string solver_reason = {};
  bool jacobi = false;
  std::string preconditioner_reason = {};
};

/// Throws Error(invalid_argument) where the solver is `automatic` and the probe found against
/// symmetry.
Method choose_method(const Traits& traits, Solver solver, Preconditioner preconditioner);

}  // namespace tansolve::app
