// SPDX-License-Identifier: BSD-3-Clause
// The multifrontal method: fronts are assembled, eliminated by dense blocks, and passed on.
#include <tansolve/codec/parallel.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/solvers/sparse_ldlt.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tansolve::detail {
namespace {

using Matrix = Eigen::MatrixXd;
using Panel = Eigen::Map<Eigen::MatrixXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstPanel = Eigen::Map<const Eigen::MatrixXd>;

/// Columns that are eliminated one by one before the others hear of it, and those that one thread
/// updates at a time.
constexpr std::int64_t block = 48, strip = 128;

/// What the fronts that wait have left, each a square whose lower triangle counts.
class Assembly {
 public:
  Assembly(const Pencil& pencil, const LdltFronts& fronts)
      : pencil_(&pencil), fronts_(&fronts), at_(fronts.order.size()), rest_(fronts.count()) {
    child_.assign(fronts.count() + 1, none);
    sibling_.assign(fronts.count(), none);
    for (std::int64_t s = fronts.count() - 1; s >= 0; --s)
      sibling_[s] = std::exchange(child_[fronts.parent[s]], s);
  }

  /// Puts the entries of the matrix and what children left into the panel of L and rest(s).
  void assemble(std::int64_t s, double weight_a, double sigma, Panel panel) {
    const auto rows = fronts_->rows_of(s);
    const std::int64_t width = fronts_->width(s), left = std::ssize(rows) - width;
    for (std::int64_t r = 0; r < std::ssize(rows); ++r) at_[rows[r]] = r;
    panel.setZero();
    rest_[s].setZero(left, left);
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t column = fronts_->first[s] + j, row = fronts_->order[column];
      for (std::int64_t k = pencil_->offsets[row]; k < pencil_->offsets[row + 1]; ++k)
        if (const std::int64_t i = fronts_->place[pencil_->columns[k]]; i >= column)
          panel(at_[i], j) += weight_a * pencil_->a[k] - sigma * pencil_->b[k];
    }
    for (std::int64_t c = child_[s]; c != none; c = sibling_[c]) add(c, width, panel, rest_[s]);
  }

  Matrix& rest(std::int64_t s) { return rest_[s]; }

 private:
  static constexpr std::int64_t none = -1;

  void add(std::int64_t c, std::int64_t width, Panel& panel, Matrix& rest) {
    const auto rows = fronts_->rows_of(c).subspan(fronts_->width(c));
    const Matrix from = std::exchange(rest_[c], {});
    for (std::int64_t j = 0; j < std::ssize(rows); ++j) {
      const std::int64_t column = at_[rows[j]];
      const std::int64_t above = column < width ? 0 : width;
      double* to = column < width ? &panel(0, column) : &rest(0, column - width);
      for (std::int64_t i = j; i < std::ssize(rows); ++i) to[at_[rows[i]] - above] += from(i, j);
    }
  }

  const Pencil* pencil_;
  const LdltFronts* fronts_;
  std::vector<std::int64_t> at_;  // of a row in the front that is assembled
  std::vector<std::int64_t> child_, sibling_;
  std::vector<Matrix> rest_;
};

/// The lower triangle of C -= L W', strip by strip.
template <class Result, class Left, class Right>
void subtract_lower(Result&& C, const Left& L, const Right& W, int threads) {
  const std::int64_t n = W.rows();
  const bool worthwhile = n > 2 * strip && n * n * W.cols() > 4'000'000;
  parallel_tasks(worthwhile ? threads : 1, (n + strip - 1) / strip, [&](std::int64_t task) {
    const std::int64_t begin = task * strip, size = std::min(strip, n - begin),
                       below = C.rows() - begin;
    C.block(begin, begin, below, size).noalias() -=
        L.bottomRows(below) * W.middleRows(begin, size).transpose();
  });
}

}  // namespace

/// What rounding may make of a pivot that would be 0: of semidefinite matrices n roundoffs are
/// taken for it, as LAPACK's dpstrf does.
double SparseLdlt::floor(Pivots pivots) const {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double roundoffs = pivots == Pivots::any ? 1 : static_cast<double>(d_.size());
  return 2 * roundoffs * eps * (std::abs(weight_a_) + std::abs(sigma_));
}

