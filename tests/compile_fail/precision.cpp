// SPDX-License-Identifier: BSD-3-Clause
// A vector of another precision than the operator's.
#include <tansolve/kernels/csr_operator.hpp>

void multiply(const tansolve::CsrOperator<double, tansolve::Host>& A,
              tansolve::Vector<float, tansolve::Host>& narrow,
              tansolve::Vector<double, tansolve::Host>& wide) {
#if WRONG
  A.apply(narrow, wide);
#else
  static_cast<void>(narrow);
  A.apply(wide, wide);
#endif
}
