// SPDX-License-Identifier: BSD-3-Clause
// The codings without streams: rows as numbers of patterns, columns and values as fields.
#pragma once

#include <tansolve/codec/fields.hpp>
#include <tansolve/codec/histogram.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace tansolve {

/// The patterns that rows follow: pattern p has the entries [starts[p], starts[p + 1]).
template <class T>
struct RowPatterns {
  std::vector<std::uint32_t> starts;   ///< of the patterns and the end; empty without patterns
  std::vector<std::uint32_t> offsets;  ///< column - row, modulo 2^32
  std::vector<T> values;               ///< coding patterns
  std::vector<std::uint8_t> negative;  ///< coding shapes where values have no sign: 0 or 1

  std::int64_t count() const { return std::max<std::int64_t>(std::ssize(starts) - 1, 0); }
  std::uint32_t length(std::uint32_t p) const { return starts[p + 1] - starts[p]; }
};

/// How a field becomes a column: first + field, and the row where columns are relative; modulo
/// 2^32.
struct ColumnFormat {
  int bits = 0;  ///< at most 32, whole bytes
  bool relative = false;
  std::uint32_t first = 0;
};

/// How a field becomes a value: by a dictionary; or its sign, the top bit or that of the pattern,
/// and the other bits shifted and added to those of the least magnitude, modulo 2^(8 sizeof(T) -
/// 1). The field of all ones stands for an exception where there are any.
template <class T>
struct ValueFormat {
  int bits = 0;  ///< at most 8 sizeof(T), as stored_bits() returns; with a dictionary 0, 8 or 16
  bool sign = false;
  int shift = 0;
  std::uint64_t least = 0;
  std::vector<T> dictionary;
  std::vector<std::uint64_t> exception_places;  ///< ascending: (entry of its slice) * 32 + lane,
                                                ///< entries counted over all slices
  std::vector<T> exceptions;

  static constexpr int magnitude_bits = 8 * sizeof(T) - 1;
  static constexpr std::uint64_t magnitude_mask = std::numeric_limits<std::uint64_t>::max() >>
                                                  (64 - magnitude_bits);

  /// All ones.
  std::uint64_t marker() const {
    return bits == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  }
  /// Of a field that is no exception's; `negative` counts without sign and dictionary.
  T value(std::uint64_t field, bool negative) const {
    if (!dictionary.empty()) return dictionary[field];
    if (sign) {
      negative = field >> (bits - 1) != 0;
      field &= marker() >> 1;
    }
    const std::uint64_t magnitude = ((field << shift) + least) & magnitude_mask;
    return value_of_bits<T>(magnitude | std::uint64_t{negative} << magnitude_bits);
  }
};

/// In which order rows are coded where it is not their own: order[v] < rows is a row that is coded
/// whole; rows + s is piece s of a long row. The pieces of long_rows[i] are those from
/// long_starts[i] to long_starts[i + 1], in the order of their columns.
struct RowOrder {
  std::vector<std::uint32_t> order;  ///< empty: every row whole, in its own order
  std::vector<std::uint32_t> long_rows;
  std::vector<std::uint32_t> long_starts;

  /// Coded rows: pieces count.
  std::int64_t coded_rows(std::int64_t rows) const {
    return order.empty() ? rows : std::ssize(order);
  }
  std::int64_t pieces() const { return long_starts.empty() ? 0 : long_starts.back(); }
};

/// What the codings without streams hold besides CompressedParts' members.
template <class T>
struct ArrayParts {
  RowPatterns<T> patterns;
  ColumnFormat columns;
  ValueFormat<T> values;
  RowOrder order;                           ///< coding packed
  std::vector<std::uint32_t> column_words;  ///< coding packed: fields, slice by slice
};

}  // namespace tansolve
