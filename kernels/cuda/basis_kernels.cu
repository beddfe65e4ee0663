// SPDX-License-Identifier: BSD-3-Clause
// A basis on the GPU. The vectors stream through shared memory in tiles, several of which are
// always on their way; a thread takes its few rows of a tile through all vectors there, as often as
// it has to. Compiled without contraction to FMA: elementwise results have the bits of the host.
#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/projection.cuh>
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

/// h of a run, scaled, for all threads of a block.
template <class T, class S>
class Coefficients {
 public:
  __device__ Coefficients(const T* h, std::int64_t k) {
    const int lane = threadIdx.x % 32;
    const T own = lane < k ? h[lane] : T(0);
    scale_ = run_scale<T, S>(__reduce_max_sync(~0u, exponent_bits(own)));
    if (threadIdx.x < most_vectors) factors()[lane] = run_factor<T, S>(own, scale_);
    __syncthreads();
  }

  /// rows += sign V h, for a tile.
  template <int tiles>
  __device__ void add(const TileStream<tiles, S>& stream, T sign, T (&rows)[pack_size<S>]) const {
    const int count = stream.count();
    RunSum<T, S> sums[pack_size<S>] = {};
#pragma unroll 8
    for (int j = 0; j < count; ++j) {
      const Pack<S> v = stream.pack(j);
      const RunSum<T, S> factor = factors()[j];
#pragma unroll
      for (int u = 0; u < pack_size<S>; ++u) sums[u] += factor * static_cast<RunSum<T, S>>(v.of[u]);
    }
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] = add_run<T, S>(rows[u], sign, scale_, sums[u]);
  }

 private:
  static_assert(most_vectors == 32, "a lane for each");
  static __device__ RunSum<T, S>* factors() {
    __shared__ RunSum<T, S> shared[most_vectors];
    return shared;
  }

  PowerOfTwo scale_;
};

constexpr int store_threads = 128, store_pack = 2;  // elements a thread takes at once

int store_blocks(std::int64_t n) {
  constexpr int rows = store_threads * store_pack;
  return static_cast<int>(std::clamp<std::int64_t>((n + rows - 1) / rows, 1, 4 * reduction_blocks));
}

/// Also makes the padding of v 0, which tiles read.
template <class T, class S>
__global__ void __launch_bounds__(store_threads)
    store_kernel(std::int64_t n, const T* __restrict__ norm, T* __restrict__ w, S* __restrict__ v) {
  const T divisor = *norm;
  const bool possible = divisor != 0 && isfinite(divisor);
  const std::int64_t padded = (n + basis_alignment - 1) / basis_alignment * basis_alignment;
  const std::int64_t step = std::int64_t{gridDim.x} * store_threads * store_pack;
  for (std::int64_t row = (std::int64_t{blockIdx.x} * store_threads + threadIdx.x) * store_pack;
       row < padded; row += step) {
    T rows[store_pack];
    load_rows(w, row, n, rows);
#pragma unroll
    for (int u = 0; u < store_pack; ++u) {
      const auto stored = static_cast<S>(possible ? rows[u] / divisor : T(0));
      v[row + u] = stored;
      rows[u] = static_cast<T>(stored);
    }
    store_rows(w, row, n, rows);
  }
}

/// Calls work(rows) for this thread's rows of w in each tile, when the tile is there.
template <class T, int tiles, class S, class Work>
__device__ void for_tiles(TileStream<tiles, S>& stream, const T* w, std::int64_t n, Work work) {
  T next[pack_size<S>];
  load_rows(w, stream.row(), n, next);
  for (; stream.more(); stream.advance()) {
    T rows[pack_size<S>];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] = next[u];
    stream.wait();
    load_rows(w, stream.row_after(), n, next);
    work(rows);
  }
}

/// The first most_vectors from blockIdx.y times as many on.
template <class S>
__device__ BasisView<S> run_of(const BasisView<S>& V) {
  const std::int64_t first = std::int64_t{blockIdx.y} * most_vectors;
  return {V.data + first * V.stride, V.n, V.stride, min(V.k - first, std::int64_t{most_vectors})};
}

/// Whether work is wanted, which null says, too.
__device__ bool is_wanted(const double* wanted) {
  return wanted == nullptr || *wanted != 0;
}

