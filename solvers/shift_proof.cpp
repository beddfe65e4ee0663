// SPDX-License-Identifier: BSD-3-Clause
// What the inertia of factorisations proves of the pairs found, and where the shift goes next.
#include <tansolve/solvers/shift_search.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tansolve::detail {
namespace {

constexpr int most_attempts = 24;

}  // namespace

bool ShiftSearch::residuals_meet() const {
  const double most = threshold();
  return std::ranges::all_of(std::span(pairs_).first(options_->nev),
                             [=](const Pair& pair) { return pair.residual <= most; });
}

/// Whether all is found; if not, what the next attempt does otherwise.
void ShiftSearch::judge(const EigenReport& inner) {
  const bool stagnated = inner.status == Status::stagnated;
  if ((inner.converged() || stagnated) && residuals_meet()) {
    const Proof proof = verify_ ? prove() : Proof::unknown;
    complete_ = !verify_ || proof == Proof::proved || (proof == Proof::unknown && inner.verified);
    if (complete_ || ended()) return;
    if (searching_ && nearest()) wanted_ = std::min(n_ - problem_->root.nullity(), wanted_ + 2);
    searching_ = true;
  } else if (inner.converged()) {
    strictness_ /= 100;
  }
  if (stagnated) strictness_ *= 30;
  if (++attempts_ == most_attempts)
    breakdown_ = {Status::stagnated, residuals_meet()
                                         ? "inertia counts more eigenvalues than were found"
                                         : "residuals do not fall to the threshold"};
  move();
}

/// To where the inverse tells the wanted pairs apart, the last of them as well as the first; if the
/// shift is there, more solutions are to do it.
void ShiftSearch::move() {
  if (const auto away = nearest() ? better_offset() : better_end()) {
    away_ = *away;
    placed_ = false;
  } else {
    most_solutions_ *= 2;
  }
}

/// As far from the end as its pairs are from one another.
std::optional<double> ShiftSearch::better_end() {
  const double first = pairs_.front().value, spread = pairs_[options_->nev - 1].value - first;
  const double away = std::max(spread, 1e-3 * std::max(options_->tolerance, 1e-9) * scale_);
  const double now = first - sigma_;
  if (now / 2 <= away && away <= 30 * now) return {};
  top_ = first;
  return away;
}

/// From a target that is too near one eigenvalue, half of the orders of magnitude that lie between
/// its distance and the last one's.
std::optional<double> ShiftSearch::better_offset() const {
  const auto apart = [this](const Pair& pair) { return std::abs(pair.value - sigma_); };
  const auto [near, far] = std::ranges::minmax(pairs_, {}, apart);
  const double least = std::max(apart(near), eps * scale_);
  if (least >= 1e-4 * apart(far)) return {};
  return away_ + std::copysign(std::sqrt(least * apart(far)), sigma_ - near.value);
}

/// A distance from the better side, below that of the last pair by `slack` or somewhat more, that
/// no pair's own is near to.
std::optional<double> ShiftSearch::clear_distance(double slack) const {
  const std::int64_t nev = options_->nev;
  // Each pair rules out a stretch of `slack`.
  for (double below = slack; below <= static_cast<double>(nev + 2) * slack; below += slack / 2) {
    const double at = distance(pairs_[nev - 1]) - below;
    const auto near = [&](const Pair& pair) { return std::abs(distance(pair) - at) < slack / 2; };
    if (std::none_of(pairs_.begin(), pairs_.begin() + nev, near)) return at;
  }
  return {};
}

/// Eigenvalues better than `reach`; the errors of the factorisations.
std::optional<std::int64_t> ShiftSearch::count_within(double reach, double& error) {
  const auto below = [&](double sigma) -> std::optional<std::int64_t> {
    placed_ = false;
    ++factorizations_;
    SparseLdlt& factor = problem_->factor;
    if (factor.factor(weight_, sigma, Pivots::any, [&] { return go_on(); }) !=
        SparseLdlt::End::done)
      return {};
    const double own = factor.backward_error();
    if (!std::isfinite(own)) return {};
    error = std::max(error, own);
    return factor.negative();
  };
  if (!nearest()) return below(reach);
  const auto high = below(target_ + reach);
  if (!high) return {};
  const auto low = below(target_ - reach);
  if (!low) return {};
  return *high - *low;
}

ShiftSearch::Proof ShiftSearch::prove() {
  double worst = 0, largest = 0;
  for (std::int64_t i = 0; i < options_->nev; ++i) {
    worst = std::max(worst, pairs_[i].residual);
    largest = std::max(largest, std::abs(pairs_[i].value));
  }
  const double unit =
      problem_->mass && norm_a_ > 0 ? scale_ / norm_a_ : 1;  // of eigenvalues to residuals
  double most = std::max(4 * unit * threshold(), 1e-12 * scale_);
  // With a mass of large condition a slack may exceed distances from a target, and prove nothing.
  if (problem_->mass && nearest()) most = std::min(most, largest / 100);
  double slack = unit * std::max({4 * worst, 4 * error_, 16 * eps * norm_a_});
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto reach = clear_distance(slack);
    if (!reach || slack > most) return Proof::unknown;
    const auto found = std::count_if(pairs_.begin(), pairs_.begin() + options_->nev,
                                     [&](const Pair& pair) { return distance(pair) < *reach; });
    if (nearest() && *reach <= 0) {
      proof_ = "none can be nearer";
      return Proof::proved;
    }
    double error = 0;
    const auto count = count_within(*reach, error);
    if (!count) return Proof::unknown;
    if (unit * error > slack / 4) {
      // Of a part of the matrix, too, the last pair may be one, and pivots be as small as the
      // slack: farther away the error is less.
      slack = 8 * unit * error <= most ? 8 * unit * error : std::sqrt(slack * most);
      continue;
    }
    if (*count > found) return Proof::missing;
    if (*count < found) return Proof::unknown;  // the pairs are orthonormal: the count is wrong
    proof_ = fmt::format("{} eigenvalues {} {:.6e} by inertia, as many as found", *count,
                         nearest()     ? "nearer to the target than"
                         : weight_ > 0 ? "below"
                                       : "above",
                         (nearest() ? 1 : weight_) * *reach * problem_->pencil.unit());
    return Proof::proved;
  }
  return Proof::unknown;
}

}  // namespace tansolve::detail
