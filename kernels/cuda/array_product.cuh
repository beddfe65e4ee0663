// SPDX-License-Identifier: BSD-3-Clause
// The kernels without streams and their launch; instantiated for one value type in each .cu file.
#pragma once

#include <tansolve/kernels/cuda/array_product.hpp>
#include <tansolve/kernels/cuda/field_agent.cuh>
#include <tansolve/kernels/cuda/pattern_agent.cuh>
#include <tansolve/kernels/cuda/reduce.cuh>

#include <algorithm>

namespace tansolve::detail {

/// Threads of a multiprocessor that registers must leave room for: 64 of them a thread. More are
/// not used, fewer do not hide latencies.
inline constexpr int resident_threads = 1024;

/// A persistent grid, whose warps take groups of rows in turn.
template <class Agent, class T, bool shared>
__global__ void __launch_bounds__(Agent::threads, resident_threads / Agent::threads)
    array_kernel(const __grid_constant__ ArrayArguments<T> arguments, double* partials,
                 unsigned* ticket) {
  const ArrayMatrixView<T>& matrix = arguments.matrix;
  const unsigned threads = blockDim.x;
  if constexpr (shared) {
    for (unsigned i = threadIdx.x; i < matrix.table_bytes / 16u; i += threads)
      reinterpret_cast<int4*>(shared_tables)[i] = reinterpret_cast<const int4*>(matrix.tables)[i];
    __syncthreads();
  }
  Agent agent(arguments);
  const std::uint32_t warps = threads / 32, groups = Agent::groups(matrix);
  const std::uint32_t step = gridDim.x * warps;
  std::uint32_t group = blockIdx.x * warps + threadIdx.x / 32;
  if (group < groups) agent.prepare(group);
  for (; group < groups; group += step) agent.run(group, group + step);

  if (arguments.xy != nullptr) {
    Sums<1> sum;
    sum.of[0] = agent.xy();
    grid_sums<Agent::threads>(sum, partials, ticket, [&](const Sums<1>& total) {
      *arguments.xy = static_cast<T>(total.of[0]);
    });
  }
}

inline constexpr int long_row_threads = 256;

/// A warp a long row: adds its pieces, and to x'y what these rows add.
template <class T>
__global__ void __launch_bounds__(long_row_threads)
    long_rows_kernel(const __grid_constant__ ArrayArguments<T> arguments, double* partials,
                     unsigned* ticket) {
  const ArrayMatrixView<T>& matrix = arguments.matrix;
  const std::uint32_t lane = threadIdx.x % 32;
  constexpr int warps = long_row_threads / 32;
  Sums<1> xy;
  for (std::uint32_t i = blockIdx.x * warps + threadIdx.x / 32; i < matrix.long_rows;
       i += gridDim.x * warps) {
    T sum = 0;
    for (std::uint32_t s = matrix.long_starts[i] + lane; s < matrix.long_starts[i + 1]; s += 32)
      sum += matrix.pieces[s];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane != 0) continue;
    const std::uint32_t row = matrix.long_row[i];
    const T scaled = arguments.alpha * sum;
    const T result = arguments.beta == 0 ? scaled : scaled + arguments.beta * arguments.y[row];
    arguments.y[row] = result;
    if (arguments.xy != nullptr)
      xy.of[0] += static_cast<double>(arguments.x[row]) * static_cast<double>(result);
  }
  if (arguments.xy != nullptr)
    grid_sums<long_row_threads>(xy, partials, ticket, [&](const Sums<1>& total) {
      *arguments.xy = static_cast<T>(static_cast<double>(*arguments.xy) + total.of[0]);
    });
}

