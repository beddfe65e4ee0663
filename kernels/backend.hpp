// SPDX-License-Identifier: BSD-3-Clause
// Where work runs: the backend tags and their contexts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tansolve {

/// OpenMP threads and SIMD on the host.
struct Host {};

/// One NVIDIA GPU: kernels/cuda/context.hpp has its context.
struct Cuda {};

/// The host under suspicion: serial reference kernels, memory of its own that starts as NaN,
/// aliasing refused, calls, bytes and allocations counted. Tests run the solvers on it.
struct Checked {};

/// Threads or device, stream and library handles of a backend. Operators, vectors and solvers hold
/// a reference to their context, which must outlive them. One context serves one thread of the
/// user's.
template <class B>
class Context;

template <>
class Context<Host> {
 public:
  /// `threads` OpenMP threads, 0: as many as OpenMP would start. Throws Error(invalid_argument)
  /// below 0.
  explicit Context(int threads = 0);
  int threads() const { return threads_; }

  void* allocate(std::size_t bytes);  ///< 64-byte aligned; throws Error(out_of_memory)
  void release(void* memory) noexcept;

 private:
  int threads_;
};

/// What a Checked context has seen so far.
struct Counters {
  std::int64_t products = 0;    ///< operator applications
  std::int64_t reductions = 0;  ///< results that every element of a vector enters
  std::int64_t elements = 0;    ///< vector elements read and written by primitives and kernels
  std::int64_t allocations = 0;
  std::int64_t transfers = 0;  ///< copies to or from the user's memory, reads of a scalar
};

template <>
class Context<Checked> {
 public:
  /// `records`: plays a GPU that records work (Replay), so that solvers issue whole batches of
  /// iterations there, too.
  explicit Context(bool records = false) : records_(records) {}
  int threads() const { return 1; }
  bool records() const { return records_; }

  void* allocate(std::size_t bytes);  ///< filled with NaN; throws Error(out_of_memory)
  void release(void* memory) noexcept;

  Counters& counters() { return counters_; }

 private:
  bool records_;
  Counters counters_;
};

}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/context.hpp>
#endif
