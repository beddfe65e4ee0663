// SPDX-License-Identifier: BSD-3-Clause
// Cholesky factors of small matrices, with and without pivots.
#include <tansolve/solvers/small_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tansolve::detail {

CholeskyPivots cholesky(std::int64_t n, double rounding, std::span<double> A) {
  double largest = 0;
  for (std::int64_t j = 0; j < n; ++j) largest = std::max(largest, std::abs(A[j + j * n]));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i)
      for (std::int64_t t = 0; t < j; ++t) A[i + j * n] -= A[i + t * n] * A[j + t * n];
    const double pivot = A[j + j * n];
    if (!(pivot > rounding * largest) || !std::isfinite(pivot)) return {j, pivot};
    for (std::int64_t i = j; i < n; ++i) A[i + j * n] /= std::sqrt(pivot);
  }
  return {n, 0};
}

void cholesky_solve(std::int64_t n, std::span<const double> L, std::int64_t k,
                    std::span<double> X) {
  for (std::int64_t c = 0; c < k; ++c) {
    double* x = X.data() + c * n;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t t = 0; t < i; ++t) x[i] -= L[i + t * n] * x[t];
      x[i] /= L[i + i * n];
    }
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (std::int64_t t = i + 1; t < n; ++t) x[i] -= L[t + i * n] * x[t];
      x[i] /= L[i + i * n];
    }
  }
}

std::int64_t orthonormalising(std::int64_t m, double rounding, std::span<double> G,
                              std::span<double> L, std::span<double> C) {
  std::vector<double> size(m), left(m);  // norms of the vectors; of their squares, what is left
  std::vector<std::int64_t> order(m);    // those taken, then the others
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i < m; ++i) {
    size[i] = std::sqrt(G[i + i * m]);
    if (!std::isfinite(size[i])) return -1;
    left[i] = size[i] > 0 ? 1 : 0;
  }
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      if (left[i] > 0 && left[j] > 0) G[i + j * m] = G[i + j * m] / size[i] / size[j];

  std::int64_t s = 0;
  for (; s < m; ++s) {  // row i of L belongs to vector order[i]
    const auto best = std::max_element(order.begin() + s, order.end(),
                                       [&](auto a, auto b) { return left[a] < left[b]; });
    if (!(left[*best] > rounding)) break;
    const std::int64_t at = best - order.begin();
    std::swap(order[s], order[at]);
    for (std::int64_t t = 0; t < s; ++t) std::swap(L[s + t * m], L[at + t * m]);
    const double pivot = L[s + s * m] = std::sqrt(left[order[s]]);
    for (std::int64_t i = s + 1; i < m; ++i) {
      double sum = left[order[i]] > 0 ? G[order[i] + order[s] * m] : 0;
      for (std::int64_t t = 0; t < s; ++t) sum -= L[i + t * m] * L[s + t * m];
      L[i + s * m] = sum / pivot;
      left[order[i]] -= L[i + s * m] * L[i + s * m];
    }
  }
  for (std::int64_t j = 0; j < s; ++j) {  // L' y = e_j, of which C takes y, scaled and in order
    double* c = C.data() + j * m;
    std::fill_n(c, m, 0.0);
    std::vector<double> y(s);
    for (std::int64_t i = j; i >= 0; --i) {
      y[i] = i == j ? 1 : 0;
      for (std::int64_t t = i + 1; t <= j; ++t) y[i] -= L[t + i * m] * y[t];
      y[i] /= L[i + i * m];
      c[order[i]] = y[i] / size[order[i]];
    }
  }
  return s;
}

}  // namespace tansolve::detail