SparseLdlt::End SparseLdlt::eliminate(std::int64_t s, Pivots pivots,
                                      const std::function<bool()>& go_on) {
  const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
  Panel panel(values_.data() + fronts_->value_begin[s], height, width);
  const double least = floor(pivots);
  // Of a semidefinite matrix m_ij^2 <= m_ii m_jj, and elements of the diagonal only shrink.
  const double most_beside = 2 * std::sqrt(least * (std::abs(weight_a_) + std::abs(sigma_)));
  Matrix times_d;
  for (std::int64_t k = 0; k < width; k += block) {
    if (k > 0 && !go_on()) return End::interrupted;
    const std::int64_t size = std::min(block, width - k), end = k + size;
    Eigen::VectorXd inverse(size);
    for (std::int64_t j = k; j < end; ++j) {
      double pivot = panel(j, j);
      if (!std::isfinite(pivot)) return End::refused;
      const bool vanishes = std::abs(pivot) <= least;
      if (pivots == Pivots::positive ? !(pivot > 0) : pivot < -least && pivots != Pivots::any)
        return End::refused;
      if (vanishes && pivots == Pivots::any) pivot = std::copysign(least, pivot);
      if (vanishes && pivots == Pivots::semidefinite) pivot = 0;
      zeros_ += vanishes && pivots != Pivots::positive;
      negative_ += pivot < 0;
      d_[fronts_->first[s] + j] = pivot;
      inverse[j - k] = pivot == 0 ? 0 : 1 / pivot;
      panel(j, j) = 1;
      auto column = panel.col(j).segment(j + 1, end - j - 1);
      const Eigen::VectorXd unscaled = column;
      if (pivot == 0 && (unscaled.array().abs() > most_beside).any()) return End::refused;
      column *= inverse[j - k];
      for (std::int64_t c = j + 1; c < end; ++c)
        panel.col(c).segment(c, end - c) -= unscaled[c - j - 1] * column.tail(end - c);
    }
    auto below = panel.block(end, k, height - end, size);
    panel.block(k, k, size, size)
        .template triangularView<Eigen::UnitLower>()
        .transpose()
        .template solveInPlace<Eigen::OnTheRight>(below);
    times_d = below;
    for (std::int64_t j = 0; j < size; ++j)
      if (inverse[j] == 0 && (times_d.col(j).array().abs() > most_beside).any())
        return End::refused;
    below = times_d * inverse.asDiagonal();
    subtract_lower(panel.block(end, end, height - end, width - end), below,
                   times_d.topRows(width - end), threads_);
  }
  return End::done;
}

SparseLdlt::End SparseLdlt::factor(double weight_a, double sigma, Pivots pivots,
                                   const std::function<bool()>& go_on) {
  weight_a_ = weight_a;
  sigma_ = sigma;
  negative_ = zeros_ = 0;
  values_.resize(fronts_->value_begin.back());
  d_.resize(fronts_->order.size());
  Assembly assembly(*pencil_, *fronts_);
  for (std::int64_t s = 0; s < fronts_->count(); ++s) {
    if (!go_on()) return End::interrupted;
    const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
    Panel panel(values_.data() + fronts_->value_begin[s], height, width);
    assembly.assemble(s, weight_a, sigma, panel);
    if (const End end = eliminate(s, pivots, go_on); end != End::done) return end;
    const auto below = panel.bottomRows(height - width);
    const Matrix times_d = below * Vector(d_.data() + fronts_->first[s], width).asDiagonal();
    subtract_lower(assembly.rest(s), below, times_d, threads_);
  }
  return End::done;
}

std::span<const double> SparseLdlt::values_of(std::int64_t s) const {
  const std::int64_t begin = fronts_->value_begin[s];
  return std::span(values_).subspan(begin, fronts_->value_begin[s + 1] - begin);
}

std::vector<double> SparseLdlt::permuted(std::span<const double> x) const {
  std::vector<double> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) y[k] = x[fronts_->order[k]];
  return y;
}

void SparseLdlt::restore(std::span<const double> y, std::span<double> x) const {
  for (std::size_t k = 0; k < x.size(); ++k) x[fronts_->order[k]] = y[k];
}

