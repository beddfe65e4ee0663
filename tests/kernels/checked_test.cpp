// SPDX-License-Identifier: BSD-3-Clause
// The Checked backend conforms, and is as suspicious as it claims.
#include "kernels/conformance.hpp"

namespace tansolve::test {

TANSOLVE_CONFORMS(Setting<double, Checked>, Setting<float, Checked>);

/// Adds to y what it should store there.
class Accumulating : public LinearOperator<double, Checked> {
 public:
  using LinearOperator::LinearOperator;

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    axpby(context(), 1, x, 1, y);
  }
};

TEST_CASE("fresh checked memory is NaN") {
  Context<Checked> context;
  const Vector<double, Checked> x(context, 100);
  for (const double element : download(context, x)) CHECK(std::isnan(element));
}

TEST_CASE("an operator that adds to its result shows NaN on the checked backend") {
  Context<Checked> context;
  const Accumulating a(context, 2, 2);
  const auto x = upload<double>(context, {1, 2});
  auto y = upload<double>(context, {0, 0});
  a.apply(x, y);
  for (const double element : download(context, y)) CHECK(std::isnan(element));
}

TEST_CASE("a block product that adds to its result shows NaN on the checked backend") {
  Context<Checked> context;
  const Accumulating a(context, 2, 2);
  auto Y = upload<double>(context, {0, 0, 0, 0});
  a.apply_block(2, upload<double>(context, {1, 2, 3, 4}), Y);
  for (const double element : download(context, Y)) CHECK(std::isnan(element));
}

TEST_CASE("the checked backend counts what happens") {
  Context<Checked> context;
  const auto x = upload<double>(context, {1, 2, 3});
  Vector<double, Checked> y(context, 3);
  Scalar<double, Checked> s(context);
  Counters& counters = context.counters();
  CHECK(counters.allocations == 3);
  CHECK(counters.transfers == 1);

  counters = {};
  axpby(context, 1, x, 0, y.span());
  axpby(context, 1, x, 1, y.span());
  CHECK(counters.elements == 2 * 3 + 3 * 3);
  dot(context, x, y, s);
  CHECK(counters.elements == 2 * 3 + 3 * 3 + 2 * 3);
  CHECK(counters.reductions == 1);
  read(context, s);
  CHECK(counters.transfers == 1);

  counters = {};
  const auto matrix = Csr<double>::from_triplets(3, 3, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const CsrOperator<double, Checked> a(context, matrix);
  a.apply_dot(x, y, s);
  CHECK(counters.products == 1);
  CHECK(counters.reductions == 1);
  CHECK(counters.elements == 2 * 3);
  CHECK(counters.allocations == 0);

  Vector<double, Checked> X(context, 6), Y(context, 6);
  a.apply_block(2, X, Y);
  CHECK(counters.products == 1 + 2);
}

}  // namespace tansolve::test
