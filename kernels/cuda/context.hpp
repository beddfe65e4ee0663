// SPDX-License-Identifier: BSD-3-Clause
// The context of an NVIDIA GPU. Part of builds with CUDA only: TANSOLVE_HAS_CUDA says which.
#pragma once

#include <tansolve/kernels/backend.hpp>

#include <memory>
#include <string>

struct CUstream_st;  // the CUDA runtime's stream, so that this header needs no CUDA

namespace tansolve {

/// GPUs that this process may use, 0 where there is no driver.
int cuda_device_count() noexcept;

/// Why there are none, as the driver says it; "" where there is one.
std::string cuda_unavailable_reason();

/// One GPU and one stream on it, in whose order everything of this context runs. All calls are
/// asynchronous but transfers between host and device, which wait for their data. Contexts, also
/// of the same GPU, are independent of each other; one context serves one thread at a time.
template <>
class Context<Cuda> {
 public:
  /// What launches depend on.
  struct Properties {
    std::string name;
    int compute_capability;  ///< 90 stands for 9.0
    int multiprocessors;
    std::size_t shared_memory_per_block;  ///< bytes, opt-in limit
    std::size_t memory;                   ///< bytes
    double memory_bandwidth;  ///< bytes a second by bus width and memory clock, 0: unknown
  };

  /// Runs a kernel. Throws Error(device) if there is no such GPU, it does not work or this build
  /// has no code for it, naming the reason.
  explicit Context(int device = 0);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int device() const;
  const Properties& properties() const;

  /// Makes the GPU the calling thread's current one and returns the stream.
  CUstream_st* stream() const;

  /// Waits for everything so far. Throws Error(device) for what failed meanwhile.
  void synchronize();

  /// 256-byte aligned. Throws Error(out_of_memory) with the bytes requested and free. Waits for the
  /// device.
  void* allocate(std::size_t bytes);
  void release(void* memory) noexcept;

  std::size_t free_memory() const;   ///< bytes
  std::int64_t allocations() const;  ///< calls of allocate so far

  struct Scratch;  ///< of the kernels' own
  Scratch& scratch() { return *scratch_; }

 private:
  struct State;
  void open();
  void close() noexcept;

  std::unique_ptr<State> state_;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace tansolve
