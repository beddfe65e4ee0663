// SPDX-License-Identifier: BSD-3-Clause
// Reading by read(2), which a pipe allows too and which no concurrent truncation turns into a
// signal.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/resolved_path.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr std::size_t most_read = std::size_t{1} << 30;   // zlib and read count in 31 bits
constexpr std::size_t step_bytes = std::size_t{1} << 24;  // between two calls of progress
constexpr char gzip_magic[] = {'\x1f', '\x8b'};

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

class Inflater {
 public:
  Inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

[[noreturn]] void fail_read(const std::string& name, int error) {
  throw Error(ErrorCode::io, fmt::format("cannot read {}: {}", name, std::strerror(error)));
}

void report(const Progress& progress, std::size_t done, std::size_t expected) {
  if (progress && expected > 0)  // a file may grow while it is read
    progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(expected)));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, const Progress& progress)
    : name_(path.string()) {
  const ResolvedPath source = resolve(path);
  const Descriptor file{source.descriptor >= 0 ? ::fcntl(source.descriptor, F_DUPFD_CLOEXEC, 0)
                                               : ::open(source.path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail_read(name_, errno);
  struct stat status {};
  const bool regular = ::fstat(file.value, &status) == 0 && S_ISREG(status.st_mode);
  const std::size_t expected = regular ? static_cast<std::size_t>(status.st_size) : 0;
  std::vector<char> block(block_bytes);
  const std::string_view head(block.data(), read_block(file.value, block.data(), block.size()));
  if (head.starts_with(std::string_view(gzip_magic, sizeof gzip_magic)))
    read_gzip(file.value, head, expected, progress);
  else
    read_plain(file.value, head, expected, progress);
}

InputFile::InputFile(std::string name, std::string_view text) : name_(std::move(name)) {
  grow(text.size() + 1);
  size_ = text.copy(data_.get(), text.size());
}

void InputFile::release() {
  data_.reset();
  size_ = capacity_ = 0;
}

/// realloc, since it moves pages rather than bytes once the text is large.
void InputFile::grow(std::size_t capacity) {
  auto* data = static_cast<char*>(std::realloc(data_.get(), capacity));
  if (data == nullptr)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{}: no memory for {} bytes of its text", name_, capacity));
  static_cast<void>(data_.release());
  data_.reset(data);
  capacity_ = capacity;
}

/// Fills `data` unless the file ends first.
std::size_t InputFile::read_block(int descriptor, char* data, std::size_t bytes) const {
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::read(descriptor, data + filled, std::min(bytes - filled, most_read));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_read(name_, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void InputFile::read_plain(int descriptor, std::string_view head, std::size_t expected,
                           const Progress& progress) {
  grow(std::max(expected, head.size()) + 1);  // one more, to meet the end without growing again
  size_ = head.size();
  std::copy_n(head.data(), size_, data_.get());
  for (bool more = size_ == block_bytes; more;) {
    if (size_ == capacity_) grow(2 * capacity_);
    const std::size_t wanted = std::min(capacity_ - size_, step_bytes);
    const std::size_t got = read_block(descriptor, data_.get() + size_, wanted);
    size_ += got;
    more = got == wanted;
    report(progress, size_, expected);
  }
}

void InputFile::read_gzip(int descriptor, std::string_view head, std::size_t expected,
                          const Progress& progress) {
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::vector<char> block(head.begin(), head.end());
  stream.next_in = reinterpret_cast<Bytef*>(block.data());
  stream.avail_in = static_cast<uInt>(block.size());
  grow(4 * block_bytes);
  bool inside_member = true;
  std::size_t packed = head.size();
  while (true) {
    if (stream.avail_in == 0) {
      block.resize(block_bytes);
      const std::size_t got = read_block(descriptor, block.data(), block.size());
      if (got == 0 && !inside_member) return;
      if (got == 0)
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: its gzip data ends too early; the file is truncated", name_));
      stream.next_in = reinterpret_cast<Bytef*>(block.data());
      stream.avail_in = static_cast<uInt>(got);
      packed += got;
      report(progress, packed, expected);
    }
    if (!inside_member && *stream.next_in == 0) {  // padding, as tapes and block devices leave it
      ++stream.next_in;
      --stream.avail_in;
      continue;
    }
    inside_member = true;
    if (size_ == capacity_) grow(2 * capacity_);
    const std::size_t room = std::min(capacity_ - size_, most_read);
    stream.next_out = reinterpret_cast<Bytef*>(data_.get() + size_);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    size_ += room - stream.avail_out;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    if (result == Z_STREAM_END) {
      inside_member = false;
      inflateReset(&stream);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: its gzip data is damaged after {} bytes of text ({})", name_,
                              size_, stream.msg != nullptr ? stream.msg : "no reason given"));
    }
  }
}

}  // namespace tansolve
