// SPDX-License-Identifier: BSD-3-Clause
// Every way in which the library asks for memory of a GPU, or for pinned memory beside it: the
// linker leads calls here (--wrap).
#include "load/allocations.hpp"

#include <cuda_runtime_api.h>

#include <atomic>

extern "C" {
cudaError_t __real_cudaMalloc(void** memory, std::size_t bytes);
cudaError_t __real_cudaFree(void* memory);
cudaError_t __real_cudaMallocHost(void** memory, std::size_t bytes);
cudaError_t __real_cudaFreeHost(void* memory);
}

namespace {

std::atomic<std::int64_t> live_count = 0, until_failure = -1;
std::atomic<bool> it_failed = false;

/// What `allocate` says, unless this is the one that fails.
template <class Allocate>
cudaError_t counted(Allocate* allocate, void** memory, std::size_t bytes) {
  if (until_failure.load() >= 0 && until_failure.fetch_sub(1) == 0) {
    it_failed = true;
    return cudaErrorMemoryAllocation;
  }
  const cudaError_t status = allocate(memory, bytes);
  if (status == cudaSuccess) ++live_count;
  return status;
}

}  // namespace

extern "C" {
cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  return counted(__real_cudaMalloc, memory, bytes);
}
cudaError_t __wrap_cudaMallocHost(void** memory, std::size_t bytes) {
  return counted(__real_cudaMallocHost, memory, bytes);
}
cudaError_t __wrap_cudaFree(void* memory) {
  if (memory != nullptr) --live_count;
  return __real_cudaFree(memory);
}
cudaError_t __wrap_cudaFreeHost(void* memory) {
  if (memory != nullptr) --live_count;
  return __real_cudaFreeHost(memory);
}
}

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

}  // namespace tansolve::test