template <class Agent, class T, bool shared>
void launch_array(Context<Cuda>& context, const ArrayArguments<T>& arguments,
                  std::int64_t rows_of_group) {
  const auto kernel = array_kernel<Agent, T, shared>;
  const cudaStream_t stream = context.stream();
  const std::size_t shared_bytes = shared ? arguments.matrix.table_bytes : 0;
  if constexpr (shared)
    TANSOLVE_CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
        static_cast<int>(context.properties().shared_memory_per_block - 2048)));
  // Smaller blocks spread small matrices over all multiprocessors; reductions want whole ones.
  const std::int64_t groups = (arguments.matrix.coded_rows + rows_of_group - 1) / rows_of_group;
  int threads = Agent::threads;
  while (arguments.xy == nullptr && threads > 64 &&
         groups < std::int64_t{threads} / 32 * context.properties().multiprocessors)
    threads /= 2;
  int resident = 0;
  TANSOLVE_CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes));
  if (resident == 0) check(cudaErrorLaunchOutOfResources, "the array product's occupancy");
  const std::int64_t needed = (groups + threads / 32 - 1) / (threads / 32);
  const std::int64_t most = std::min(resident * context.properties().multiprocessors,
                                     reduction_blocks * partials_per_block);
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(needed, 1, most));
  const auto& [partials, ticket, staging] = context.scratch();
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments, partials, ticket);
  check_launch("the array product");
}

template <class T, bool shared>
void launch_patterns(Context<Cuda>& context, const ArrayArguments<T>& arguments) {
  const auto launch = [&]<int rows, int stride, bool finite = true>() {
    launch_array<PatternAgent<T, rows, stride, finite, shared>, T, shared>(context, arguments,
                                                                           32 * rows);
  };
  // Rows share look-ups as long as all warps that the GPU holds find work.
  constexpr std::int64_t warps = 32;
  const std::int64_t fill = context.properties().multiprocessors * warps * 32;
  const bool three = arguments.matrix.row_stride == 96;
  if (!arguments.matrix.finite) return launch.template operator()<1, 32, false>();
  if (arguments.matrix.rows >= 4 * fill)
    return three ? launch.template operator()<4, 96>() : launch.template operator()<4, 32>();
  if (arguments.matrix.rows >= 2 * fill)
    return three ? launch.template operator()<2, 96>() : launch.template operator()<2, 32>();
  launch.template operator()<1, 32>();
}

template <class T, bool shapes, bool shared>
void launch_fields(Context<Cuda>& context, const ArrayArguments<T>& arguments) {
  const ArrayMatrixView<T>& matrix = arguments.matrix;
  const auto launch = [&]<FieldKind kind, int known = 0>() {
    launch_array<FieldAgent<T, shapes, kind, known, shared>, T, shared>(context, arguments, 32);
  };
  if (matrix.dictionary) return launch.template operator()<FieldKind::index>();
  if (matrix.values.bits == 8 * sizeof(T)) return launch.template operator()<FieldKind::bits>();
  // The most frequent widths of doubles, of a window of 16 exponents with and without signs.
  if (sizeof(T) == 8 && matrix.values.bits == 56)
    return launch.template operator()<FieldKind::magnitude, 56>();
  if (sizeof(T) == 8 && matrix.values.bits == 57)
    return launch.template operator()<FieldKind::magnitude, 57>();
  launch.template operator()<FieldKind::magnitude>();
}

template <class T, bool shared>
void launch_arrays(Context<Cuda>& context, Coding coding, const ArrayArguments<T>& arguments) {
  if (coding == Coding::patterns)
    launch_patterns<T, shared>(context, arguments);
  else if (coding == Coding::shapes)
    launch_fields<T, true, shared>(context, arguments);
  else
    launch_fields<T, false, shared>(context, arguments);
}

template <class T>
void array_product(Context<Cuda>& context, Coding coding, const ArrayMatrixView<T>& matrix, T alpha,
                   const T* x, T beta, T* y, T* xy) {
  const ArrayArguments<T> arguments = {
      matrix, x, y, alpha, beta, xy, alpha == T(1) && beta == T(0) && xy == nullptr};
  // Larger tables would leave room for too few warps.
  if (static_cast<std::size_t>(matrix.table_bytes) <=
      context.properties().shared_memory_per_block / 4)
    launch_arrays<T, true>(context, coding, arguments);
  else
    launch_arrays<T, false>(context, coding, arguments);
  if (matrix.long_rows == 0) return;
  constexpr std::uint32_t warps = long_row_threads / 32;
  const std::uint32_t blocks =
      std::min((matrix.long_rows + warps - 1) / warps, std::uint32_t{reduction_blocks});
  const auto& [partials, ticket, staging] = context.scratch();
  long_rows_kernel<T>
      <<<blocks, long_row_threads, 0, context.stream()>>>(arguments, partials, ticket);
  check_launch("the sums of long rows");
}

}  // namespace tansolve::detail
