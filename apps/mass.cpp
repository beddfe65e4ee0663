// SPDX-License-Identifier: BSD-3-Clause
// Reads a mass matrix; checks generalized eigenpairs.
#include "mass.hpp"

#include "source.hpp"
#include "system.hpp"

#include <tansolve/codec/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::app {

template <class T>
Mass<T> read_mass(const std::string& name, InputOptions input, std::int64_t n) {
  Mass<T> mass;
  if (name.empty()) return mass;
  input.matrix = name;
  input.precision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
  auto source = std::get<Source<T>>(load(input));
  mass.matrix = take_csr(std::move(source.matrix), input.threads);
  const Csr<T>& b = *mass.matrix;
  if (b.rows() != n || b.cols() != n || !is_symmetric(b))
    throw Error(ErrorCode::bad_input,
                fmt::format("--b {}: {} x {}{}, it must be {} x {} and symmetric", name, b.rows(),
                            b.cols(), is_symmetric(b) ? "" : ", not symmetric", n, n));
  std::vector<T> diagonal(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = b.offsets()[i]; k < b.offsets()[i + 1]; ++k) {
      if (b.columns()[k] != i && b.values()[k] != 0) return mass;
      if (b.columns()[k] == i) diagonal[i] = b.values()[k];
    }
  mass.diagonal = std::move(diagonal);
  return mass;
}

template <class T>
std::vector<double> verified_residuals(const Prepared<T>& matrix, const Mass<T>& mass,
                                       const EigenReport& report, const std::vector<T>& vectors) {
  std::vector<double> residuals;
  const std::int64_t n = matrix.rows();
  for (std::size_t p = 0; p < report.pairs.size(); ++p) {
    const std::vector<T> v(vectors.begin() + p * n, vectors.begin() + (p + 1) * n);
    std::vector<T> b(v);
    if (mass.matrix) {
      std::ranges::fill(b, T(0));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = mass.matrix->offsets()[i]; k < mass.matrix->offsets()[i + 1]; ++k)
          b[i] += mass.matrix->values()[k] * v[mass.matrix->columns()[k]];
    }
    double square = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      b[i] *= static_cast<T>(report.pairs[p].value);
      square += static_cast<double>(v[i]) * static_cast<double>(v[i]);
    }
    residuals.push_back(verified_residual(matrix, b, v) / std::sqrt(square));
  }
  return residuals;
}

#define TANSOLVE_INSTANTIATE(T)                                                       \
  template Mass<T> read_mass(const std::string&, InputOptions, std::int64_t);         \
  template std::vector<double> verified_residuals(const Prepared<T>&, const Mass<T>&, \
                                                  const EigenReport&, const std::vector<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
