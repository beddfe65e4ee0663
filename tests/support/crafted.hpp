// SPDX-License-Identifier: BSD-3-Clause
// Containers as someone crafts them: damaged at will, then with right sizes and checksums.
#pragma once

#include <tansolve/codec/container.hpp>

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tansolve::test {

// FORMAT.md 4.1 and 4.2.
inline constexpr std::size_t header_bytes = 72, section_entry_bytes = 24;
inline constexpr std::uint32_t most_sections = 6;

template <class U>
void store(std::string& file, std::size_t at, U value) {
  std::memcpy(&file[at], &value, sizeof value);
}
template <class U>
U load(std::string_view file, std::size_t at) {
  U value;
  std::memcpy(&value, &file[at], sizeof value);
  return value;
}

/// Makes the magic, the file's size and all checksums right, so that the file is read beyond them.
inline void repair_container(std::string& file) {
  if (file.size() < header_bytes) return;
  const auto crc_of = [&](std::size_t offset, std::size_t bytes) {
    return static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(file.data()) + offset, bytes));
  };
  container_magic.copy(file.data(), container_magic.size());
  store(file, 8, std::uint32_t{1});
  store(file, 16, static_cast<std::uint64_t>(file.size()));
  const auto sections = load<std::uint32_t>(file, 12);
  if (sections <= most_sections && header_bytes + sections * section_entry_bytes <= file.size()) {
    for (std::size_t s = 0; s < sections; ++s) {
      const std::size_t entry = header_bytes + s * section_entry_bytes;
      const auto offset = load<std::uint64_t>(file, entry + 8),
                 bytes = load<std::uint64_t>(file, entry + 16);
      if (offset <= file.size() && bytes <= file.size() - offset)
        store(file, entry + 4, crc_of(offset, bytes));
    }
    store(file, 60, crc_of(header_bytes, sections * section_entry_bytes));
  }
  store(file, 68, crc_of(0, 68));
}

}  // namespace tansolve::test
