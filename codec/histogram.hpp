// SPDX-License-Identifier: BSD-3-Clause
// How often each (delta, value) pair occurs in a matrix: what entropies, tables and plans follow
// from.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/row_source.hpp>

#include <bit>
#include <cstdint>
#include <vector>

namespace tansolve {

/// The bits of a value: symbols are compared by them, so that -0 is not 0 and a NaN keeps its
/// payload.
constexpr std::uint64_t value_bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
constexpr std::uint64_t value_bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
template <class T>
constexpr T value_of_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
}

/// A pair, or half of one with the other field 0. A row's first delta is its column minus the row's
/// index, the others are differences to the column before; all modulo 2^32.
struct PairCount {
  std::uint32_t delta = 0;
  std::uint64_t value = 0;  ///< bits
  std::uint64_t count = 0;
};

struct Histogram {
  std::vector<PairCount> pairs;   ///< by count descending, then delta, then value
  std::vector<PairCount> deltas;  ///< the same of the deltas alone
  std::vector<PairCount> values;  ///< the same of the values alone
  std::uint64_t total = 0;        ///< pairs counted
  bool sampled = false;           ///< total < nnz: counted on evenly spread blocks of rows

  /// Shannon entropy, bits a nonzero.
  static double entropy(const std::vector<PairCount>& counts);
};

/// Counts all nonzeros, or, where a sample says that most pairs occur once, only the sample, of at
/// most 2^16 or 2^20: such a matrix has nearly as many pairs as nonzeros. Independent of the number
/// of threads.
template <class T>
Histogram count_pairs(const RowSource<T>& source, int threads = 0);
template <class T>
Histogram count_pairs(const Csr<T>& matrix, int threads = 0) {
  return count_pairs(CsrRows<T>(matrix), threads);
}

}  // namespace tansolve
