// SPDX-License-Identifier: BSD-3-Clause
// The proof that a matrix without streams can be read without checks.
#pragma once

#include <tansolve/codec/array_reader.hpp>
#include <tansolve/codec/compressed_matrix.hpp>

namespace tansolve::detail {

/// Everything but what needs the fields: sizes fit each other, patterns lie inside the matrix,
/// every row is coded once. Throws Error(bad_input).
template <class T>
void check_arrays(const CompressedParts<T>& parts);

/// After check_arrays(): that the fields of coded rows [begin, end), whole slices, yield columns
/// that increase within the matrix, and values that are there. Throws Error(bad_input).
template <class T>
void check_fields(const CompressedParts<T>& parts, const ArrayReader<T>& reader, std::int64_t begin,
                  std::int64_t end);

/// That there are as many exceptions as fields that stand for one. Throws Error(bad_input).
template <class T>
void check_exceptions(const CompressedParts<T>& parts, const ArrayReader<T>& reader);

}  // namespace tansolve::detail
