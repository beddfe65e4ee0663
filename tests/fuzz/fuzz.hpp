// SPDX-License-Identifier: BSD-3-Clause
// What every target says: whom it feeds, and what mutations begin with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::fuzz {

/// Small valid inputs, and those that once failed.
std::vector<std::string> seeds();

/// Feeds the code under test; whatever it does but return or throw what it documents is a finding.
void feed(std::string_view input);

/// Prints what is wrong and aborts.
[[noreturn]] void finding(const std::string& what);

/// No input of a few kilobytes justifies more; larger requests throw std::bad_alloc, as they would
/// on a machine without that much memory.
inline constexpr std::size_t most_bytes = std::size_t{1} << 28;

}  // namespace tansolve::fuzz
