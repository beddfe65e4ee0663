// SPDX-License-Identifier: BSD-3-Clause
// Compresses a matrix and solves A x = b with it.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/solvers/cg.hpp>

#include <iostream>
#include <vector>

int main() {
  using namespace tansolve;
  const auto matrix = compress(generate("poisson7:32"));
  Context<Host> context;
  const CompressedOperator<double, Host> A(context, matrix);
  std::vector<double> b(A.rows(), 1.0), x(A.cols(), 0.0);
  const Report report = cg(A, {b.data(), A.rows()}, {x.data(), A.cols()});
  std::cout << report;
  return report.converged() ? 0 : 1;
}
