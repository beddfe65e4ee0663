// SPDX-License-Identifier: BSD-3-Clause
// From CSR to the codings without streams.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/parallel.hpp>

namespace tansolve::detail {

/// Fills all but rows, cols, nnz and plan of `parts`, whose coding is one without streams.
template <class T>
void encode_arrays(const Csr<T>& matrix, int threads, const Progress& progress,
                   CompressedParts<T>& parts);

/// Rows longer than this, in a matrix of these dimensions, are cut into pieces of as many entries.
std::int64_t longest_piece(std::int64_t rows, std::int64_t nnz);

/// The order in which packed codes rows: their own, or by length, descending, within windows of as
/// few rows as suffice against padding; long rows in pieces, behind all others.
template <class T>
RowOrder choose_order(const Csr<T>& matrix);

/// Fields of all slices of 32 coded rows, padded to the longest row of each, over the nonzeros.
template <class T>
double padded_share(const Csr<T>& matrix, const RowOrder& order = {});

/// The fewest bits for the columns of a matrix in this order.
template <class T>
ColumnFormat choose_column_format(const Csr<T>& matrix, const RowOrder& order);

/// Most patterns with signs: beyond, fields hold the signs.
inline constexpr std::int64_t most_signed_patterns = 4096;

}  // namespace tansolve::detail
