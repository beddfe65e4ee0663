// SPDX-License-Identifier: BSD-3-Clause
// Dense matrices in NumPy's files.
#pragma once

#include <tansolve/codec/dense.hpp>
#include <tansolve/codec/input_file.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve {

/// Whether a file begins as those of NumPy do.
bool is_npy(const InputFile& file);

/// Reads an array of one or two dimensions (one: a column), in C or Fortran order, of at most 2^31
/// - 1 values: '<f8', '<f4', bool or integers (those beyond 2^53 to the nearest double), all
/// little-endian; versions 1 to 3 of the format (NumPy Enhancement Proposal 1). Throws Error,
/// naming the file and what would be right: bad_input for a malformed file, not_supported for other
/// types and dimensions.
Dense read_npy(const InputFile& file);

/// Writes '<f8' in Fortran order, one dimension where there is one column, two else. Appears
/// complete or not at all; throws Error: io, invalid_argument when the number of values is not
/// rows * cols.
void write_npy(const std::filesystem::path& path, const Dense& matrix);

namespace detail {

/// An array of any type and number of dimensions, its values still in the text.
struct NpyArray {
  std::string name;  ///< of the file, for errors
  std::string_view type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::string_view values;
};

/// The header and what follows it. Throws Error bad_input that begins with `name`.
NpyArray parse_npy(const std::string& name, std::string_view text);

/// Whether its values are complex numbers.
inline bool is_complex(const NpyArray& array) {
  return array.type.size() > 1 && array.type[1] == 'c';
}

/// All `count` values, of the types of read_npy, in the order of the file. Throws Error bad_input
/// when there are more or fewer, not_supported for other types.
std::vector<double> npy_reals(const NpyArray& array, std::int64_t count);
/// The same of '<i4' and '<i8', exactly.
std::vector<std::int64_t> npy_integers(const NpyArray& array, std::int64_t count);

}  // namespace detail

}  // namespace tansolve
