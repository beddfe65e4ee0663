// SPDX-License-Identifier: BSD-3-Clause
// Buffered writing under a temporary name, through POSIX calls whose every result is checked.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/output_file.hpp>
#include <tansolve/codec/resolved_path.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

namespace tansolve {

/// The name of a temporary. It is never freed, so that a signal handler may read it at any time.
struct detail::UnfinishedFile {
  enum State { unused, changing, present };
  std::atomic<State> state = unused;
  char name[PATH_MAX];
};

namespace {

using detail::UnfinishedFile;
static_assert(std::atomic<UnfinishedFile::State>::is_always_lock_free);
std::array<UnfinishedFile, 16> unfinished_files;

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t most_written = std::size_t{1} << 30;  // gzwrite and write count in 31 bits

/// Null where all are taken or the name is too long.
UnfinishedFile* remember(const std::string& name) {
  if (name.size() >= PATH_MAX) return nullptr;
  for (UnfinishedFile& file : unfinished_files) {
    auto expected = UnfinishedFile::unused;
    if (!file.state.compare_exchange_strong(expected, UnfinishedFile::changing)) continue;
    std::memcpy(file.name, name.c_str(), name.size() + 1);
    file.state = UnfinishedFile::present;
    return &file;
  }
  return nullptr;
}

[[noreturn]] void fail_write(const fs::path& path, const char* reason) {
  throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", path.string(), reason));
}

/// So that the new name outlives a loss of power. A folder that may not be read, and file systems
/// that cannot do this, are left as they are.
int sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace

void remove_unfinished_files() noexcept {
  for (const UnfinishedFile& file : unfinished_files)
    if (file.state == UnfinishedFile::present) ::unlink(file.name);
}

OutputFile::OutputFile(fs::path path, bool gzip) : path_(std::move(path)) {
  const ResolvedPath destination = resolve(path_);
  target_ = destination.path;
  std::error_code ignored;
  const fs::file_status status = fs::status(target_, ignored);
  if (destination.descriptor >= 0) {
    descriptor_ = ::fcntl(destination.descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) fail(errno);
  } else if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
  } else {
    create_temporary();
  }
  if (gzip) {
    const int duplicate = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (duplicate >= 0) gzip_ = gzdopen(duplicate, "wb");
    if (gzip_ == nullptr) {
      const int error = errno;
      if (duplicate >= 0) ::close(duplicate);
      ::close(descriptor_);
      remove_temporary();
      fail(error);
    }
  }
}

OutputFile::~OutputFile() {
  if (gzip_ != nullptr) gzclose(gzip_);
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  remove_temporary();
}

void OutputFile::create_temporary() {
  static std::atomic<unsigned> serial = 0;
  do {
    forget_temporary();
    temporary_ = target_;
    temporary_ += fmt::format(".part-{}-{}", ::getpid(), serial++);
    remembered_ = remember(temporary_.string());  // before it exists: a signal may come between
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ >= 0) return;
  const int error = errno;
  forget_temporary();
  fail(error);
}

void OutputFile::remove_temporary() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget_temporary();
}

void OutputFile::forget_temporary() {
  temporary_.clear();
  if (remembered_ != nullptr) std::exchange(remembered_, nullptr)->state = UnfinishedFile::unused;
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
  if (!temporary_.empty()) {
    if (::fsync(descriptor_) != 0) fail(errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    forget_temporary();
    if (const int error = sync_folder(target_); error != 0) fail(error);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void OutputFile::flush() {
  put(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void OutputFile::put(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, most_written);
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
  fail_write(path_, error != 0 ? std::strerror(error) : "compression failed");
}

}  // namespace tansolve
