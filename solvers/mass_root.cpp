// SPDX-License-Identifier: BSD-3-Clause
// The square roots of a diagonal, or a factorisation.
#include <tansolve/solvers/mass_root.hpp>

#include <algorithm>
#include <cmath>

namespace tansolve::detail {

MassRoot::MassRoot(const Csr<double>* B, int threads) {
  if (B == nullptr) return;
  pencil_ = std::make_unique<Pencil>(*B, nullptr);
  if (std::ssize(pencil_->columns) == B->rows()) {
    diagonal_ = pencil_->a;
    pencil_.reset();
    return;
  }
  fronts_ = std::make_unique<LdltFronts>();
  factor_ = std::make_unique<SparseLdlt>(*pencil_, *fronts_, threads);
}

bool MassRoot::analyse(const std::function<bool()>& go_on) {
  if (!fronts_ || fronts_->complete) return true;
  *fronts_ = LdltFronts(pencil_->offsets, pencil_->columns, go_on);
  return fronts_->complete;
}

SparseLdlt::End MassRoot::compute(const std::function<bool()>& go_on) {
  if (computed_ || identity()) return SparseLdlt::End::done;
  if (factor_) {
    const auto end = factor_->factor(1, 0, Pivots::semidefinite, go_on);
    computed_ = end == SparseLdlt::End::done;
    return end;
  }
  if (std::ranges::any_of(diagonal_, [](double d) { return d < 0; }))
    return SparseLdlt::End::refused;
  std::ranges::transform(diagonal_, diagonal_.begin(), [](double d) { return std::sqrt(d); });
  computed_ = true;
  return SparseLdlt::End::done;
}

std::int64_t MassRoot::nullity() const {
  return factor_ ? factor_->zeros() : std::ranges::count(diagonal_, 0.0);
}

void MassRoot::apply(std::span<double> x) const {
  if (factor_) return factor_->multiply_root(x);
  for (std::size_t i = 0; i < diagonal_.size(); ++i) x[i] *= diagonal_[i];
}

void MassRoot::apply_transposed(std::span<double> x) const {
  if (factor_) return factor_->multiply_root_transposed(x);
  apply(x);
}

}  // namespace tansolve::detail
