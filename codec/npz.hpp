// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices in SciPy's files (scipy.sparse.save_npz).
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/input_file.hpp>

namespace tansolve {

/// Whether a file begins as ZIP archives do.
bool is_npz(const InputFile& file);

/// Reads a matrix that save_npz wrote as 'csr', 'csc' or 'coo', compressed or not: values of type
/// float, double, bool or integers (those beyond 2^53 to the nearest double), indices of 32 or 64
/// bits, all little-endian. Duplicates are summed in the order of the file, or refused; explicit
/// zeros are kept.
///
/// Throws Error, as "file.npz(member.npy): what is wrong and what would be right": bad_input for
/// what is malformed, not_supported for complex values, other formats and dimensions above 2^31 -
/// 1; out_of_memory. Serial; takes 48 bytes an entry beside the file, the unpacked members and the
/// matrix.
Csr<double> read_npz(const InputFile& file, Duplicates duplicates = Duplicates::sum);

}  // namespace tansolve
