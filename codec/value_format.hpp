// SPDX-License-Identifier: BSD-3-Clause
// In how few bits the values of a matrix can be written as fields.
#pragma once

#include <tansolve/codec/arrays.hpp>
#include <tansolve/codec/row_source.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tansolve {

/// What the format of values follows from.
template <class T>
struct ValueFacts {
  static constexpr int mantissa_bits = sizeof(T) == 8 ? 52 : 23;
  static constexpr int exponents = sizeof(T) == 8 ? 2048 : 256;
  /// Larger dictionaries would not stay in caches.
  static constexpr std::size_t most_distinct = 1 << 16;

  std::int64_t count = 0;
  std::uint64_t least = ValueFormat<T>::magnitude_mask;  ///< of the magnitudes
  std::uint64_t most = 0;
  std::uint64_t any = 0;  ///< all bits that are set in some magnitude
  std::array<std::int64_t, exponents> by_exponent{};
  bool many = false;                    ///< more than most_distinct distinct values
  std::vector<std::uint64_t> distinct;  ///< else their bits, ascending
};

/// From one pass over the values; the same for any number of threads.
template <class T>
ValueFacts<T> find_value_facts(const RowSource<T>& source, int threads = 0);
/// The same of values that are at hand.
template <class T>
ValueFacts<T> find_value_facts(std::span<const T> values, int threads = 0);

/// A format without its exceptions' places, and how many there will be, at most.
template <class T>
struct ValueFormatChoice {
  ValueFormat<T> format;
  std::int64_t exceptions = 0;
};

/// The format with the fewest bytes among: an index into a dictionary of at most 2^16 distinct
/// values (where each comes four times or more on average); the difference to the least magnitude;
/// the same where exponents outside a window are exceptions, at most one in 256; the bits as they
/// are. Zero bits that all values end with are dropped. `sign`: whether fields hold signs, where
/// they are no index.
template <class T>
ValueFormatChoice<T> choose_value_format(const ValueFacts<T>& facts, bool sign);

}  // namespace tansolve
