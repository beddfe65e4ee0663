// SPDX-License-Identifier: BSD-3-Clause
// Which pattern is part of which, by merging their sorted entries.
#include <tansolve/codec/histogram.hpp>
#include <tansolve/kernels/cuda/pattern_bases.hpp>

#include <algorithm>
#include <numeric>

namespace tansolve::detail {
namespace {

/// Only so many bases are tried, so that many patterns take no longer than their number.
constexpr std::ptrdiff_t most_tried = 64;

/// Of a pattern of `length` entries: more would waste time on masks of mostly zeros.
constexpr std::uint64_t longest_base(std::uint32_t length) {
  return 32 + 4 * std::uint64_t{length};
}

/// Whether base b has all entries of pattern p, and which they are, as bits.
template <class T>
bool is_part(const RowPatterns<T>& patterns, std::uint32_t p, std::uint32_t b,
             std::vector<std::uint32_t>& mask) {
  const std::uint32_t length = patterns.length(b);
  mask.assign((length + 31) / 32, 0);
  std::uint32_t at = patterns.starts[p];
  const std::uint32_t end = patterns.starts[p + 1];
  for (std::uint32_t k = 0; k < length && at < end; ++k) {
    const std::uint32_t entry = patterns.starts[b] + k;
    if (patterns.offsets[entry] != patterns.offsets[at]) continue;
    if (value_bits(patterns.values[entry]) != value_bits(patterns.values[at])) return false;
    mask[k / 32] |= 1u << k % 32;
    ++at;
  }
  return at == end;
}

}  // namespace

template <class T>
PatternBases find_bases(const RowPatterns<T>& patterns) {
  PatternBases found;
  found.patterns.resize(patterns.count());
  std::vector<std::uint32_t> by_length(patterns.count());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(), [&](std::uint32_t a, std::uint32_t b) {
    return patterns.length(a) > patterns.length(b);
  });
  std::vector<std::uint32_t> bases, mask;
  for (const std::uint32_t p : by_length) {
    const auto tried = bases.begin() + std::min(std::ssize(bases), most_tried);
    const auto base = std::find_if(bases.begin(), tried, [&](std::uint32_t b) {
      return patterns.length(b) <= longest_base(patterns.length(p)) &&
             is_part(patterns, p, b, mask);
    });
    PatternInfo& info = found.patterns[p];
    if (base != tried) {
      info = found.patterns[*base];
    } else {
      info = {static_cast<std::uint32_t>(found.entries.size()), patterns.length(p), 0, 0};
      for (std::uint32_t e = patterns.starts[p]; e < patterns.starts[p + 1]; ++e)
        found.entries.push_back(e);
      bases.push_back(p);
      is_part(patterns, p, p, mask);
    }
    info.mask = mask.empty() ? 0 : mask[0];
    if (mask.size() < 2) continue;
    info.masks = static_cast<std::uint32_t>(found.masks.size()) - 1;
    found.masks.insert(found.masks.end(), mask.begin() + 1, mask.end());
  }
  return found;
}

template PatternBases find_bases(const RowPatterns<double>&);
template PatternBases find_bases(const RowPatterns<float>&);

}  // namespace tansolve::detail
