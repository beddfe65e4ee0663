// SPDX-License-Identifier: BSD-3-Clause
// A whole file in memory, decompressed where it is gzip data.
#pragma once

#include <tansolve/codec/parallel.hpp>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tansolve {

/// The bytes of a file, a pipe or an open descriptor (/dev/stdin, from where it stands), read once.
/// Gzip data (of any number of members) is recognised by its first two bytes, whatever the name,
/// and decompressed. Throws Error: io when the file cannot be read, bad_input when the gzip data is
/// damaged or ends too early.
class InputFile {
 public:
  /// `progress` is called where the size is known beforehand, so not for a pipe.
  explicit InputFile(const std::filesystem::path& path, const Progress& progress = {});
  /// A copy of bytes in memory, which errors call `name`.
  InputFile(std::string name, std::string_view text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return {data_.get(), size_}; }

  /// Gives the memory back; text() is empty from then on.
  void release();

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };

  void grow(std::size_t capacity);
  void read_plain(int descriptor, std::string_view head, std::size_t expected,
                  const Progress& progress);
  void read_gzip(int descriptor, std::string_view head, std::size_t expected,
                 const Progress& progress);
  std::size_t read_block(int descriptor, char* data, std::size_t bytes) const;

  std::string name_;
  std::unique_ptr<char[], Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace tansolve
