// SPDX-License-Identifier: BSD-3-Clause
// Merges the rows of two matrices; scales; products.
#include <tansolve/solvers/pencil.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tansolve::detail {
namespace {

double power_of_two(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest > 0 && std::isfinite(largest) ? std::ldexp(1.0, std::ilogb(largest)) : 1;
}

/// The entries of a row, in order, and an end.
class Row {
 public:
  Row(const Csr<double>* matrix, std::int64_t row) : matrix_(matrix), row_(row) {
    if (matrix == nullptr) return;
    k_ = matrix->offsets()[row];
    end_ = matrix->offsets()[row + 1];
  }
  /// Without a matrix: the row of I.
  std::int64_t column() const {
    if (matrix_ == nullptr) return taken_ ? none : row_;
    return k_ < end_ ? matrix_->columns()[k_] : none;
  }
  double take() {
    taken_ = true;
    return matrix_ == nullptr ? 1 : matrix_->values()[k_++];
  }
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

 private:
  const Csr<double>* matrix_;
  std::int64_t row_, k_ = 0, end_ = 0;
  bool taken_ = false;
};

}  // namespace

Pencil::Pencil(const Csr<double>& A, const Csr<double>* B)
    : offsets(A.rows() + 1),
      a_scale(power_of_two(A.values())),
      b_scale(B == nullptr ? 1 : power_of_two(B->values())),
      standard(B == nullptr) {
  const std::int64_t n = A.rows();
  for (std::int64_t i = 0; i < n; ++i) {
    Row row_a(&A, i), row_b(B, i);
    bool diagonal = false;
    while (true) {
      const std::int64_t column =
          std::min({row_a.column(), row_b.column(), diagonal ? Row::none : i});
      if (column == Row::none) break;
      diagonal = diagonal || column == i;
      columns.push_back(static_cast<std::int32_t>(column));
      a.push_back(row_a.column() == column ? row_a.take() / a_scale : 0);
      b.push_back(row_b.column() == column ? row_b.take() / b_scale : 0);
    }
    offsets[i + 1] = static_cast<std::int64_t>(columns.size());
  }
}

void multiply(const Pencil& pencil, std::span<const double> values, std::span<const double> x,
              std::span<double> y) {
  for (std::int64_t i = 0; i < pencil.rows(); ++i) {
    double sum = 0;
    for (std::int64_t k = pencil.offsets[i]; k < pencil.offsets[i + 1]; ++k)
      sum += values[k] * x[pencil.columns[k]];
    y[i] = sum;
  }
}

}  // namespace tansolve::detail