void SparseLdlt::multiply_lower(std::span<double> y) const {
  for (std::int64_t s = fronts_->count() - 1; s >= 0; --s) {
    const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
    const ConstPanel L(values_of(s).data(), height, width);
    Vector own(y.data() + fronts_->first[s], width);
    const Eigen::VectorXd others = L.bottomRows(height - width) * own;
    own = L.topRows(width).triangularView<Eigen::UnitLower>() * Eigen::VectorXd(own);
    const auto rows = fronts_->rows_of(s).subspan(width);
    for (std::size_t r = 0; r < rows.size(); ++r) y[rows[r]] += others[r];
  }
}

void SparseLdlt::multiply_upper(std::span<double> y) const {
  for (std::int64_t s = 0; s < fronts_->count(); ++s) {
    const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
    const ConstPanel L(values_of(s).data(), height, width);
    const auto rows = fronts_->rows_of(s).subspan(width);
    Eigen::VectorXd others(height - width);
    for (std::size_t r = 0; r < rows.size(); ++r) others[r] = y[rows[r]];
    Vector own(y.data() + fronts_->first[s], width);
    own = L.topRows(width).triangularView<Eigen::UnitLower>().transpose() * Eigen::VectorXd(own);
    own += L.bottomRows(height - width).transpose() * others;
  }
}

void SparseLdlt::solve(std::span<double> x) const {
  std::vector<double> y = permuted(x);
  for (std::int64_t s = 0; s < fronts_->count(); ++s) {
    const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
    const ConstPanel L(values_of(s).data(), height, width);
    Vector own(y.data() + fronts_->first[s], width);
    L.topRows(width).triangularView<Eigen::UnitLower>().solveInPlace(own);
    const Eigen::VectorXd others = L.bottomRows(height - width) * own;
    const auto rows = fronts_->rows_of(s).subspan(width);
    for (std::size_t r = 0; r < rows.size(); ++r) y[rows[r]] -= others[r];
  }
  for (std::size_t k = 0; k < y.size(); ++k) y[k] /= d_[k];
  for (std::int64_t s = fronts_->count() - 1; s >= 0; --s) {
    const std::int64_t width = fronts_->width(s), height = fronts_->height(s);
    const ConstPanel L(values_of(s).data(), height, width);
    const auto rows = fronts_->rows_of(s).subspan(width);
    Eigen::VectorXd others(height - width);
    for (std::size_t r = 0; r < rows.size(); ++r) others[r] = y[rows[r]];
    Vector own(y.data() + fronts_->first[s], width);
    own -= L.bottomRows(height - width).transpose() * others;
    L.topRows(width).triangularView<Eigen::UnitLower>().transpose().solveInPlace(own);
  }
  restore(y, x);
}

void SparseLdlt::multiply_root(std::span<double> x) const {
  std::vector<double> y(x.begin(), x.end());
  for (std::size_t k = 0; k < y.size(); ++k) y[k] *= std::sqrt(d_[k]);
  multiply_lower(y);
  restore(y, x);
}

void SparseLdlt::multiply_root_transposed(std::span<double> x) const {
  std::vector<double> y = permuted(x);
  multiply_upper(y);
  for (std::size_t k = 0; k < y.size(); ++k) x[k] = std::sqrt(d_[k]) * y[k];
}

double SparseLdlt::backward_error() const {
  constexpr int samples = 3;
  const auto n = static_cast<std::int64_t>(d_.size());
  std::vector<double> x(n), y(n), a(n), b(n);
  double sum = 0;
  for (int sample = 0; sample < samples; ++sample) {
    for (std::int64_t i = 0; i < n; ++i)
      x[i] = std::copysign(1.0, random_element(0x1d1 + static_cast<std::uint64_t>(sample), i));
    y = permuted(x);
    multiply_upper(y);
    for (std::int64_t k = 0; k < n; ++k) y[k] *= d_[k];
    multiply_lower(y);
    multiply(*pencil_, pencil_->a, x, a);
    multiply(*pencil_, pencil_->b, x, b);
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t i = fronts_->order[k];
      const double error = y[k] - (weight_a_ * a[i] - sigma_ * b[i]);
      sum += error * error;
    }
  }
  return std::sqrt(sum / samples);
}

}  // namespace tansolve::detail
