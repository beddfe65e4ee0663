// SPDX-License-Identifier: BSD-3-Clause
// The kernels without streams and their launch; instantiated for one value type in each .cu file.
#pragma once

#include <tansolve/kernels/cuda/array_product.hpp>
#include <tansolve/kernels/cuda/field_agent.cuh>
#include <tansolve/kernels/cuda/pattern_agent.cuh>
#include <tansolve/kernels/cuda/reduce.cuh>

#include <algorithm>

namespace tansolve::detail {

/// A persistent grid, whose warps take groups of rows in turn.
template <class Agent, class T, bool shared>
__global__ void __launch_bounds__(Agent::threads, Agent::resident_threads / Agent::threads)
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

  if (arguments.vectors.xy != nullptr) {
    Sums<1> sum;
    sum.of[0] = agent.xy();
    grid_sums<Agent::threads>(sum, partials, ticket, [&](const Sums<1>& total) {
      *arguments.vectors.xy = static_cast<T>(total.of[0]);
    });
  }
}

inline constexpr int long_row_threads = 256;

/// A warp a long row and column: adds its pieces, and to x'y what these rows add.
template <class T>
__global__ void __launch_bounds__(long_row_threads)
    long_rows_kernel(const __grid_constant__ ArrayArguments<T> arguments, double* partials,
                     unsigned* ticket) {
  const ArrayMatrixView<T>& matrix = arguments.matrix;
  const ProductVectors<T>& vectors = arguments.vectors;
  const std::uint32_t lane = threadIdx.x % 32;
  const int column = blockIdx.y;
  const T* pieces = matrix.pieces + std::int64_t{column} * matrix.piece_count;
  constexpr int warps = long_row_threads / 32;
  Sums<1> xy;
  for (std::uint32_t i = blockIdx.x * warps + threadIdx.x / 32; i < matrix.long_rows;
       i += gridDim.x * warps) {
    T sum = 0;
    for (std::uint32_t s = matrix.long_starts[i] + lane; s < matrix.long_starts[i + 1]; s += 32)
      sum += pieces[s];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (lane != 0) continue;
    put_sum(vectors, column, matrix.long_row[i], sum, xy.of[0]);
  }
  if (vectors.xy != nullptr)
    grid_sums<long_row_threads>(xy, partials, ticket, [&](const Sums<1>& total) {
      *vectors.xy = static_cast<T>(static_cast<double>(*vectors.xy) + total.of[0]);
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
  while (arguments.vectors.xy == nullptr && threads > 64 &&
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

/// One column.
template <class T, bool shared>
void launch_one(Context<Cuda>& context, Coding coding, const ArrayArguments<T>& arguments) {
  if (coding == Coding::patterns)
    launch_patterns<T, shared>(context, arguments);
  else if (coding == Coding::shapes)
    launch_fields<T, true, shared>(context, arguments);
  else
    launch_fields<T, false, shared>(context, arguments);
}

/// Up to `columns` columns. There are fewer kernels than for one: decoding weighs less.
template <class T, bool shared, int columns>
void launch_block(Context<Cuda>& context, Coding coding, const ArrayArguments<T>& arguments) {
  const ArrayMatrixView<T>& matrix = arguments.matrix;
  const auto launch = [&]<class Agent>() {
    launch_array<Agent, T, shared>(context, arguments, 32);
  };
  const auto launch_fields = [&]<bool shapes>() {
    const auto of_kind = [&]<FieldKind kind>() {
      launch.template operator()<FieldAgent<T, shapes, kind, 0, shared, columns>>();
    };
    if (matrix.dictionary) return of_kind.template operator()<FieldKind::index>();
    if (matrix.values.bits == 8 * sizeof(T)) return of_kind.template operator()<FieldKind::bits>();
    of_kind.template operator()<FieldKind::magnitude>();
  };
  if (coding == Coding::patterns)
    launch.template operator()<PatternAgent<T, 1, 32, false, shared, columns>>();
  else if (coding == Coding::shapes)
    launch_fields.template operator()<true>();
  else
    launch_fields.template operator()<false>();
}

template <class T, bool shared>
void launch_columns(Context<Cuda>& context, Coding coding, const ArrayArguments<T>& arguments) {
  if (arguments.vectors.columns == 1)
    launch_one<T, shared>(context, coding, arguments);
  else if (arguments.vectors.columns <= 4)
    launch_block<T, shared, 4>(context, coding, arguments);
  else
    launch_block<T, shared, most_block_columns>(context, coding, arguments);
}

template <class T>
void array_product(Context<Cuda>& context, Coding coding, const ArrayMatrixView<T>& matrix,
                   const ProductVectors<T>& vectors) {
  const ArrayArguments<T> arguments = {matrix, vectors};
  // Larger tables would leave room for too few warps.
  if (static_cast<std::size_t>(matrix.table_bytes) <=
      context.properties().shared_memory_per_block / 4)
    launch_columns<T, true>(context, coding, arguments);
  else
    launch_columns<T, false>(context, coding, arguments);
  if (matrix.long_rows == 0) return;
  constexpr std::uint32_t warps = long_row_threads / 32;
  const std::uint32_t blocks =
      std::min((matrix.long_rows + warps - 1) / warps, std::uint32_t{reduction_blocks});
  const auto& [partials, ticket, staging] = context.scratch();
  long_rows_kernel<T><<<dim3(blocks, vectors.columns), long_row_threads, 0, context.stream()>>>(
      arguments, partials, ticket);
  check_launch("the sums of long rows");
}

}  // namespace tansolve::detail
