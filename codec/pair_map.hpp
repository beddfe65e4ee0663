// SPDX-License-Identifier: BSD-3-Clause
// The hash table of the encoder: (delta, value bits) to a count and to the order of insertion.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tansolve::detail {

/// Pairs in the order in which they were first seen, and a table of their positions, at most a
/// quarter full, with linear probing. The table is small, and a pair seen once costs one access to
/// it.
class PairMap {
 public:
  PairMap() : slots_(64), shift_(58) {}

  /// Multiplicative hashing by odd constants (the golden ratio's bits): the high bits are the mixed
  /// ones.
  static std::uint64_t hash(std::uint32_t delta, std::uint64_t value) {
    const std::uint64_t key = value ^ (delta * 0xd6e8feb86659fd93u);
    return (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
  }

  /// All pairs, in the order of insertion.
  const std::vector<PairCount>& pairs() const { return pairs_; }

  /// The count of the pair, 0 when it is new.
  std::uint64_t& count(std::uint32_t delta, std::uint64_t value) {
    std::size_t i = probe(delta, value);
    if (slots_[i] == 0) {
      if (4 * (pairs_.size() + 1) > slots_.size()) {
        grow();
        i = probe(delta, value);
      }
      pairs_.push_back({.delta = delta, .value = value, .count = 0});
      slots_[i] = static_cast<std::uint32_t>(pairs_.size());
    }
    return pairs_[slots_[i] - 1].count;
  }

  /// One more than the number of pairs that were inserted before this one, 0 when it is absent.
  std::uint32_t find(std::uint32_t delta, std::uint64_t value) const {
    return slots_[probe(delta, value)];
  }

 private:
  std::size_t probe(std::uint32_t delta, std::uint64_t value) const {
    std::size_t i = hash(delta, value) >> shift_;
    while (slots_[i] != 0 &&
           (pairs_[slots_[i] - 1].delta != delta || pairs_[slots_[i] - 1].value != value))
      i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  void grow() {
    if (pairs_.size() > std::numeric_limits<std::uint32_t>::max() / 2)
      throw Error(ErrorCode::not_supported, "more than 2^31 distinct (delta, value) pairs");
    slots_.assign(2 * slots_.size(), 0);
    --shift_;
    for (std::size_t p = 0; p < pairs_.size(); ++p)
      slots_[probe(pairs_[p].delta, pairs_[p].value)] = static_cast<std::uint32_t>(p + 1);
  }

  std::vector<std::uint32_t> slots_;  ///< position in pairs_ + 1, or 0
  int shift_;                         ///< 64 - log2(slots_.size())
  std::vector<PairCount> pairs_;
};

}  // namespace tansolve::detail
