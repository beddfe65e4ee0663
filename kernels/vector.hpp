// SPDX-License-Identifier: BSD-3-Clause
// Vectors that own memory of a backend, views of it, and scalars that stay there.
#pragma once

#include <tansolve/kernels/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace tansolve {
namespace detail {
/// size * width; throws Error: invalid_argument for a negative size, out_of_memory beyond 2^63 - 1.
std::size_t bytes_of(std::int64_t size, std::size_t width);
}  // namespace detail

/// A view of `size` contiguous elements in the memory of backend B; T may be const. The backend is
/// part of the type, so that a host view given to a device operator does not compile. Owns nothing.
template <class T, class B>
class Span {
 public:
  Span() = default;
  Span(T* data, std::int64_t size) : data_(data), size_(size) {}

  template <class U>
  requires std::is_same_v<T, const U> Span(Span<U, B> other)
      : data_(other.data()), size_(other.size()) {}

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  Span subspan(std::int64_t first, std::int64_t count) const { return {data_ + first, count}; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Owns `size` elements in the memory of a context, which must outlive it. Fresh elements are
/// unspecified (NaN on Checked). Moves, never copies silently: see copy_to_host and friends.
template <class T, class B>
class Vector {
 public:
  /// Throws Error: invalid_argument for a negative size, out_of_memory.
  Vector(Context<B>& context, std::int64_t size)
      : context_(&context),
        data_(static_cast<T*>(context.allocate(detail::bytes_of(size, sizeof(T))))),
        size_(size) {}
  Vector(Vector&& other) noexcept
      : context_(other.context_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Vector& operator=(Vector&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Vector() {
    if (data_ != nullptr) context_->release(data_);
  }

  std::int64_t size() const { return size_; }
  Context<B>& context() const { return *context_; }
  Span<T, B> span() { return {data_, size_}; }
  Span<const T, B> span() const { return {data_, size_}; }
  operator Span<T, B>() { return span(); }
  operator Span<const T, B>() const { return span(); }

 private:
  Context<B>* context_;
  T* data_;
  std::int64_t size_;
};

/// One number in the memory of a backend: the result of a reduction, the coefficient of an update.
template <class T, class B>
class Scalar {
 public:
  explicit Scalar(Context<B>& context) : storage_(std::in_place, context, 1) {
    data_ = storage_->span().data();
  }
  /// The first element of a view, whose memory must outlive this.
  explicit Scalar(Span<T, B> element) : data_(element.data()) {}
  Scalar(Scalar&&) noexcept = default;
  Scalar& operator=(Scalar&&) noexcept = default;

  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  std::optional<Vector<T, B>> storage_;
  T* data_;
};

// Every transfer is spelled: these wait until the data has arrived. Sizes must agree, else
// Error(invalid_argument).
template <class T, class B>
void copy_from_host(Context<B>& context, std::type_identity_t<std::span<const T>> from,
                    Span<T, B> to);
template <class T, class B>
void copy_to_host(Context<B>& context, std::type_identity_t<Span<const T, B>> from,
                  std::span<T> to);
template <class T, class B>
T read(Context<B>& context, const Scalar<T, B>& scalar);
template <class T, class B>
void write(Context<B>& context, std::type_identity_t<T> value, Scalar<T, B>& scalar);

}  // namespace tansolve
