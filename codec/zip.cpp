// SPDX-License-Identifier: BSD-3-Clause
// The directory at the end of an archive, then members where it says.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/zip.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace tansolve::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

constexpr std::uint64_t most_members = 1000;  // a matrix has six at most
constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50,
                        end_signature = 0x06054b50, end64_signature = 0x06064b50,
                        locator64_signature = 0x07064b50;
constexpr std::size_t local_bytes = 30, entry_bytes = 46, end_bytes = 22, end64_bytes = 56,
                      locator64_bytes = 20;
constexpr std::uint32_t in_zip64 = 0xffffffff;
constexpr std::size_t most_comment = 65535;
/// Of deflate: 258 bytes of a match take 2 bits at least.
constexpr std::uint64_t most_inflation = 1032;

[[noreturn]] void refuse(const std::string& title, const std::string& what,
                         ErrorCode code = ErrorCode::bad_input) {
  throw Error(code, fmt::format("{}: {}", title, what));
}

/// The number at `at`, which lies inside.
template <class U>
U number(std::string_view bytes, std::uint64_t at) {
  U value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool inside(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

/// Where the record at the end begins.
std::size_t find_end(const std::string& title, std::string_view bytes) {
  for (std::size_t comment = 0; comment <= most_comment; ++comment) {
    if (bytes.size() < end_bytes + comment) break;
    const std::size_t at = bytes.size() - end_bytes - comment;
    if (number<std::uint32_t>(bytes, at) == end_signature &&
        number<std::uint16_t>(bytes, at + 20) == comment)
      return at;
  }
  refuse(title, "the archive has no directory at its end; the file is cut short");
}

/// Replaces what a 32-bit field could not hold by the fields of the extension 0x0001, in order.
void read_zip64(std::string_view extra, std::initializer_list<std::uint64_t*> fields) {
  while (extra.size() >= 4) {
    const auto kind = number<std::uint16_t>(extra, 0);
    const std::size_t size = number<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) return;
    std::string_view data = extra.substr(4, size);
    if (kind == 1)
      for (std::uint64_t* field : fields)
        if (*field == in_zip64 && data.size() >= 8) {
          *field = number<std::uint64_t>(data, 0);
          data.remove_prefix(8);
        }
    extra.remove_prefix(4 + size);
  }
}

class RawInflater {
 public:
  RawInflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~RawInflater() { inflateEnd(&stream); }
  RawInflater(const RawInflater&) = delete;
  RawInflater& operator=(const RawInflater&) = delete;

  z_stream stream{};
};

/// Exactly `size` bytes.
std::string inflated(const std::string& title, std::string_view packed, std::uint64_t size) {
  std::string out(size, '\0');
  RawInflater inflater;
  z_stream& stream = inflater.stream;
  constexpr std::size_t piece = std::size_t{1} << 30;  // zlib counts in 32 bits
  std::size_t taken = 0, made = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t in = std::min(packed.size() - taken, piece),
                      room = std::min(size - made, piece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    result = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_STREAM_END)
    refuse(title, fmt::format("its deflated data is damaged or cut short after {} of {} bytes ({})",
                              made, size, stream.msg != nullptr ? stream.msg : "no reason given"));
  if (made != size) refuse(title, fmt::format("{} bytes, but the directory has {}", made, size));
  return out;
}

}  // namespace

ZipArchive::ZipArchive(std::string name, std::string_view bytes)
    : name_(std::move(name)), bytes_(bytes) {
  const std::size_t end = find_end(name_, bytes_);
  std::uint64_t count = number<std::uint16_t>(bytes_, end + 10),
                size = number<std::uint32_t>(bytes_, end + 12),
                at = number<std::uint32_t>(bytes_, end + 16);
  std::uint64_t directory_end = end;
  if (end >= locator64_bytes &&
      number<std::uint32_t>(bytes_, end - locator64_bytes) == locator64_signature) {
    directory_end = number<std::uint64_t>(bytes_, end - locator64_bytes + 8);
    if (!inside(bytes_, directory_end, end64_bytes) ||
        number<std::uint32_t>(bytes_, directory_end) != end64_signature)
      refuse(name_,
             fmt::format("no ZIP64 record at byte {}, where one is said to be", directory_end));
    count = number<std::uint64_t>(bytes_, directory_end + 32);
    size = number<std::uint64_t>(bytes_, directory_end + 40);
    at = number<std::uint64_t>(bytes_, directory_end + 48);
  }
  if (at > directory_end || size != directory_end - at)
    refuse(name_, fmt::format("a directory of {} bytes at byte {} does not end at byte {}", size,
                              at, directory_end));
  read_directory(at, directory_end, count);
}

