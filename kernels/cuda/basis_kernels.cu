// SPDX-License-Identifier: BSD-3-Clause
// A basis on the GPU. The vectors stream through shared memory in tiles, several of which are
// always on their way; a thread takes its few rows of a tile through all vectors there, as often as
// it has to. Compiled without contraction to FMA: elementwise results have the bits of the host.
#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/tile_stream.cuh>

#include <algorithm>

namespace tansolve::detail {
namespace {

/// The pack of w from `row` on, 0 beyond n.
template <class T, int size>
__device__ void load_rows(const T* w, std::int64_t row, std::int64_t n, T (&rows)[size]) {
#pragma unroll
  for (int u = 0; u < size; ++u) rows[u] = row + u < n ? w[row + u] : T(0);
}

template <class T, int size>
__device__ void store_rows(T* w, std::int64_t row, std::int64_t n, const T (&rows)[size]) {
#pragma unroll
  for (int u = 0; u < size; ++u)
    if (row + u < n) w[row + u] = rows[u];
}

/// rows += sign V h, for the vectors of a tile
template <class T, class S, int tiles>
__device__ void add(const TileStream<tiles, S>& stream, T sign, const T* h,
                    T (&rows)[pack_size<S>]) {
  const int count = stream.count();
#pragma unroll 8
  for (int j = 0; j < count; ++j) {
    const Pack<S> v = stream.pack(j);
    const T factor = sign * h[stream.vector() + j];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] += factor * static_cast<T>(v.of[u]);
  }
}

/// sums_j += v_j'rows, for the vectors of a tile; sums beyond them are unspecified
template <class T, class S, int tiles>
__device__ void project(const TileStream<tiles, S>& stream, const T (&rows)[pack_size<S>],
                        Sums<most_vectors>& sums) {
  const int count = stream.count();
#pragma unroll
  for (int first = 0; first < most_vectors; first += group) {
    if (first >= count) break;
#pragma unroll
    for (int j = first; j < first + group; ++j) {
      const Pack<S> v = stream.pack(j);
#pragma unroll
      for (int u = 0; u < pack_size<S>; ++u)
        sums.of[j] = fma(static_cast<double>(v.of[u]), static_cast<double>(rows[u]), sums.of[j]);
    }
  }
}

/// partials[j * gridDim.x + block] = this block's sum of v_j, for j from `first` on.
template <int threads>
__device__ void store_partials(const Sums<most_vectors>& of_thread, std::int64_t first,
                               std::int64_t k, double* partials) {
  const Sums<most_vectors> sums = block_sums<threads>(of_thread);
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int j = 0; j < most_vectors; ++j)
    if (first + j < k) partials[(first + j) * gridDim.x + blockIdx.x] = sums.of[j];
}

/// Also makes the padding of v 0, which tiles read.
template <class T, class S>
__global__ void __launch_bounds__(stream_threads<S>)
    store_kernel(std::int64_t n, const T* __restrict__ norm, T* __restrict__ w, S* __restrict__ v) {
  const T divisor = *norm;
  const bool possible = divisor != 0 && isfinite(divisor);
  const std::int64_t padded = (n + basis_alignment - 1) / basis_alignment * basis_alignment;
  for (std::int64_t row =
           (std::int64_t{blockIdx.x} * stream_threads<S> + threadIdx.x) * pack_size<S>;
       row < padded; row += std::int64_t{gridDim.x} * tile_rows<S>) {
    T rows[pack_size<S>];
    Pack<S> pack;
    load_rows(w, row, n, rows);
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) {
      pack.of[u] = static_cast<S>(possible ? rows[u] / divisor : T(0));
      rows[u] = static_cast<T>(pack.of[u]);
    }
    *reinterpret_cast<Pack<S>*>(v + row) = pack;
    store_rows(w, row, n, rows);
  }
}

/// One block row of the grid for most_vectors vectors.
template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads<S>)
    project_kernel(BasisView<S> V, const T* __restrict__ w, double* __restrict__ partials) {
  const std::int64_t first = std::int64_t{blockIdx.y} * most_vectors;
  TileStream<tiles, S> stream(V, first, min(first + most_vectors, V.k));
  Sums<most_vectors> sums;
  T next[pack_size<S>];
  load_rows(w, stream.row(), V.n, next);
  for (; stream.more(); stream.advance()) {
    T rows[pack_size<S>];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] = next[u];
    stream.wait();
    load_rows(w, stream.row_after(), V.n, next);
    project(stream, rows, sums);
  }
  store_partials<stream_threads<S>>(sums, first, V.k, partials);
}

