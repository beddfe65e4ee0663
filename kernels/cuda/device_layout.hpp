// SPDX-License-Identifier: BSD-3-Clause
// Many host arrays into one allocation on the GPU.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tansolve::detail {

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// The sections of an allocation, in order, each at a multiple of `alignment` bytes. Refers to the
/// arrays and the pointers that it is given.
class DeviceLayout {
 public:
  static constexpr std::size_t alignment = 256;

  /// Room for the elements, which send() copies; it sets `pointer`.
  template <class E>
  void add(std::span<const E> elements, const E*& pointer) {
    sections_.push_back({std::as_bytes(elements), bytes_,
                         [&pointer](std::byte* at) { pointer = reinterpret_cast<const E*>(at); }});
    bytes_ += rounded_up(elements.size_bytes(), alignment);
  }
  /// Room for `count` elements.
  template <class E>
  void reserve(std::size_t count, E*& pointer) {
    sections_.push_back(
        {{}, bytes_, [&pointer](std::byte* at) { pointer = reinterpret_cast<E*>(at); }});
    bytes_ += rounded_up(count * sizeof(E), alignment);
  }

  std::size_t bytes() const { return bytes_; }

  /// Allocates, copies and waits; the caller releases. Throws Error: out_of_memory, device.
  void* send(Context<Cuda>& context) const;

 private:
  struct Section {
    std::span<const std::byte> elements;
    std::size_t offset;
    std::function<void(std::byte*)> place;
  };
  std::vector<Section> sections_;
  std::size_t bytes_ = 0;
};

}  // namespace tansolve::detail
