// SPDX-License-Identifier: BSD-3-Clause
// IC(0) and ILU(0), row by row, shifted until they exist.
#include <tansolve/codec/error.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/incomplete_factors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

constexpr double least_pivot = 1e-8;  // of the diagonal element: else entries of 1e8 follow
constexpr double first_shift = 1e-3, greatest_shift = 1000;

/// A pattern and its values in double, while they are computed.
struct Entries {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  std::int64_t rows() const { return std::ssize(offsets) - 1; }
  template <class T>
  Csr<T> to_csr() const {
    return Csr<T>(rows(), rows(), offsets, columns, {values.begin(), values.end()});
  }
};

/// The entries of A for which keep(row, column).
template <class T, class Keep>
Entries part_of(const Csr<T>& A, const Keep& keep) {
  Entries part;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) {
      if (!keep(i, A.columns()[k])) continue;
      part.columns.push_back(A.columns()[k]);
      part.values.push_back(A.values()[k]);
    }
    part.offsets.push_back(std::ssize(part.columns));
  }
  return part;
}

/// L from the lower triangle, whose rows end with their diagonals; the row of the first breakdown.
std::optional<std::int64_t> factor_cholesky(Entries& L, double shift) {
  std::vector<double> row(L.rows());  // l_ij of row i so far, else 0
  for (std::int64_t i = 0; i < L.rows(); ++i) {
    const std::int64_t first = L.offsets[i], diagonal = L.offsets[i + 1] - 1;
    double pivot = L.values[diagonal] * (1 + shift);
    const double enough = least_pivot * pivot;
    for (std::int64_t k = first; k < diagonal; ++k) {
      const std::int32_t j = L.columns[k];
      const std::int64_t last = L.offsets[j + 1] - 1;
      double l = L.values[k];
      for (std::int64_t q = L.offsets[j]; q < last; ++q) l -= L.values[q] * row[L.columns[q]];
      l /= L.values[last];
      L.values[k] = row[j] = l;
      pivot -= l * l;
    }
    if (!(pivot > enough)) return i;
    L.values[diagonal] = std::sqrt(pivot);
    for (std::int64_t k = first; k < diagonal; ++k) row[L.columns[k]] = 0;
  }
  return std::nullopt;
}

/// L below the diagonals, U from them on; `diagonals` are their places. The row of the first
/// breakdown.
std::optional<std::int64_t> factor_lu(Entries& F, const std::vector<std::int64_t>& diagonals,
                                      double shift) {
  constexpr std::int64_t absent = -1;
  std::vector<std::int64_t> place(F.rows(), absent);  // of the columns of row i
  for (std::int64_t i = 0; i < F.rows(); ++i) {
    const std::int64_t first = F.offsets[i], last = F.offsets[i + 1];
    F.values[diagonals[i]] *= 1 + shift;
    const double enough = least_pivot * std::abs(F.values[diagonals[i]]);
    for (std::int64_t k = first; k < last; ++k) place[F.columns[k]] = k;
    for (std::int64_t k = first; k < diagonals[i]; ++k) {
      const std::int32_t j = F.columns[k];
      const double l = F.values[k] /= F.values[diagonals[j]];
      for (std::int64_t q = diagonals[j] + 1; q < F.offsets[j + 1]; ++q)
        if (const std::int64_t at = place[F.columns[q]]; at != absent)
          F.values[at] -= l * F.values[q];
    }
    const double pivot = std::abs(F.values[diagonals[i]]);
    if (!(pivot > enough) || !std::isfinite(pivot)) return i;
    for (std::int64_t k = first; k < last; ++k) place[F.columns[k]] = absent;
  }
  return std::nullopt;
}

/// Calls factor(values of A, shift) with growing shifts until none breaks down; returns the shift.
template <class Factor>
double shifted_until_it_exists(const char* name, Entries& factors, double shift,
                               const Factor& factor) {
  if (!(shift >= 0 && shift <= greatest_shift))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: a shift of {}, it must be from 0 to {}", name, shift, greatest_shift));
  const std::vector<double> values = factors.values;
  while (const auto row = factor(factors, shift)) {
    shift = std::max(first_shift, 2 * shift);
    if (shift > greatest_shift)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: breaks down in row {} (counting from 1) even with the diagonal "
                              "{} times as large",
                              name, *row + 1, 1 + shift / 2));
    factors.values = values;
  }
  return shift;
}

}  // namespace

template <class T>
IncompleteFactors<T> incomplete_cholesky(const Csr<T>& A, double shift) {
  detail::require_square("ic0", "the matrix", A);
  detail::require_diagonal<T>("ic0", detail::diagonal_of(A), detail::not_positive,
                              detail::is_positive<T>);
  detail::require_finite("ic0", A);
  Entries L = part_of(A, [](std::int64_t i, std::int32_t j) { return j <= i; });
  shift = shifted_until_it_exists("ic0", L, shift, factor_cholesky);
  Csr<T> lower = L.to_csr<T>();
  Csr<T> upper = transpose(lower);
  return {std::move(lower), std::move(upper), shift};
}

template <class T>
IncompleteFactors<T> incomplete_lu(const Csr<T>& A, double shift) {
  detail::require_square("ilu0", "the matrix", A);
  detail::require_diagonal<T>("ilu0", detail::diagonal_of(A), detail::without_inverse,
                              detail::has_inverse<T>);
  detail::require_finite("ilu0", A);
  Entries F = part_of(A, [](std::int64_t, std::int32_t) { return true; });
  std::vector<std::int64_t> diagonals(A.rows());
  for (std::int64_t i = 0; i < A.rows(); ++i)
    diagonals[i] = std::lower_bound(F.columns.begin() + F.offsets[i],
                                    F.columns.begin() + F.offsets[i + 1], i) -
                   F.columns.begin();
  shift = shifted_until_it_exists("ilu0", F, shift, [&](Entries& factors, double by) {
    return factor_lu(factors, diagonals, by);
  });

  const Csr<double> both = F.to_csr<double>();
  Entries lower = part_of(both, [](std::int64_t i, std::int32_t j) { return j <= i; });
  for (std::int64_t i = 0; i < A.rows(); ++i) lower.values[lower.offsets[i + 1] - 1] = 1;
  const Entries upper = part_of(both, [](std::int64_t i, std::int32_t j) { return j >= i; });
  return {lower.to_csr<T>(), upper.to_csr<T>(), shift};
}

template IncompleteFactors<double> incomplete_cholesky(const Csr<double>&, double);
template IncompleteFactors<float> incomplete_cholesky(const Csr<float>&, double);
template IncompleteFactors<double> incomplete_lu(const Csr<double>&, double);
template IncompleteFactors<float> incomplete_lu(const Csr<float>&, double);

}  // namespace tansolve
