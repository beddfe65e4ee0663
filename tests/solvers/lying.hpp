// SPDX-License-Identifier: BSD-3-Clause
// An operator that goes wrong on demand.
#pragma once

#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <functional>
#include <utility>

namespace tansolve::test {

/// A matrix whose fused product, the one inside the iterations, can be made to lie.
class Lying : public LinearOperator<double, Checked> {
 public:
  using Lie = std::function<void(std::int64_t product, Span<double, Checked> y)>;
  Lying(Context<Checked>& context, const Csr<double>& matrix, Lie lie)
      : LinearOperator(context, matrix.rows(), matrix.cols()),
        honest_(context, matrix),
        lie_(std::move(lie)) {}

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    honest_.apply(x, y);
  }
  void apply_dot_impl(Span<const double, Checked> x, Span<double, Checked> y,
                      Scalar<double, Checked>& xy) const override {
    honest_.apply(x, y);
    lie_(++products_, y);
    dot(context(), x, y, xy);
  }

 private:
  CsrOperator<double, Checked> honest_;
  Lie lie_;
  mutable std::int64_t products_ = 0;
};

}  // namespace tansolve::test