/// For k <= most_vectors.
template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads<S>)
    subtract_project_kernel(BasisView<S> V, const T* __restrict__ h, T* __restrict__ w,
                            double* __restrict__ partials) {
  TileStream<tiles, S> stream(V, 0, V.k);
  Sums<most_vectors> sums;
  T next[pack_size<S>];
  load_rows(w, stream.row(), V.n, next);
  for (; stream.more(); stream.advance()) {
    T rows[pack_size<S>];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] = next[u];
    stream.wait();
    load_rows(w, stream.row_after(), V.n, next);
    add(stream, T(-1), h, rows);
    store_rows(w, stream.row(), V.n, rows);
    project(stream, rows, sums);
  }
  store_partials<stream_threads<S>>(sums, 0, V.k, partials);
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads<S>)
    subtract_kernel(BasisView<S> V, const T* __restrict__ h, T* __restrict__ w, T* norm,
                    double* partials, unsigned* ticket) {
  TileStream<tiles, S> stream(V, 0, V.k);
  Sums<3> sums;
  T rows[pack_size<S>] = {}, next[pack_size<S>];
  load_rows(w, stream.row(), V.n, next);
  for (; stream.more(); stream.advance()) {
    if (stream.begins()) {
#pragma unroll
      for (int u = 0; u < pack_size<S>; ++u) rows[u] = next[u];
      load_rows(w, stream.row_after(), V.n, next);
    }
    stream.wait();
    add(stream, T(-1), h, rows);
    if (!stream.ends()) continue;
    store_rows(w, stream.row(), V.n, rows);
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u)
      add_square(stream.row() + u < V.n ? rows[u] : T(0), sums);
  }
  grid_sums<stream_threads<S>>(sums, partials, ticket, [=](const Sums<3>& total) {
    *norm = static_cast<T>(norm_of(total));
  });
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads<S>)
    combine_kernel(BasisView<S> V, const T* __restrict__ y, T* __restrict__ x) {
  TileStream<tiles, S> stream(V, 0, V.k);
  T rows[pack_size<S>] = {};
  for (; stream.more(); stream.advance()) {
    stream.wait();
    add(stream, T(1), y, rows);
    if (!stream.ends()) continue;
    store_rows(x, stream.row(), V.n, rows);
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] = 0;
  }
}

constexpr int rotate_threads = 128, sum_threads = 128;

/// V_k = V Q, for `rows` rows of a block at once, a power of two: shared memory keeps those of V,
/// so that they may be overwritten, and a thread computes a few of k columns together for one of
/// them.
template <class T, class S>
__global__ void __launch_bounds__(rotate_threads)
    rotate_kernel(BasisView<S> V, std::int64_t k, int rows, const T* __restrict__ Q) {
  constexpr int together = 8;
  extern __shared__ double shared[];
  T* piece = reinterpret_cast<T*>(shared);
  const int r = threadIdx.x % rows, groups = rotate_threads / rows;
  const std::int64_t step = std::int64_t{gridDim.x} * rows;
  for (std::int64_t first = std::int64_t{blockIdx.x} * rows; first < V.n; first += step) {
    const std::int64_t row = first + r;
    for (std::int64_t l = threadIdx.x / rows; l < V.k; l += groups)
      piece[l * rows + r] = row < V.n ? static_cast<T>(V.data[l * V.stride + row]) : T(0);
    __syncthreads();
    for (std::int64_t j = threadIdx.x / rows * together; j < k; j += groups * together) {
      T sum[together] = {};
      for (std::int64_t l = 0; l < V.k; ++l)
#pragma unroll
        for (int u = 0; u < together; ++u)
          if (j + u < k) sum[u] += Q[(j + u) * V.k + l] * piece[l * rows + r];
#pragma unroll
      for (int u = 0; u < together; ++u)
        if (j + u < k && row < V.n) V.data[(j + u) * V.stride + row] = static_cast<S>(sum[u]);
    }
    __syncthreads();
  }
}

/// h_j = the sum of the blocks' partial sums of v_j; a block for each j.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    sum_partials_kernel(int blocks, const double* __restrict__ partials, T* __restrict__ h) {
  Sums<1> sum;
  for (int b = threadIdx.x; b < blocks; b += sum_threads)
    sum.of[0] += partials[std::int64_t{blockIdx.x} * blocks + b];
  sum = block_sums<sum_threads>(sum);
  if (threadIdx.x == 0) h[blockIdx.x] = static_cast<T>(sum.of[0]);
}

