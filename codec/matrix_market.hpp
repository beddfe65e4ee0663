// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing Matrix Market files.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>
#include <tansolve/codec/input_file.hpp>

#include <filesystem>

namespace tansolve {

/// Reads a Matrix Market file (R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market
/// Exchange Formats", NISTIR 5935, 1996), plain or gzip-compressed: coordinate and array; real,
/// double, integer and pattern (whose values are 1); general, symmetric, skew-symmetric and
/// hermitian (of real values: symmetric). Beyond the standard: comments and blank lines anywhere,
/// lines that end with CR, D exponents, a byte order mark of UTF-8.
///
/// - The triangle that is not stored is filled in. Beyond the standard, an entry of a symmetric
///   file may lie in either triangle; but (i, j) and (j, i) are not both taken.
/// - Duplicates are summed in the order of the file, or refused.
/// - Explicit zeros of a coordinate file are kept; zeros of an array file are dropped.
/// - Values are rounded correctly; integers beyond 2^53 to the nearest double.
///
/// Throws Error, as "file:line: what is wrong and what would be right": bad_input for a malformed
/// file, not_supported for complex values and dimensions above 2^31 - 1; without a line, io for one
/// that cannot be read and out_of_memory. Parses with every OpenMP thread; a coordinate file takes
/// 16 bytes an entry beside its text (8 for a pattern), and, when duplicates are summed, no text
/// beside its matrix.
Csr<double> read_matrix_market(const std::filesystem::path& path,
                               Duplicates duplicates = Duplicates::sum);
/// The same of a file that was read already; takes its text. `progress` follows the parsing.
Csr<double> read_matrix_market(InputFile file, Duplicates duplicates = Duplicates::sum,
                               const Progress& progress = {});

/// Reads a Matrix Market file of either format as a dense matrix of at most 2^31 - 1 values;
/// duplicates are summed. Errors as above.
Dense read_dense(const std::filesystem::path& path);
/// The same of a file that was read already.
Dense read_dense(const InputFile& file);

/// Writes a coordinate real general file, compressed when the name ends in .gz. Every value is the
/// shortest decimal that reads back bit for bit (a NaN as some NaN). Appears complete or not at
/// all; throws Error io.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const Csr<T>& matrix);

/// Writes an array real general file, likewise. Throws Error invalid_argument when the number of
/// values is not rows * cols.
void write_dense(const std::filesystem::path& path, const Dense& matrix);

}  // namespace tansolve
