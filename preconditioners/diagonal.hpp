// SPDX-License-Identifier: BSD-3-Clause
// Which matrices a preconditioner refuses, most for their diagonals, and how it says so.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/unfit_elements.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tansolve::detail {

template <class T>
bool has_inverse(T d) {
  return std::isfinite(d) && std::isfinite(1 / d);
}
template <class T>
bool is_positive(T d) {
  return d > 0 && has_inverse(d);
}
inline constexpr std::string_view without_inverse = "zero, absent or without a finite inverse";
inline constexpr std::string_view not_positive = "not positive with a finite inverse";

/// Throws Error(bad_input) for elements that are not `fit`: how many, what is wrong, the first row.
template <class T, class Fit>
void require_diagonal(std::string_view who, std::span<const T> diagonal, std::string_view wrong,
                      const Fit& fit) {
  const std::string unfit = unfit_elements(diagonal, wrong, fit);
  if (!unfit.empty()) throw Error(ErrorCode::bad_input, fmt::format("{}: {}", who, unfit));
}

/// Throws Error(invalid_argument) unless the matrix is square.
template <class Matrix>
void require_square(std::string_view who, std::string_view name, const Matrix& A) {
  if (A.rows() != A.cols())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} is {} x {}, it must be square", who, name, A.rows(), A.cols()));
}

/// Throws Error(bad_input) for entries that are not finite: how many, the first row.
template <class T>
void require_finite(std::string_view who, const Csr<T>& A) {
  std::int64_t refused = 0, first = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      if (!std::isfinite(A.values()[k]) && refused++ == 0) first = i;
  if (refused > 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} of {} entries are not finite, the first in row {} (counting "
                            "from 1)",
                            who, refused, A.nnz(), first + 1));
}

/// The diagonal, 0 where it is absent.
template <class T>
std::vector<T> diagonal_of(const Csr<T>& A) {
  std::vector<T> d(A.rows());
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      if (A.columns()[k] == i) d[i] = A.values()[k];
  return d;
}

}  // namespace tansolve::detail
