// SPDX-License-Identifier: BSD-3-Clause
// Copies of one matrix along the diagonal.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/random.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tansolve::detail {

Csr<double> tile(const Csr<double>& matrix, std::int64_t copies, bool scaled, std::uint64_t seed) {
  const std::int64_t rows = matrix.rows(), cols = matrix.cols(), nnz = matrix.nnz();
  std::vector<std::int64_t> offsets(copies * rows + 1);
  std::vector<std::int32_t> columns(copies * nnz);
  std::vector<double> values(copies * nnz);
#pragma omp parallel for
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    const double factor = scaled ? 1 + Random(seed, copy).uniform() : 1;
    std::transform(matrix.offsets().begin() + 1, matrix.offsets().end(),
                   offsets.begin() + copy * rows + 1,
                   [&](std::int64_t offset) { return copy * nnz + offset; });
    std::transform(matrix.columns().begin(), matrix.columns().end(), columns.begin() + copy * nnz,
                   [&](std::int32_t col) { return static_cast<std::int32_t>(copy * cols + col); });
    std::transform(matrix.values().begin(), matrix.values().end(), values.begin() + copy * nnz,
                   [&](double value) { return factor * value; });
  }
  return Csr<double>(copies * rows, copies * cols, std::move(offsets), std::move(columns),
                     std::move(values));
}

}  // namespace tansolve::detail