void ZipArchive::read_directory(std::uint64_t at, std::uint64_t end, std::uint64_t count) {
  if (count > most_members)
    refuse(
        name_,
        fmt::format("{} members; archives of more than {} are not supported", count, most_members),
        ErrorCode::not_supported);
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto damaged = [&] {
      refuse(name_, fmt::format("entry {} of {} of the directory, at byte {}, is damaged", k + 1,
                                count, at));
    };
    if (end - at < entry_bytes || number<std::uint32_t>(bytes_, at) != entry_signature) damaged();
    const std::uint64_t name_bytes = number<std::uint16_t>(bytes_, at + 28),
                        extra_bytes = number<std::uint16_t>(bytes_, at + 30),
                        comment_bytes = number<std::uint16_t>(bytes_, at + 32);
    if (name_bytes + extra_bytes + comment_bytes > end - at - entry_bytes) damaged();
    Member member{
        bytes_.substr(at + entry_bytes, name_bytes), number<std::uint16_t>(bytes_, at + 8),
        number<std::uint16_t>(bytes_, at + 10),      number<std::uint32_t>(bytes_, at + 16),
        number<std::uint32_t>(bytes_, at + 20),      number<std::uint32_t>(bytes_, at + 24),
        number<std::uint32_t>(bytes_, at + 42)};
    read_zip64(bytes_.substr(at + entry_bytes + name_bytes, extra_bytes),
               {&member.size, &member.packed, &member.offset});
    if (find(member.name) != nullptr)
      refuse(name_, fmt::format("the directory has {} twice", title(member.name)));
    members_.push_back(member);
    at += entry_bytes + name_bytes + extra_bytes + comment_bytes;
  }
}

const ZipArchive::Member* ZipArchive::find(std::string_view member) const {
  const auto at = std::ranges::find(members_, member, &Member::name);
  return at == members_.end() ? nullptr : &*at;
}

std::string ZipArchive::title(std::string_view member) const {
  return fmt::format("{}({})", name_, member.substr(0, 80));
}

std::string_view ZipArchive::packed_bytes(const Member& member) const {
  const std::string what = title(member.name);
  if (!inside(bytes_, member.offset, local_bytes) ||
      number<std::uint32_t>(bytes_, member.offset) != local_signature)
    refuse(what, fmt::format("there is no member at byte {}", member.offset));
  const std::uint64_t name_bytes = number<std::uint16_t>(bytes_, member.offset + 26),
                      extra_bytes = number<std::uint16_t>(bytes_, member.offset + 28),
                      at = member.offset + local_bytes + name_bytes + extra_bytes;
  if (!inside(bytes_, at, member.packed))
    refuse(what, fmt::format("{} bytes at byte {} reach beyond the file's {}", member.packed, at,
                             bytes_.size()));
  return bytes_.substr(at, member.packed);
}

std::string ZipArchive::read(std::string_view name, std::uint64_t most) const {
  const Member* member = find(name);
  const std::string what = title(name);
  if (member == nullptr) refuse(what, "the archive has no such member");
  if (member->size > most)
    refuse(what, fmt::format("{} bytes, there must be no more than {}", member->size, most));
  if ((member->flags & 1) != 0) refuse(what, "it is encrypted", ErrorCode::not_supported);
  if (member->method != 0 && member->method != 8)
    refuse(what,
           fmt::format("compression method {}; readable are 0 (stored) and 8 (deflated)",
                       member->method),
           ErrorCode::not_supported);
  const std::string_view packed = packed_bytes(*member);
  const bool stored = member->method == 0;
  if (stored ? member->size != member->packed : member->size / most_inflation > member->packed + 1)
    refuse(what, fmt::format("{} bytes cannot hold the {} that the directory has", member->packed,
                             member->size));
  std::string out = stored ? std::string(packed) : inflated(what, packed, member->size);
  if (crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size()) != member->crc)
    refuse(what, "its checksum is wrong; the file is damaged");
  return out;
}

}  // namespace tansolve::detail
