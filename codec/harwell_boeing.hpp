// SPDX-License-Identifier: BSD-3-Clause
// Reading Harwell-Boeing and Rutherford-Boeing files.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>
#include <tansolve/codec/input_file.hpp>

#include <filesystem>
#include <string_view>

namespace tansolve {

struct HarwellBoeing {
  Csr<double> matrix;
  Dense rhs;  ///< the right-hand sides; no columns when the file has none
};

/// Reads an assembled matrix (types R, I and P with S, U, R, Z or H, and A) of either kind, plain
/// or gzip-compressed:
/// - Harwell-Boeing (I. S. Duff, R. G. Grimes, J. G. Lewis, users' guide of 1992), with its
///   right-hand sides, dense or sparse; starting guesses and solutions are skipped;
/// - Rutherford-Boeing (by the same authors, 1997).
///
/// Numbers are fixed-width, by the Fortran formats in the file: abutting fields, D exponents and
/// exponents without a letter, fields without a point and scale factors are read as Fortran reads
/// them, but a blank field is an error. The triangle that is not stored is filled in, a pattern has
/// the values 1, duplicates are summed or refused.
///
/// Throws Error, as "file:line: what is wrong and what would be right": bad_input for a malformed
/// file, not_supported for complex or unassembled matrices and for dimensions above 2^31 - 1;
/// without a line, io and out_of_memory. Serial.
HarwellBoeing read_harwell_boeing(const std::filesystem::path& path,
                                  Duplicates duplicates = Duplicates::sum);
/// The same of a file that was read already.
HarwellBoeing read_harwell_boeing(const InputFile& file, Duplicates duplicates = Duplicates::sum);

namespace detail {

/// Whether a file with this beginning has a header of this kind.
bool is_harwell_boeing(std::string_view text);

}  // namespace detail
}  // namespace tansolve
