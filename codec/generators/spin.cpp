// SPDX-License-Identifier: BSD-3-Clause
// The spin-1/2 Heisenberg chain in its zero-magnetisation sector.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace tansolve::detail {
namespace {

/// The words of `sites` bits of which half are set, in increasing order, and the rank of each. The
/// rank is the sum of one number for the high and one for the low half of the word (Lin, Phys. Rev.
/// B 42, 1990): the words with smaller high halves, and the smaller low halves with as many bits.
class Basis {
 public:
  explicit Basis(std::int64_t sites) : low_bits_(static_cast<int>(sites / 2)) {
    const int up = low_bits_, high_bits = low_bits_;
    std::vector<std::vector<std::uint32_t>> low_words(low_bits_ + 1);  // by number of bits set
    low_rank_.resize(std::size_t{1} << low_bits_);
    for (std::uint32_t low = 0; low < low_rank_.size(); ++low) {
      auto& alike = low_words[std::popcount(low)];
      low_rank_[low] = static_cast<std::int32_t>(alike.size());
      alike.push_back(low);
    }
    high_rank_.resize(std::size_t{1} << high_bits);
    for (std::uint32_t high = 0; high < high_rank_.size(); ++high) {
      high_rank_[high] = static_cast<std::int32_t>(states_.size());
      for (const std::uint32_t low : low_words[up - std::popcount(high)])
        states_.push_back(high << low_bits_ | low);
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(states_.size()); }
  std::uint32_t state(std::int64_t rank) const { return states_[rank]; }
  std::int32_t rank(std::uint32_t state) const {
    return high_rank_[state >> low_bits_] + low_rank_[state & ((1U << low_bits_) - 1)];
  }

 private:
  int low_bits_;
  std::vector<std::int32_t> low_rank_;
  std::vector<std::int32_t> high_rank_;
  std::vector<std::uint32_t> states_;
};

}  // namespace

RowRule heisenberg(std::int64_t sites) {
  const auto basis = std::make_shared<const Basis>(sites);
  const int n = static_cast<int>(sites);
  const std::uint32_t mask = ~0U >> (32 - n);
  // Bit i tells whether the spins of bond (i, i + 1) are opposite.
  const auto opposite = [=](std::uint32_t s) { return (s ^ (s >> 1 | s << (n - 1))) & mask; };

  // S.S of a bond is 1/4 on parallel spins; on opposite ones it is -1/4, and 1/2 to the exchanged
  // pair.
  const auto length = [=](std::int64_t i) { return 1 + std::popcount(opposite(basis->state(i))); };
  const auto fill = [=](std::int64_t i, std::int32_t* columns, double* values) {
    const std::uint32_t state = basis->state(i);
    const std::uint32_t bonds = opposite(state);
    std::int32_t* end = columns;
    *end++ = static_cast<std::int32_t>(i);
    for (std::uint32_t rest = bonds; rest != 0; rest &= rest - 1) {
      const int bond = std::countr_zero(rest);
      *end++ = basis->rank(state ^ (1U << bond | 1U << (bond + 1) % n));
    }
    std::sort(columns, end);
    for (const std::int32_t* column = columns; column != end; ++column)
      *values++ = *column == i ? 0.25 * n - 0.5 * std::popcount(bonds) : 0.5;
  };
  return {basis->size(), length, fill};
}

}  // namespace tansolve::detail
