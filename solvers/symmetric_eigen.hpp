// SPDX-License-Identifier: BSD-3-Clause
// Eigenpairs of small dense symmetric matrices, on the host.
#pragma once

#include <cstdint>
#include <memory>

namespace tansolve::detail {

class SymmetricEigen {
 public:
  /// For matrices of up to `most` rows; takes bytes(most) on the host.
  explicit SymmetricEigen(std::int64_t most);
  SymmetricEigen(SymmetricEigen&&) noexcept;
  ~SymmetricEigen();

  static std::int64_t bytes(std::int64_t most);

  /// Of the k x k matrix whose element (i, j), i <= j, is a[j * stride + i]; what lies below the
  /// diagonal is not read. Elements are finite. Throws Error(internal) should the QR iteration not
  /// end.
  void solve(std::int64_t k, const double* a, std::int64_t stride);

  /// Ascending.
  double value(std::int64_t i) const;
  /// Its k elements, of norm 1.
  const double* vector(std::int64_t i) const;

 private:
  struct Matrices;
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace tansolve::detail
