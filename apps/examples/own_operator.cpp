// SPDX-License-Identifier: BSD-3-Clause
// Solves A x = b with an operator that has no matrix at all.
#include <tansolve/solvers/cg.hpp>

#include <iostream>
#include <vector>

using namespace tansolve;

/// -u'' on a line: y_i = 2 x_i - x_(i-1) - x_(i+1), and 0 beyond the ends.
struct SecondDifference : LinearOperator<double, Host> {
  using LinearOperator::LinearOperator;
  void apply_impl(Span<const double, Host> x, Span<double, Host> y) const override {
    const auto at = [&](std::int64_t i) { return i < 0 || i >= x.size() ? 0.0 : x.data()[i]; };
    for (std::int64_t i = 0; i < y.size(); ++i) y.data()[i] = 2 * at(i) - at(i - 1) - at(i + 1);
  }
};

int main() {
  Context<Host> context;
  const SecondDifference A(context, 1000, 1000);
  std::vector<double> b(1000, 1.0), x(1000, 0.0);
  const Report report = cg(A, {b.data(), 1000}, {x.data(), 1000});
  std::cout << report;
  return report.converged() ? 0 : 1;
}
