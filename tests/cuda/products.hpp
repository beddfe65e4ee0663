// SPDX-License-Identifier: BSD-3-Clause
// What products on the GPU are tested with: vectors, matrices, results and how far these may be
// off.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tansolve::test {

template <class T>
std::vector<T> uniform_vector(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& value : x) value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return x;
}

/// alpha A x + beta y on the host, and a bound on how far roundings may take a result from it: a
/// unit for each of the terms of a row.
template <class T>
struct Expected {
  Expected(const Csr<T>& a, T alpha, const std::vector<T>& x, T beta, const std::vector<T>& y0)
      : y(y0), bound(y0.size()) {
    reference::product(a, alpha, x.data(), beta, y.data());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      double size = beta == T(0) ? 0 : std::abs(static_cast<double>(beta) * y0[i]);
      for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
        size += std::abs(static_cast<double>(alpha) * a.values()[k] * x[a.columns()[k]]);
      bound[i] = std::numeric_limits<T>::epsilon() * static_cast<double>(a.row_nnz(i) + 2) * size +
                 static_cast<double>(a.row_nnz(i) + 2) *
                     (1 + std::abs(static_cast<double>(alpha))) *
                     std::numeric_limits<T>::denorm_min();
    }
  }

  bool agrees(const std::vector<T>& found) const {
    if (found.size() != y.size()) return false;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::isnan(y[i]) && std::isnan(found[i])) continue;
      if (found[i] == y[i]) continue;
      if (!(std::abs(static_cast<double>(found[i]) - y[i]) <= bound[i])) {
        MESSAGE("row " << i << ": " << found[i] << " instead of " << y[i]);
        return false;
      }
    }
    return true;
  }

  std::vector<T> y;
  std::vector<double> bound;
};

/// Rows alike in runs, unlike in others, and lengths that change in between; more pairs than any
/// table has slots; longer rows than a warp's.
inline const std::vector<std::string> structured = {
    "poisson5:70x3",  "poisson7:9",    "poisson27:11", "convdiff7:6",
    "varcoef7:12",    "fem3:4",        "fem3u:3",      "band:500:9:20:4",
    "band:500:4:3:0", "heisenberg:10", "er:4000:6",    "laplacian:ba:600:6",
    "rmat:8:9",       "er:30000:9"};

}  // namespace tansolve::test
