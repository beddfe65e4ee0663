// SPDX-License-Identifier: BSD-3-Clause
// Compresses a matrix and finds its smallest eigenvalues.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include <iostream>

int main() {
  using namespace tansolve;
  const auto matrix = compress(generate("laplacian:er:2000:4"));
  Context<Host> context;
  const CompressedOperator<double, Host> A(context, matrix);
  const EigenReport report = lanczos(A, {}, {.nev = 4, .which = Which::smallest});
  std::cout << report;
  return report.converged() ? 0 : 1;
}
