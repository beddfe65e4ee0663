// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only once it is complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

struct gzFile_s;

namespace tansolve {
namespace detail {
struct UnfinishedFile;
}

/// Removes what the OutputFiles of this process (16 at a time) have not committed. For the signal
/// handler of a program that is about to end: async-signal-safe.
void remove_unfinished_files() noexcept;

/// Writes to a temporary name beside the destination of `path`; commit() makes file and folder
/// durable and renames it, so that whoever opens `path` finds the old file or the whole new one.
/// Without commit() the destructor removes the temporary. Symbolic links are followed. A
/// destination that is an open descriptor
/// (/dev/stdout, /dev/fd/3) is written to where that stands, one that exists and is not a regular
/// file (a pipe, a device) directly.
///
/// Every failure of the operating system is Error io, which names `path` and the system's reason;
/// after one, the file can only be destroyed. Not thread-safe.
class OutputFile {
 public:
  /// With `gzip` the bytes written are compressed on their way.
  explicit OutputFile(std::filesystem::path path, bool gzip = false);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// Nothing may be written after it.
  void commit();

 private:
  void create_temporary();
  void remove_temporary();
  void forget_temporary();
  void flush();
  void put(const char* data, std::size_t bytes);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;                    // as the caller named it
  std::filesystem::path target_;                  // where it leads
  std::filesystem::path temporary_;               // empty where the target is written to directly
  detail::UnfinishedFile* remembered_ = nullptr;  // the temporary, for remove_unfinished_files()
  int descriptor_ = -1;
  gzFile_s* gzip_ = nullptr;  // owns a duplicate of the descriptor
  std::string buffer_;
};

}  // namespace tansolve
