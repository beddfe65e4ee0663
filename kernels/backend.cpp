// SPDX-License-Identifier: BSD-3-Clause
// Memory of the two host backends.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/backend.hpp>
#include <tansolve/kernels/replay.hpp>
#include <tansolve/kernels/vector.hpp>

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>

namespace tansolve {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest SIMD register

[[noreturn]] void out_of_memory(std::size_t bytes) {
  const auto free = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  throw Error(ErrorCode::out_of_memory,
              fmt::format("host memory: {} bytes requested, about {} are free", bytes, free));
}

std::size_t rounded(std::size_t bytes) {
  return bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
}

void* allocate_host(std::size_t bytes) {
  void* memory = std::aligned_alloc(alignment, rounded(bytes));
  if (memory == nullptr) out_of_memory(bytes);
  return memory;
}

}  // namespace

std::size_t detail::bytes_of(std::int64_t size, std::size_t width) {
  if (size < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a vector of {} elements: the size must not be negative", size));
  const auto count = static_cast<std::size_t>(size);
  if (count > std::numeric_limits<std::int64_t>::max() / width)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a vector of {} elements of {} bytes: no address space is that large",
                            size, width));
  return count * width;
}

Context<Host>::Context(int threads) : threads_(threads == 0 ? omp_get_max_threads() : threads) {
  if (threads < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads: {}, it must be positive, or 0 for OpenMP's choice", threads));
}

void* Context<Host>::allocate(std::size_t bytes) {
  return allocate_host(bytes);
}
void Context<Host>::release(void* memory) noexcept {
  std::free(memory);
}

void* Context<Checked>::allocate(std::size_t bytes) {
  void* memory = allocate_host(bytes);
  std::memset(memory, 0xff, rounded(bytes));  // all bits set: NaN in every floating-point type
  ++counters_.allocations;
  return memory;
}
void Context<Checked>::release(void* memory) noexcept {
  std::free(memory);
}

bool Replay<Checked>::run() {
  const Counters before = context_->counters();
  work_();
  if (!recorded_) return false;
  const Counters& after = context_->counters();
  const auto forbid = [](std::int64_t count, const char* what) {
    if (count > 0)
      throw Error(ErrorCode::device,
                  fmt::format("recorded work: {} {}, which a recording forbids", count, what));
  };
  forbid(after.allocations - before.allocations, "allocations");
  forbid(after.transfers - before.transfers, "transfers");
  return false;  // the work was called, which counted it
}

}  // namespace tansolve
