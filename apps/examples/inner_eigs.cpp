// SPDX-License-Identifier: BSD-3-Clause
// Finds the eigenvalues nearest to a number within the spectrum, and proves their count.
#include <tansolve/codec/generators.hpp>
#include <tansolve/solvers/shift_invert.hpp>

#include <iostream>

int main() {
  using namespace tansolve;
  const Csr<double> matrix = generate("poisson5:40");
  Context<Host> context;
  Vector<double, Host> vectors(context, 4 * matrix.rows());
  const EigenReport report =
      ShiftInvert(context, matrix)
          .solve(vectors, {.nev = 4, .which = Which::nearest, .target = 0.25});
  std::cout << report;
  return report.converged() ? 0 : 1;
}
