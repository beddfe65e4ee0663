// SPDX-License-Identifier: BSD-3-Clause
// A result written into elements that are constant.
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/solvers/cg.hpp>

tansolve::Report solve(const tansolve::CsrOperator<double, tansolve::Host>& A,
                       tansolve::Span<const double, tansolve::Host> b,
                       tansolve::Span<double, tansolve::Host> x) {
#if WRONG
  return tansolve::cg(A, x, b);
#else
  return tansolve::cg(A, b, x);
#endif
}
