// SPDX-License-Identifier: BSD-3-Clause
// The hash table of the encoder: (delta, value bits) to a number, insertion and look-up only.
#pragma once

#include <tansolve/codec/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tansolve::detail {

/// Open addressing with linear probing, at most half full. The number of a pair is the `count`
/// field of its slot; 0 marks an empty slot, so numbers are positive once at() returned.
class PairMap {
 public:
  PairMap() : slots_(64), shift_(58) {}

  std::size_t size() const { return used_; }

  /// Makes room for `count` pairs. Before another map's pairs are added in its order, which is that
  /// of their hashes, this keeps the part filled first from clogging.
  void reserve(std::size_t count) {
    while (slots_.size() < 2 * count) grow();
  }

  /// The number of the pair, 0 when it is new; the caller must make it positive.
  std::uint64_t& at(std::uint32_t delta, std::uint64_t value) {
    std::size_t i = probe(delta, value);
    if (slots_[i].count == 0) {
      if (2 * (used_ + 1) > slots_.size()) {
        grow();
        i = probe(delta, value);
      }
      ++used_;
      slots_[i].delta = delta;
      slots_[i].value = value;
    }
    return slots_[i].count;
  }

  /// The number of the pair, 0 when it is absent.
  std::uint64_t find(std::uint32_t delta, std::uint64_t value) const {
    return slots_[probe(delta, value)].count;
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const PairCount& slot : slots_)
      if (slot.count != 0) visit(slot);
  }

 private:
  std::size_t probe(std::uint32_t delta, std::uint64_t value) const {
    // Multiplicative hashing by odd constants (the golden ratio's bits); the high bits are the
    // mixed ones.
    const std::uint64_t key = value ^ (delta * 0xd6e8feb86659fd93u);
    std::size_t i = (key ^ key >> 32) * 0x9e3779b97f4a7c15u >> shift_;
    while (slots_[i].count != 0 && (slots_[i].delta != delta || slots_[i].value != value))
      i = (i + 1) & (slots_.size() - 1);
    return i;
  }

  void grow() {
    std::vector<PairCount> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    for (const PairCount& slot : old)
      if (slot.count != 0) slots_[probe(slot.delta, slot.value)] = slot;
  }

  std::vector<PairCount> slots_;
  int shift_;
  std::size_t used_ = 0;
};

}  // namespace tansolve::detail
