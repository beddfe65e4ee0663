// SPDX-License-Identifier: BSD-3-Clause
// The members of a ZIP archive in memory, stored or deflated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::detail {

/// A directory of an archive (PKWARE's APPNOTE, 6.3: sections 4.3.7, 4.3.12 to 4.3.16 and, for
/// archives of 4 GiB and more, 4.5.3). Refers to the archive's bytes. Its constructor and read()
/// throw Error, naming the archive, the member and where it lies: bad_input for what is damaged,
/// not_supported for encryption and methods other than 0 (stored) and 8 (deflated).
class ZipArchive {
 public:
  ZipArchive(std::string name, std::string_view bytes);

  bool has(std::string_view member) const { return find(member) != nullptr; }
  /// The bytes of a member, whose checksum is right.
  std::string read(std::string_view member,
                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  std::size_t bytes() const { return bytes_.size(); }
  /// What errors call a member.
  std::string title(std::string_view member) const;

 private:
  struct Member {
    std::string_view name;
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, offset = 0;  ///< bytes, and where its header is
  };

  const Member* find(std::string_view member) const;
  void read_directory(std::uint64_t at, std::uint64_t end, std::uint64_t count);
  std::string_view packed_bytes(const Member& member) const;

  std::string name_;
  std::string_view bytes_;
  std::vector<Member> members_;
};

}  // namespace tansolve::detail
