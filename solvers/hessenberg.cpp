// SPDX-License-Identifier: BSD-3-Clause
// Givens rotations on the columns of GMRES.
#include <tansolve/solvers/hessenberg.hpp>

#include <algorithm>
#include <cmath>

namespace tansolve::detail {

HessenbergQr::HessenbergQr(std::int64_t max_cols, double rounding)
    : rounding_(rounding),
      r_(max_cols * (max_cols + 1) / 2),
      c_(max_cols),
      s_(max_cols),
      g_(max_cols + 1) {
  g_[0] = 1;
}

HessenbergQr::Column HessenbergQr::append(std::span<double> h, double next) {
  const std::int64_t k = cols_;
  double norm = std::abs(next);
  bool finite = std::isfinite(next);
  for (const double entry : h) {
    norm = std::hypot(norm, entry);
    finite = finite && std::isfinite(entry);
  }
  if (!finite) return Column::not_finite;
  largest_ = std::max(largest_, norm);

  for (std::int64_t j = 0; j < k; ++j) {
    const double upper = c_[j] * h[j] + s_[j] * h[j + 1];
    h[j + 1] = c_[j] * h[j + 1] - s_[j] * h[j];
    h[j] = upper;
  }
  const double diagonal = std::hypot(h[k], next);
  if (diagonal <= rounding_ * largest_) return Column::dependent;

  c_[k] = h[k] / diagonal;
  s_[k] = next / diagonal;
  h[k] = diagonal;
  std::copy(h.begin(), h.end(), column(k));
  g_[k + 1] = -s_[k] * g_[k];
  g_[k] *= c_[k];
  ++cols_;
  return Column::appended;
}

double HessenbergQr::residual() const {
  return std::abs(g_[cols_]);
}

void HessenbergQr::solve(std::span<double> y) const {
  std::copy_n(g_.begin(), cols_, y.begin());
  for (std::int64_t j = cols_ - 1; j >= 0; --j) {
    y[j] /= column(j)[j];
    for (std::int64_t i = 0; i < j; ++i) y[i] -= column(j)[i] * y[j];
  }
}

}  // namespace tansolve::detail
