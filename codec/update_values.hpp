// SPDX-License-Identifier: BSD-3-Clause
// New values in the pattern of a compressed matrix: what a code needs that steps through time.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/csr.hpp>

#include <span>

namespace tansolve {

/// Gives a compressed matrix other values in the same pattern, nnz() of them in the order of CSR,
/// row by row and by increasing column. It then decodes to these, bit for bit. Nothing is planned
/// anew:
///
/// - shapes and packed find the format of values anew and write the fields, most often into the
///   memory of the old ones; where values have other signs than the patterns say, fields take them;
/// - patterns keep theirs where the rows of each pattern still have the same values. Where they
///   have not, the patterns are split, and if that gives more than max(64, rows / 8) or 2^16, the
///   coding becomes shapes: look at plan() if it matters;
/// - streams of symbols are decoded, counted and encoded again, which takes longer than to compress
///   a Csr anew.
///
/// What refers to the matrix must be told: CompressedOperator::refresh(). `threads`, 0: as many as
/// OpenMP would start. Throws Error(invalid_argument) for another number of values, whereupon the
/// matrix is unchanged. Where memory runs out, the values of fields are 0, all others the old ones.
template <class T>
void update_values(CompressedMatrix<T>& matrix, std::span<const T> values, int threads = 0);

/// The same with the values of `updated`, whose pattern is compared first: throws
/// Error(invalid_argument) naming the first row that differs, and leaves the matrix unchanged.
template <class T>
void update_values(CompressedMatrix<T>& matrix, const Csr<T>& updated, int threads = 0);

}  // namespace tansolve