/// One block row of the grid for each run.
template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads)
    project_kernel(BasisView<S> V, const T* __restrict__ w, double* __restrict__ partials,
                   const double* wanted) {
  if (!is_wanted(wanted)) return;
  const BasisView<S> run = run_of(V);
  TileStream<tiles, S> stream(run);
  Projection<T, S> projection;
  for_tiles<T>(stream, w, V.n, [&](const T(&rows)[pack_size<S>]) { projection.add(stream, rows); });
  projection.store(run.k, partials + std::int64_t{blockIdx.y} * most_vectors * gridDim.x);
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads)
    subtract_project_kernel(BasisView<S> run, const T* __restrict__ h, T* __restrict__ w,
                            double* __restrict__ partials) {
  TileStream<tiles, S> stream(run);
  const Coefficients<T, S> coefficients(h, run.k);
  Projection<T, S> projection;
  for_tiles<T>(stream, w, run.n, [&](T(&rows)[pack_size<S>]) {
    coefficients.add(stream, T(-1), rows);
    store_rows(w, stream.row(), run.n, rows);
    projection.add(stream, rows);
  });
  projection.store(run.k, partials);
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads)
    subtract_kernel(BasisView<S> run, const T* __restrict__ h, T* __restrict__ w, T* norm,
                    double* partials, unsigned* ticket, const double* wanted) {
  if (!is_wanted(wanted)) return;
  TileStream<tiles, S> stream(run);
  const Coefficients<T, S> coefficients(h, run.k);
  Sums<3> sums;
  for_tiles<T>(stream, w, run.n, [&](T(&rows)[pack_size<S>]) {
    coefficients.add(stream, T(-1), rows);
    store_rows(w, stream.row(), run.n, rows);
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u)
      add_square(stream.row() + u < run.n ? rows[u] : T(0), sums);
  });
  grid_sums<stream_threads>(sums, partials, ticket,
                            [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

/// x += V y, or x = V y where it is the first run.
template <int tiles, class T, class S>
__global__ void __launch_bounds__(stream_threads)
    combine_kernel(BasisView<S> run, const T* __restrict__ y, bool first, T* __restrict__ x) {
  TileStream<tiles, S> stream(run);
  const Coefficients<T, S> coefficients(y, run.k);
  for_tiles<T>(stream, x, first ? 0 : run.n, [&](T(&rows)[pack_size<S>]) {
    coefficients.add(stream, T(1), rows);
    store_rows(x, stream.row(), run.n, rows);
  });
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

/// h_j = the sum of the blocks' partial sums of v_j, 0 where it is not wanted; a block for each j.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    sum_partials_kernel(int blocks, const double* __restrict__ partials, T* __restrict__ h,
                        const double* wanted) {
  if (!is_wanted(wanted)) {
    if (threadIdx.x == 0) h[blockIdx.x] = T(0);
    return;
  }
  Sums<1> sum;
  for (int b = threadIdx.x; b < blocks; b += sum_threads)
    sum.of[0] += partials[std::int64_t{blockIdx.x} * blocks + b];
  sum = block_sums<sum_threads>(sum);
  if (threadIdx.x == 0) h[blockIdx.x] = static_cast<T>(sum.of[0]);
}

/// *wanted = whether norm < ||h||.
template <class T>
__global__ void __launch_bounds__(sum_threads)
    second_pass_kernel(std::int64_t k, const T* __restrict__ h, const T* norm, double* wanted) {
  Sums<3> sums;
  for (std::int64_t j = threadIdx.x; j < k; j += sum_threads) add_square(h[j], sums);
  sums = block_sums<sum_threads>(sums);
  if (threadIdx.x == 0) *wanted = *norm < norm_of(sums) ? 1 : 0;
}

template <class T>
void sum_partials(Context<Cuda>& context, std::int64_t k, int blocks, const double* partials, T* h,
                  const double* wanted = nullptr) {
  sum_partials_kernel<<<static_cast<unsigned>(k), sum_threads, 0, context.stream()>>>(
      blocks, partials, h, wanted);
  check_launch("sum_partials");
}

/// Launches of(tiles), a kernel of so many tiles, over V's rows, with a block row for each run.
template <class S, class Of, class... Arguments>
void launch_tiles(Context<Cuda>& context, const char* name, const BasisView<S>& V, Of of,
                  Arguments... arguments) {
  const auto runs =
      static_cast<unsigned>(std::max<std::int64_t>((V.k + most_vectors - 1) / most_vectors, 1));
  const std::int64_t vectors = std::min<std::int64_t>(V.k, most_vectors);
  const auto launch = [&](auto tiles) {
    const auto kernel = of(tiles);
    const std::size_t bytes = tile_bytes<S>(vectors, tiles);
    if (bytes > (40 << 10))  // with static memory above 48 KiB, which have to be asked for
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(tile_bytes<S>(most_vectors, tiles_of_many))),
            name);
    kernel<<<dim3(blocks_of<S>(V.n), runs), stream_threads, bytes, context.stream()>>>(
        V, arguments...);
    check_launch(name);
  };
  if (V.k <= few_vectors)
    launch(std::integral_constant<int, tiles_of_few>());
  else
    launch(std::integral_constant<int, tiles_of_many>());
}

