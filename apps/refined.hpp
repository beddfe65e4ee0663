// SPDX-License-Identifier: BSD-3-Clause
// A system of fp64 that is solved in fp32, refined to the accuracy of fp64.
#pragma once

#include "operators.hpp"
#include "precondition.hpp"

#include <tansolve/solvers/refinement.hpp>

#include <memory>

namespace tansolve::app {

/// The matrix in fp32 in the form of the other one, with the method's solver and preconditioner.
template <class B>
class Refined {
 public:
  /// Throws as build_preconditioner does; Error(invalid_argument) for a solver of least squares.
  Refined(Context<B>& context, const Prepared<double>& matrix, const Method& method,
          PlanOptions plan, const DeviceOptions& device,
          const PreconditionerInput<double, B>& input);

  const Prepared<float>& matrix() const { return matrix_; }
  const Preconditioning<float, B>& preconditioning() const { return preconditioning_; }

  /// Of `options` those for stopping and the monitor count, the latter also within corrections.
  Report solve(const LinearOperator<double, B>& A, Span<const double, B> b, Span<double, B> x,
               SolveOptions<double, B> options, const Tuning& tuning) const;

 private:
  Prepared<float> matrix_;
  std::unique_ptr<LinearOperator<float, B>> A_;
  Preconditioning<float, B> preconditioning_;
  const SolverEntry<float, B>* solver_;
};

}  // namespace tansolve::app
