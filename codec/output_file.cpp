// SPDX-License-Identifier: BSD-3-Clause
// Buffered writing under a temporary name, through POSIX calls whose every result is checked.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/output_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tansolve {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t piece_bytes = std::size_t{1} << 30;  // gzwrite and write count in 31 bits

}  // namespace

OutputFile::OutputFile(fs::path path, bool gzip) : path_(std::move(path)), target_(path_) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path_, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
  } else {
    if (fs::exists(status)) target_ = fs::canonical(path_, ignored);
    create_temporary();
  }
  if (gzip) {
    const int duplicate = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (duplicate >= 0) gzip_ = gzdopen(duplicate, "wb");
    if (gzip_ == nullptr) {
      const int error = errno;
      if (duplicate >= 0) ::close(duplicate);
      ::close(descriptor_);
      if (!temporary_.empty()) ::unlink(temporary_.c_str());
      fail(error);
    }
  }
}

OutputFile::~OutputFile() {
  if (gzip_ != nullptr) gzclose(gzip_);
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
}

void OutputFile::create_temporary() {
  static std::atomic<unsigned> serial = 0;
  do {
    temporary_ = target_;
    temporary_ += fmt::format(".part-{}-{}", ::getpid(), serial++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail(errno);
}

void OutputFile::write(const void* data, std::size_t bytes) {
  if (descriptor_ < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: written to after commit()", path_.string()));
  if (buffer_.size() + bytes > buffer_bytes) flush();
  if (bytes > buffer_bytes)
    put(static_cast<const char*>(data), bytes);
  else
    buffer_.append(static_cast<const char*>(data), bytes);
}

void OutputFile::commit() {
  if (descriptor_ < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: committed more than once", path_.string()));
  flush();
  if (gzip_ != nullptr) {
    errno = 0;
    if (gzclose(std::exchange(gzip_, nullptr)) != Z_OK) fail(errno);
  }
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail(errno);
  if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void OutputFile::flush() {
  put(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void OutputFile::put(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, piece_bytes);
    errno = 0;
    const ssize_t written = gzip_ != nullptr ? gzwrite(gzip_, data, static_cast<unsigned>(piece))
                                             : ::write(descriptor_, data, piece);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(errno);
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void OutputFile::fail(int error) const {
  throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", path_.string(),
                                         error != 0 ? std::strerror(error) : "compression failed"));
}

}  // namespace tansolve
