// SPDX-License-Identifier: BSD-3-Clause
// Any matrix file, by what it contains rather than by its name.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/input_file.hpp>

#include <filesystem>

namespace tansolve {

enum class FileKind { matrix_market, harwell_boeing, container, npz };

/// What the file is, from its first bytes. Throws Error bad_input when it is none of these.
FileKind recognise(const InputFile& file);

/// Reads a matrix from a file of any kind but a container, which is bad_input. Throws Error as
/// read_matrix_market, read_harwell_boeing and read_npz do.
Csr<double> read_matrix(const std::filesystem::path& path, Duplicates duplicates = Duplicates::sum);

}  // namespace tansolve
