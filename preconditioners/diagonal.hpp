// SPDX-License-Identifier: BSD-3-Clause
// Which matrices a preconditioner refuses, most for their diagonals, and how it says so.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/kernels/unfit_elements.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tansolve::detail {

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

/// How many of something are refused, and the first.
struct Refused {
  std::int64_t count = 0, first = 0;
};

/// Of `count` things those for which refuses(i), on `threads` threads (0: as many as OpenMP would
/// start), on which the result does not depend.
template <class Refuses>
Refused find_refused(int threads, std::int64_t count, const Refuses& refuses) {
  constexpr std::int64_t a_task = 1 << 15;
  std::vector<Refused> parts((count + a_task - 1) / a_task);
  parallel_tasks(threads, std::ssize(parts), [&](std::int64_t task) {
    Refused part;
    for (std::int64_t i = task * a_task; i < std::min((task + 1) * a_task, count); ++i)
      if (refuses(i) && part.count++ == 0) part.first = i;
    parts[task] = part;
  });
  Refused all;
  for (const Refused& part : parts) {
    if (all.count == 0) all.first = part.first;
    all.count += part.count;
  }
  return all;
}

/// Throws Error(bad_input) for entries that are not finite: how many, the first row.
template <class T>
void require_finite(std::string_view who, const Csr<T>& A, int threads = 0) {
  const auto [count, first] =
      find_refused(threads, A.nnz(), [&](std::int64_t k) { return !std::isfinite(A.values()[k]); });
  if (count == 0) return;
  const auto row = std::upper_bound(A.offsets().begin(), A.offsets().end(), first);
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: {} of {} entries are not finite, the first in row {} (counting "
                          "from 1)",
                          who, count, A.nnz(), row - A.offsets().begin()));
}

/// The diagonal, 0 where it is absent.
template <class T>
std::vector<T> diagonal_of(const Csr<T>& A, int threads = 0) {
  std::vector<T> d(A.rows());
  constexpr std::int64_t a_task = 1 << 15;
  parallel_tasks(threads, (A.rows() + a_task - 1) / a_task, [&](std::int64_t task) {
    for (std::int64_t i = task * a_task; i < std::min((task + 1) * a_task, A.rows()); ++i) {
      const auto row = A.columns().subspan(A.offsets()[i], A.row_nnz(i));
      const auto at = std::ranges::lower_bound(row, static_cast<std::int32_t>(i));
      if (at != row.end() && *at == i) d[i] = A.values()[A.offsets()[i] + (at - row.begin())];
    }
  });
  return d;
}

}  // namespace tansolve::detail
