// SPDX-License-Identifier: BSD-3-Clause
// Patterns as parts of others: rows at a boundary lack entries that the inner ones have.
#pragma once

#include <tansolve/codec/arrays.hpp>

#include <cstdint>
#include <vector>

namespace tansolve::detail {

/// A pattern as kernels read it: some entries of its base. Bit k % 32 of mask word k / 32 says
/// whether entry k of the base is there.
struct alignas(16) PatternInfo {
  std::uint32_t first;   ///< of the entries of the base
  std::uint32_t length;  ///< of the base
  std::uint32_t mask;    ///< mask word 0
  std::uint32_t masks;   ///< mask word c > 0 is number masks + c
};
static_assert(sizeof(PatternInfo) == 16);

struct PatternBases {
  std::vector<PatternInfo> patterns;
  std::vector<std::uint32_t> masks;
  std::vector<std::uint32_t> entries;  ///< of RowPatterns, base by base
};

/// Longest patterns first, each becomes part of one of the first bases that has all its entries, or
/// a base.
template <class T>
PatternBases find_bases(const RowPatterns<T>& patterns);

}  // namespace tansolve::detail
