// SPDX-License-Identifier: BSD-3-Clause
// The entries of a matrix as a file stores them, and the matrix that they mean.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tansolve::detail {

/// Of the symmetric kinds a file stores one triangle; (i, j) stands for (j, i) too.
enum class Symmetry { general, symmetric, skew };

constexpr std::int64_t max_dimension = 2147483647;
/// Of a dense matrix; what a header of a few bytes may make us allocate, 16 GiB, as for row
/// offsets.
constexpr std::int64_t max_dense_values = max_dimension;

/// Entry k in the order of the file, zero-based. The arrays have no initial values, so that the
/// threads that fill them also place their pages.
struct Entries {
  explicit Entries(std::int64_t capacity, bool with_values = true);
  double value(std::int64_t k) const { return values ? values[k] : 1; }

  std::int64_t count = 0;
  std::unique_ptr<std::int32_t[]> rows, cols;
  std::unique_ptr<double[]> values;  ///< null for a pattern, whose values are all 1
};

/// The rows x cols matrix of entries that lie inside it. Those off the diagonal are mirrored as the
/// symmetry says, duplicates are summed in the order of the file. Allocates the matrix and no more.
Csr<double> assemble(std::int64_t rows, std::int64_t cols, Symmetry symmetry,
                     const Entries& entries);
Dense assemble_dense(std::int64_t rows, std::int64_t cols, Symmetry symmetry,
                     const Entries& entries);

/// The first entry below the diagonal of which an earlier one is the mirror image above it, or the
/// other way round; entries.count when there is none. Of a file that stores one triangle, since
/// such a pair would count twice.
std::int64_t first_mirrored(const Entries& entries);
/// What is to be said of it.
std::string mirrored_text(const Entries& entries, std::int64_t k);

/// The first entry whose position an earlier one has (or mirrors); entries.count when there is
/// none. `matrix` is what assemble() made of them: its size tells the usual case, that none is
/// repeated.
std::int64_t first_repeated(const Entries& entries, Symmetry symmetry, const Csr<double>& matrix);

}  // namespace tansolve::detail
