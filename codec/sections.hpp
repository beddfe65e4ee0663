// SPDX-License-Identifier: BSD-3-Clause
// Arrays into and out of the sections of a container.
#pragma once

#include <tansolve/codec/error.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tansolve::detail {

/// Appends the bytes of an array.
template <class U>
void put(std::string& out, const U* data, std::size_t count) {
  out.append(reinterpret_cast<const char*>(data), count * sizeof(U));
}

/// Takes arrays from a section, in order.
class SectionReader {
 public:
  SectionReader(std::string_view bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}

  template <class U>
  std::vector<U> take(std::uint64_t count) {
    if (count > rest_.size() / sizeof(U))
      throw Error(ErrorCode::bad_input, what_ + ": it must hold " + std::to_string(count) +
                                            " elements of " + std::to_string(sizeof(U)) +
                                            " bytes, but " + std::to_string(rest_.size()) +
                                            " bytes are left");
    std::vector<U> array(count);
    if (count > 0) std::memcpy(array.data(), rest_.data(), count * sizeof(U));
    rest_.remove_prefix(count * sizeof(U));
    return array;
  }

  template <class U>
  std::vector<U> take_all() {
    auto array = take<U>(rest_.size() / sizeof(U));
    finish();
    return array;
  }

  void finish() const {
    if (!rest_.empty())
      throw Error(ErrorCode::bad_input, what_ + ": " + std::to_string(rest_.size()) +
                                            " bytes more than what it must hold");
  }

 private:
  std::string_view rest_;
  std::string what_;
};

}  // namespace tansolve::detail
