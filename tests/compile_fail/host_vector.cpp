// SPDX-License-Identifier: BSD-3-Clause
// A vector in the memory of one backend, given to an operator of another.
#include <tansolve/kernels/csr_operator.hpp>

void multiply(const tansolve::CsrOperator<double, tansolve::Checked>& A,
              tansolve::Vector<double, tansolve::Host>& host,
              tansolve::Vector<double, tansolve::Checked>& device) {
#if WRONG
  A.apply(host, device);
#else
  static_cast<void>(host);
  A.apply(device, device);
#endif
}
