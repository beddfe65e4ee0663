// SPDX-License-Identifier: BSD-3-Clause
// What every target says: whom it feeds, what mutations begin with, and how inputs come apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::fuzz {

using Parts = std::vector<std::string>;

/// A small valid input, and the reader that must accept it, lest the seed rot.
struct Seed {
  std::string_view reader;
  std::string bytes;
};

inline Parts whole(std::string_view input) {
  return {std::string(input)};
}
inline std::string only(const Parts& parts) {
  return parts.front();
}

struct Target {
  std::vector<Seed> (*seeds)();

  /// Feeds the code under test and returns who accepted the input; whatever the code does but
  /// return or throw what it documents is a finding.
  std::vector<std::string_view> (*feed)(std::string_view input);

  /// Mutations change one part: what the others say of its place, length and checksum is made right
  /// by `joined`, so that they reach what is behind. An input that does not come apart is one part.
  Parts (*split)(std::string_view input) = whole;
  std::string (*joined)(const Parts& parts) = only;
};

extern const Target target;

/// Prints what is wrong and aborts.
[[noreturn]] void finding(const std::string& what);

/// No input of a few kilobytes justifies more; larger requests throw std::bad_alloc, as they would
/// on a machine without that much memory.
inline constexpr std::size_t most_bytes = std::size_t{1} << 28;

}  // namespace tansolve::fuzz
