// SPDX-License-Identifier: BSD-3-Clause
// A and B of A v = lambda B v in one pattern, scaled so that their squares neither over- nor
// underflow.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

/// Symmetric A and B (none: I) of n x n with the same entries, those that either has and the
/// diagonal. a = A / a_scale and b = B / b_scale, powers of two that bring the largest magnitudes
/// into [1, 2); 1 for a matrix of zeros.
struct Pencil {
  Pencil(const Csr<double>& A, const Csr<double>* B);

  std::int64_t rows() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  double unit() const { return a_scale / b_scale; }  ///< of eigenvalues

  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;  ///< ascending in each row
  std::vector<double> a, b;
  double a_scale, b_scale;
  bool standard;  ///< B is I
};

/// y = M x for values on the pencil's pattern.
void multiply(const Pencil& pencil, std::span<const double> values, std::span<const double> x,
              std::span<double> y);

}  // namespace tansolve::detail
