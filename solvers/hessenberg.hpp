// SPDX-License-Identifier: BSD-3-Clause
// The small least-squares problem inside GMRES, on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

/// min ||e_1 - H y|| for an upper Hessenberg H of k + 1 rows and k columns that grows column by
/// column, kept as R y = g by Givens rotations. Norms are taken without overflow of squares.
class HessenbergQr {
 public:
  enum class Column {
    appended,
    dependent,  ///< on the earlier ones, up to rounding: H e_k is left out
    not_finite  ///< left out, too
  };

  /// Room for max_cols columns. What is left of one that depends on the earlier ones is below
  /// `rounding` times the largest norm of a column.
  HessenbergQr(std::int64_t max_cols, double rounding);

  void start() { cols_ = 0, largest_ = 0, g_[0] = 1; }
  std::int64_t cols() const { return cols_; }

  /// Takes the next column: cols() + 1 entries of `h`, which are overwritten, and then `next`.
  Column append(std::span<double> h, double next);

  /// ||e_1 - H y|| for the best y.
  double residual() const;

  /// Keeps the first columns only.
  void truncate(std::int64_t cols) { cols_ = cols; }

  /// The best y, cols() elements. No R_jj is 0.
  void solve(std::span<double> y) const;

 private:
  double* column(std::int64_t j) { return r_.data() + j * (j + 1) / 2; }
  const double* column(std::int64_t j) const { return r_.data() + j * (j + 1) / 2; }

  double rounding_;
  std::int64_t cols_ = 0;
  double largest_ = 0;     // norm of a column of H so far
  std::vector<double> r_;  // R, column after column
  std::vector<double> c_, s_, g_;
};

}  // namespace tansolve::detail
