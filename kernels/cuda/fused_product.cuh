// SPDX-License-Identifier: BSD-3-Clause
// The fused product's kernel and its launch; instantiated for one value type in each .cu file.
#pragma once

#include <tansolve/kernels/cuda/fused_product.hpp>
#include <tansolve/kernels/cuda/fused_tuning.cuh>
#include <tansolve/kernels/cuda/reduce.cuh>
#include <tansolve/kernels/cuda/slice_agent.cuh>

#include <algorithm>
#include <utility>

namespace tansolve::detail {

/// A persistent grid: each block copies the tables, then its warps take slices in turn, those of a
/// block neighbours, so that they share what they read of x in the L1 cache.
/// `entries_shared`: what symbols stand for fits into shared memory, too, where it is apart.
template <class T, Coding coding, bool escapes, RowEnds ends, bool entries_shared, int columns>
__global__ void __launch_bounds__(fused_tuning(coding).threads,
                                  fused_tuning(coding).blocks_for(columns))
    fused_kernel(const __grid_constant__ FusedArguments<T> arguments, double* partials,
                 unsigned* ticket) {
  using Agent = SliceAgent<T, coding, escapes, ends, entries_shared, columns>;
  constexpr int threads = fused_tuning(coding).threads;
  const DeviceMatrixView<T>& matrix = arguments.matrix;
  if constexpr (Agent::whole_slots) {
    for (int i = threadIdx.x; i < matrix.code_count; i += threads)
      Agent::slots()[i] = whole_slot<T, coding>(matrix, i);
  } else {
    if constexpr (entries_shared)
      for (int i = threadIdx.x; i < matrix.entry_bytes / 16; i += threads)
        reinterpret_cast<int4*>(shared_entries)[i] =
            reinterpret_cast<const int4*>(matrix.entries)[i];
    if constexpr (traits(coding).geometry.M > 1)
      for (int i = threadIdx.x; i < matrix.code_count; i += threads)
        Agent::codes()[i] = matrix.codes[i];
  }
  __syncthreads();

  Agent agent(arguments);
  constexpr int warps = threads / 32;
  for (std::uint32_t slice = blockIdx.x * warps + threadIdx.x / 32; slice < matrix.slices;
       slice += gridDim.x * warps)
    agent.run(slice);

  if (arguments.vectors.xy != nullptr) {
    Sums<1> sum;
    sum.of[0] = agent.xy();
    grid_sums<threads>(sum, partials, ticket, [&](const Sums<1>& total) {
      *arguments.vectors.xy = static_cast<T>(total.of[0]);
    });
  }
}

template <class T, Coding coding, bool escapes, RowEnds ends, bool entries_shared, int columns>
void launch_fused(Context<Cuda>& context, const FusedArguments<T>& arguments) {
  const auto kernel = fused_kernel<T, coding, escapes, ends, entries_shared, columns>;
  constexpr bool whole_slots =
      SliceAgent<T, coding, escapes, ends, entries_shared, columns>::whole_slots;
  const std::size_t shared_bytes =
      entries_shared && !whole_slots ? arguments.matrix.entry_bytes : 0;
  constexpr int threads = fused_tuning(coding).threads;
  const cudaStream_t stream = context.stream();
  // Always the most, never what this matrix takes: the attribute is the kernel's, which other
  // threads may be launching for other matrices.
  cudaFuncAttributes attributes;
  TANSOLVE_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  const std::size_t most_dynamic =
      context.properties().shared_memory_per_block - attributes.sharedSizeBytes;
  TANSOLVE_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(most_dynamic)));
  int resident = 0;
  TANSOLVE_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes));
  if (resident == 0) check(cudaErrorLaunchOutOfResources, "the fused product's occupancy");
  const std::int64_t needed = (arguments.matrix.slices + threads / 32 - 1) / (threads / 32);
  const std::int64_t most = std::min(resident * context.properties().multiprocessors,
                                     reduction_blocks * partials_per_block);
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(needed, 1, most));
  const auto& [partials, ticket, staging] = context.scratch();
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments, partials, ticket);
  check_launch("the fused product");
}

/// Calls body with a constant for each choice in turn.
template <class Body>
void with_constant(bool choice, Body body) {
  if (choice)
    body(std::true_type());
  else
    body(std::false_type());
}

template <class T, Coding coding, int columns>
void launch_coding(Context<Cuda>& context, RowEnds ends, const FusedArguments<T>& arguments) {
  const DeviceMatrixView<T>& matrix = arguments.matrix;
  const bool has_escapes =
      matrix.escape[0] != CodingTable::no_escape || matrix.escape[1] != CodingTable::no_escape;
  // Only 16-bit symbols can be too many to share: their entries then come through the L1 cache.
  constexpr bool may_not_fit = coding == Coding::fixed16;
  const bool fits = !may_not_fit || static_cast<std::size_t>(matrix.entry_bytes) <=
                                        context.properties().shared_memory_per_block / 2;
  with_constant(has_escapes, [&](auto escapes) {
    with_constant(ends == RowEnds::aligned, [&](auto aligned) {
      constexpr RowEnds row_ends = aligned ? RowEnds::aligned : RowEnds::crossing;
      if (fits)
        launch_fused<T, coding, escapes, row_ends, true, columns>(context, arguments);
      else if constexpr (may_not_fit)
        launch_fused<T, coding, escapes, row_ends, false, columns>(context, arguments);
    });
  });
}

template <class T>
void fused_product(Context<Cuda>& context, const Plan& plan, const DeviceMatrixView<T>& matrix,
                   const ProductVectors<T>& vectors) {
  const FusedArguments<T> arguments = {matrix, vectors};
  const auto launch = [&]<Coding coding>() {
    if (vectors.columns == 1)
      launch_coding<T, coding, 1>(context, plan.row_ends, arguments);
    else
      launch_coding<T, coding, most_block_columns>(context, plan.row_ends, arguments);
  };
  [&]<std::size_t... c>(std::index_sequence<c...>) {
    ((c == static_cast<std::size_t>(plan.coding)
          ? launch.template operator()<all_codings[c].coding>()
          : void()),
     ...);
  }
  (std::make_index_sequence<stream_codings>());
}

}  // namespace tansolve::detail
