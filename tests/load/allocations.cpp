// SPDX-License-Identifier: BSD-3-Clause
// Every way in which the library asks for memory, replaced.
#include "load/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#ifdef __SANITIZE_ADDRESS__  // of which GCC installs no header
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace {

std::atomic<std::int64_t> live_count = 0, until_failure = -1;
std::atomic<bool> it_failed = false;
std::atomic<std::int64_t> peak_seen = 0;

void look_at_peak(std::size_t requested) {
  if (requested < (64 << 10)) return;
  const std::int64_t now = tansolve::test::live_bytes();
  std::int64_t before = peak_seen;
  while (now > before && !peak_seen.compare_exchange_weak(before, now)) {
  }
}

/// Whether this is the one.
bool fails() {
  if (until_failure.load() < 0 || until_failure.fetch_sub(1) != 0) return false;
  it_failed = true;
  return true;
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  if (fails() || posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  look_at_peak(bytes);
  return memory;
}

void* counted(void* memory, std::size_t bytes) {
  if (memory != nullptr) {
    ++live_count;
    look_at_peak(bytes);
  }
  return memory;
}

void* required(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  --live_count;
  std::free(memory);
}

}  // namespace

namespace tansolve::test {

std::int64_t live_blocks() {
  return live_count;
}
void fail_after(std::int64_t count) {
  it_failed = false;
  until_failure = count;
}
bool has_failed() {
  return it_failed;
}
std::int64_t live_bytes() {
#ifdef __SANITIZE_ADDRESS__
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
#endif
}
std::int64_t peak_bytes() {
  return peak_seen;
}
void forget_peak() {
  peak_seen = live_bytes();
}

}  // namespace tansolve::test

extern "C" void* __real_realloc(void* memory, std::size_t bytes);
extern "C" void* __wrap_realloc(void* memory, std::size_t bytes) {  // by --wrap of the linker
  return fails() ? nullptr : __real_realloc(memory, bytes);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes), bytes);
}
void* operator new(std::size_t bytes) {
  return required(operator new(bytes, std::nothrow));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return required(counted(aligned(static_cast<std::size_t>(alignment), bytes), 0));
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
