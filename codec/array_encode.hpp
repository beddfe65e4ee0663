// SPDX-License-Identifier: BSD-3-Clause
// From rows to the codings without streams.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/survey.hpp>

#include <cstdint>
#include <span>

namespace tansolve::detail {

/// Fills all but rows, cols, nnz and plan of `parts`, whose coding is one without streams.
template <class T>
void encode_arrays(Survey<T>& survey, const Progress& progress, CompressedParts<T>& parts);

/// Replaces the values of `parts`, whose coding has fields, by others in the order of CSR; chooses
/// their format anew. The words keep their memory where the new ones fit into it.
template <class T>
void replace_fields(std::span<const T> values, int threads, CompressedParts<T>& parts);

/// Rows longer than this, in a matrix of these dimensions, are cut into pieces of as many entries.
std::int64_t longest_piece(std::int64_t rows, std::int64_t nnz);

/// The order in which packed codes the rows that begin at these offsets: their own, or by length,
/// descending, within windows of as few rows as suffice against padding; long rows in pieces,
/// behind all others.
RowOrder choose_order(std::span<const std::int64_t> offsets, int threads);

/// Fields of all slices of 32 coded rows, padded to the longest row of each, over the nonzeros.
double padded_share(std::span<const std::int64_t> offsets, const RowOrder& order = {});

/// The fewest bits for the columns of a matrix in this order.
template <class T>
ColumnFormat choose_column_format(const RowSource<T>& source, const RowOrder& order, int threads);

}  // namespace tansolve::detail
