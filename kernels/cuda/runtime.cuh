// SPDX-License-Identifier: BSD-3-Clause
// What all of the CUDA backend shares: checked runtime calls and the scratch of reductions.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tansolve {

namespace detail {

/// Throws Error that names the call, unless status is success: out_of_memory, device.
void check(cudaError_t status, const char* call);

/// After a launch, for what it reports at once.
inline void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

/// Blocks of a reduction, at most: about what a large GPU holds at once. A constant, so that sums
/// do not depend on the device.
inline constexpr int reduction_blocks = 1024;
inline constexpr int partials_per_block = 4;

}  // namespace detail

/// Memory that the kernels of a context, which run one after another, share.
struct Context<Cuda>::Scratch {
  double* partials = nullptr;  ///< device, reduction_blocks * partials_per_block: sums of blocks
  unsigned* ticket = nullptr;  ///< device, 0 between kernels: blocks that are done
  void* staging = nullptr;     ///< host, pinned: small transfers pass through it
  static constexpr std::size_t staging_bytes = 1 << 16;
};

}  // namespace tansolve

#define TANSOLVE_CUDA_CHECK(...) ::tansolve::detail::check((__VA_ARGS__), #__VA_ARGS__)
