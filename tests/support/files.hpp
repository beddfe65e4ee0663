// SPDX-License-Identifier: BSD-3-Clause
// Small files for tests: a folder that goes away, whole files in strings, the error of a call.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace tansolve::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tansolve-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::filesystem::remove(path_ / name);  // else some file systems flush what replaces a file
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// As zlib packs it with such window bits: 16 + MAX_WBITS for a gzip member, -MAX_WBITS for none of
/// its headers.
inline std::string deflated(const std::string& content, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// One gzip member.
inline std::string gzip(const std::string& content) {
  return deflated(content, 16 + MAX_WBITS);
}

/// What the call threw; empty when it returned.
template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// The same bits, except that one NaN is as good as another.
template <class T>
bool same_value(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (std::isnan(a) && std::isnan(b));
}

template <class T>
bool same_matrix(const Csr<T>& a, const Csr<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a.nnz() == b.nnz() &&
         std::equal(a.offsets().begin(), a.offsets().end(), b.offsets().begin()) &&
         std::equal(a.columns().begin(), a.columns().end(), b.columns().begin()) &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin(), same_value<T>);
}

}  // namespace tansolve::test
