// SPDX-License-Identifier: BSD-3-Clause
// The two halves of a Matrix Market file: its header, and the lines of entries, parsed in parallel.
#pragma once

#include <tansolve/codec/entries.hpp>
#include <tansolve/codec/parallel.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tansolve::detail {

struct MatrixMarketHeader {
  bool coordinate;  ///< else array
  bool pattern;     ///< entries without a value
  Symmetry symmetry;
  std::int64_t rows, cols;
  std::int64_t entries;    ///< that the file must store
  std::int64_t size_line;  ///< number of the line with the dimensions
  std::string_view body;   ///< what follows it
};

/// Whether a file with this beginning claims to be of this kind.
bool is_matrix_market(std::string_view text);

/// Throws Error naming `name` and the line.
MatrixMarketHeader parse_matrix_market_header(const std::string& name, std::string_view text);

/// The entries of a coordinate file, or the values of an array file, whose rows and cols are left
/// unset. Throws Error naming `name` and the first line that is wrong: also one whose entry mirrors
/// an earlier one of a file that stores a triangle. Memory is bounded by the
/// lines that there are, not by what the header promises.
Entries parse_matrix_market_entries(const std::string& name, const MatrixMarketHeader& header,
                                    const Progress& progress = {});

/// The number of the line that holds entry k.
std::int64_t line_of_entry(const MatrixMarketHeader& header, std::int64_t k);

}  // namespace tansolve::detail
