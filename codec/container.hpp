// SPDX-License-Identifier: BSD-3-Clause
// The container file (.tans) of a compressed matrix; FORMAT.md specifies every byte.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

namespace tansolve {

/// What a container begins with.
inline constexpr std::string_view container_magic = "\x89TANS\r\n\x1a";

/// A compressed matrix of either value type.
using AnyCompressedMatrix = std::variant<CompressedMatrix<double>, CompressedMatrix<float>>;

/// Writes a container; it appears under its name complete or not at all. The same matrix gives the
/// same bytes. Throws Error(io).
template <class T>
void save_container(const std::filesystem::path& path, const CompressedMatrix<T>& matrix);

/// Reads a container and validates all of it: checksums, layout, and every stream by decoding it
/// (on `threads` threads, 0: as many as OpenMP would start), so that no file, however crafted, can
/// make a product read or write out of bounds. Throws Error: io where it cannot be read, bad_input
/// naming the file and the section, slice or row.
AnyCompressedMatrix load_container(const std::filesystem::path& path, int threads = 0);

/// The same of bytes in memory; `name` stands for the file in errors, `progress` follows the
/// validation.
AnyCompressedMatrix parse_container(std::string_view bytes, const std::string& name,
                                    int threads = 0, const Progress& progress = {});

}  // namespace tansolve