template <class T>
void sum_partials(Context<Cuda>& context, std::int64_t k, int blocks, const double* partials,
                  T* h) {
  sum_partials_kernel<<<static_cast<unsigned>(k), sum_threads, 0, context.stream()>>>(blocks,
                                                                                      partials, h);
  check_launch("sum_partials");
}

/// Launches of(tiles), a kernel of so many tiles, over V's rows.
template <class S, class Of, class... Arguments>
void launch_tiles(Context<Cuda>& context, const char* name, const BasisView<S>& V, unsigned parts,
                  Of of, Arguments... arguments) {
  const auto launch = [&](auto tiles) {
    const auto kernel = of(tiles);
    const std::size_t bytes = tile_bytes(V.k, tiles);
    if (bytes > (40 << 10))  // with static memory above 48 KiB, which have to be asked for
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(tile_bytes(most_vectors, tiles_of_many))),
            name);
    kernel<<<dim3(blocks_of<S>(V.n), parts), stream_threads<S>, bytes, context.stream()>>>(
        arguments...);
    check_launch(name);
  };
  if (V.k <= few_vectors)
    launch(std::integral_constant<int, tiles_of_few>());
  else
    launch(std::integral_constant<int, tiles_of_many>());
}

}  // namespace

std::int64_t basis_partials(const Context<Cuda>&, std::int64_t n) {
  return blocks_of<double>(n);  // the most: tiles of other types have more rows
}

std::int64_t available_memory(const Context<Cuda>& context) {
  return static_cast<std::int64_t>(context.free_memory());
}

template <class T, class S>
void basis_store(Context<Cuda>& context, std::int64_t n, const T* norm, T* w, S* v) {
  store_kernel<<<blocks_of<S>(n), stream_threads<S>, 0, context.stream()>>>(n, norm, w, v);
  check_launch("basis_store");
}

template <class T, class S>
void basis_project(Context<Cuda>& context, const BasisView<S>& V, const T* w, T* h,
                   double* partials) {
  if (V.k == 0) return;
  const auto parts = static_cast<unsigned>((V.k + most_vectors - 1) / most_vectors);
  launch_tiles(
      context, "basis_project", V, parts, [](auto tiles) { return project_kernel<tiles, T, S>; }, V,
      w, partials);
  sum_partials(context, V.k, blocks_of<S>(V.n), partials, h);
}

template <class T, class S>
void basis_subtract_project(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                            double* partials) {
  if (V.k == 0) return;
  if (V.k > most_vectors) {
    basis_subtract(context, V, h, w, g);  // g_0 is overwritten
    basis_project(context, V, w, g, partials);
    return;
  }
  launch_tiles(
      context, "basis_subtract_project", V, 1,
      [](auto tiles) { return subtract_project_kernel<tiles, T, S>; }, V, h, w, partials);
  sum_partials(context, V.k, blocks_of<S>(V.n), partials, g);
}

template <class T, class S>
void basis_subtract(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  launch_tiles(
      context, "basis_subtract", V, 1, [](auto tiles) { return subtract_kernel<tiles, T, S>; }, V,
      h, w, norm, partials, ticket);
}

template <class T, class S>
void basis_combine(Context<Cuda>& context, const BasisView<S>& V, const T* y, T* x) {
  launch_tiles(
      context, "basis_combine", V, 1, [](auto tiles) { return combine_kernel<tiles, T, S>; }, V, y,
      x);
}

template <class T, class S>
void basis_rotate(Context<Cuda>& context, const BasisView<S>& V, std::int64_t k, const T* Q,
                  double*) {
  constexpr std::int64_t shared_bytes = 48 << 10;  // what a block has without asking for more
  static_assert(Basis<T, Cuda>::most_rotated * std::int64_t{sizeof(T)} <= shared_bytes);
  int rows = 32;
  const auto bytes = [&] { return rows * V.k * std::int64_t{sizeof(T)}; };
  while (bytes() > shared_bytes) rows /= 2;
  const auto blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>((V.n + rows - 1) / rows, 1, 4 * reduction_blocks));
  rotate_kernel<<<blocks, rotate_threads, static_cast<std::size_t>(bytes()), context.stream()>>>(
      V, k, rows, Q);
  check_launch("basis_rotate");
}

#define TANSOLVE_INSTANTIATE(T, S) TANSOLVE_INSTANTIATE_BASIS_KERNELS(Cuda, T, S)
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