/// Calls work(run, first) for V's runs, the vectors from `first` on, one after another.
template <class S, class Work>
void for_runs(const BasisView<S>& V, Work work) {
  std::int64_t first = 0;
  do {
    const std::int64_t k = std::min<std::int64_t>(V.k - first, most_vectors);
    work(BasisView<S>{V.data + first * V.stride, V.n, V.stride, k}, first);
    first += k;
  } while (first < V.k);
}

template <class T, class S>
void project(Context<Cuda>& context, const BasisView<S>& V, const T* w, T* h, double* partials,
             const double* wanted) {
  if (V.k == 0) return;
  launch_tiles(
      context, "basis_project", V, [](auto tiles) { return project_kernel<tiles, T, S>; }, w,
      partials, wanted);
  sum_partials(context, V.k, blocks_of<S>(V.n), partials, h, wanted);
}

template <class T, class S>
void subtract(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* norm,
              const double* wanted) {
  const auto& [partials, ticket, staging] = context.scratch();
  for_runs(V, [&](const BasisView<S>& run, std::int64_t first) {
    launch_tiles(
        context, "basis_subtract", run, [](auto tiles) { return subtract_kernel<tiles, T, S>; },
        h + first, w, norm, partials, ticket, wanted);
  });
}

}  // namespace

std::int64_t basis_partials(const Context<Cuda>&, std::int64_t n) {
  return std::max({blocks_of<double>(n), blocks_of<float>(n), blocks_of<UnitHalf>(n)});
}

std::int64_t available_memory(const Context<Cuda>& context) {
  return static_cast<std::int64_t>(context.free_memory());
}

template <class T, class S>
void basis_store(Context<Cuda>& context, std::int64_t n, const T* norm, T* w, S* v) {
  store_kernel<<<store_blocks(n), store_threads, 0, context.stream()>>>(n, norm, w, v);
  check_launch("basis_store");
}

template <class T, class S>
void basis_project(Context<Cuda>& context, const BasisView<S>& V, const T* w, T* h,
                   double* partials) {
  project(context, V, w, h, partials, nullptr);
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
      context, "basis_subtract_project", V,
      [](auto tiles) { return subtract_project_kernel<tiles, T, S>; }, h, w, partials);
  sum_partials(context, V.k, blocks_of<S>(V.n), partials, g);
}

template <class T, class S>
void basis_subtract(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* norm) {
  subtract(context, V, h, w, norm, nullptr);
}

template <class T, class S>
bool basis_subtract_again(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                          T* norm, double* partials) {
  double* wanted = partials;
  second_pass_kernel<<<1, sum_threads, 0, context.stream()>>>(V.k, h, norm, wanted);
  check_launch("basis_subtract_again");
  project(context, V, w, g, partials + 1, wanted);
  subtract(context, V, g, w, norm, wanted);
  return true;
}

template <class T, class S>
void basis_combine(Context<Cuda>& context, const BasisView<S>& V, const T* y, T* x) {
  for_runs(V, [&](const BasisView<S>& run, std::int64_t first) {
    launch_tiles(
        context, "basis_combine", run, [](auto tiles) { return combine_kernel<tiles, T, S>; },
        y + first, first == 0, x);
  });
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
