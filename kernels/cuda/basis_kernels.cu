// SPDX-License-Identifier: BSD-3-Clause
// A basis on the GPU. The vectors stream through shared memory in tiles, several of which are
// always on their way; a thread takes its few rows of a tile through all vectors there, as often as
// it has to. Compiled without contraction to FMA: elementwise results have the bits of the host.
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>

#include <cuda_pipeline.h>

#include <algorithm>

namespace tansolve::detail {
namespace {

constexpr int copy_bytes = 16;
constexpr int vector_bytes = 1024;  // of a vector in a tile
constexpr int most_vectors = 32;    // in a tile; a thread keeps their sums
constexpr int group = 4;            // vectors that a thread reads at once

/// Tiles in shared memory. Few vectors make small tiles, of which more must be on their way.
constexpr int few_vectors = 8, tiles_of_few = 8, tiles_of_many = 3;

/// A constant, so that sums do not depend on the device: four blocks a multiprocessor of an H200,
/// which is what registers allow.
constexpr int most_threads = 528 * 128;

template <class S>
constexpr int tile_rows = vector_bytes / sizeof(S);
/// Of narrow elements a thread takes only 4 bytes of a vector in a tile: there is more to do.
template <class S>
constexpr int threads = sizeof(S) == 8 ? 128 : 256;
template <class S>
constexpr int pack_size = tile_rows<S> / threads<S>;

/// The elements of a vector that a thread takes at once.
template <class S>
struct alignas(pack_size<S> * sizeof(S)) Pack {
  S of[pack_size<S>];
};

/// The blocks of a kernel over n rows, a function of n and S alone.
template <class S>
int blocks_of(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>((n + tile_rows<S> - 1) / tile_rows<S>, 1,
                                                   most_threads / threads<S>));
}

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

/// Room for the vectors of a tile among k, in whole groups.
__host__ __device__ int padded_vectors(std::int64_t k) {
  return static_cast<int>(k < most_vectors ? (k + group - 1) / group * group : most_vectors);
}

/// A block's way through V: tiles of the rows blockIdx.x, + gridDim.x, ..., each in parts of
/// most_vectors vectors, from `first` to `last`.
template <int tiles, class S>
class TileStream {
 public:
  __device__ TileStream(const BasisView<S>& V, std::int64_t first, std::int64_t last)
      : V_(V), first_(first), last_(last), row_(std::int64_t{blockIdx.x} * tile_rows<S>) {
    extern __shared__ __align__(copy_bytes) unsigned char shared[];
    shared_ = shared;
    fetched_row_ = row_;
    fetched_vector_ = first;
    for (int i = 0; i < tiles - 1; ++i) fetch();
  }

  __device__ bool more() const { return row_ < V_.n; }
  /// The first of this thread's rows in the next tile, and whether the tile begins with V's first
  /// vector, and ends with its last.
  __device__ std::int64_t row() const { return row_ + threadIdx.x * pack_size<S>; }
  __device__ std::int64_t row_after() const { return row() + step(); }
  __device__ std::int64_t vector() const { return first_ + part_ * most_vectors; }
  __device__ int count() const {
    return static_cast<int>(min(last_ - vector(), std::int64_t{most_vectors}));
  }
  __device__ bool begins() const { return part_ == 0; }
  __device__ bool ends() const { return vector() + most_vectors >= last_; }

  /// Waits until the tile is there. Whoever calls is done with the tile before.
  __device__ void wait() {
    __pipeline_wait_prior(tiles - 2);
    __syncthreads();
    fetch();
  }
  /// The pack of the tile's vector j; of those beyond count() it is unspecified.
  __device__ Pack<S> pack(int j) const {
    return reinterpret_cast<const Pack<S>*>(tile(used_) + j * vector_bytes)[threadIdx.x];
  }
  __device__ void advance() {
    used_ = used_ + 1 == tiles ? 0 : used_ + 1;
    const bool last_part = ends();
    part_ = last_part ? 0 : part_ + 1;
    if (last_part) row_ += step();
  }

 private:
  static __device__ std::int64_t step() { return std::int64_t{gridDim.x} * tile_rows<S>; }
  __device__ unsigned char* tile(int i) const {
    return shared_ + i * padded_vectors(last_ - first_) * vector_bytes;
  }
  /// Sets out for one more tile, if there is one.
  __device__ void fetch() {
    constexpr int copies = vector_bytes / copy_bytes, at_once = threads<S> / copies;
    if (fetched_row_ < V_.n) {
      const std::int64_t end = min(fetched_vector_ + most_vectors, last_);
      const int lane = threadIdx.x % copies;
      const std::int64_t row = fetched_row_ + lane * (copy_bytes / static_cast<int>(sizeof(S)));
      unsigned char* to = tile(fetched_) + threadIdx.x / copies * vector_bytes + lane * copy_bytes;
      const bool inside = row < V_.stride;  // where V ends with zeros
      const S* from = V_.data + (fetched_vector_ + threadIdx.x / copies) * V_.stride;
      for (std::int64_t j = fetched_vector_ + threadIdx.x / copies; j < end; j += at_once) {
        __pipeline_memcpy_async(to, inside ? from + row : V_.data, copy_bytes,
                                inside ? 0 : copy_bytes);
        to += at_once * vector_bytes;
        from += at_once * V_.stride;
      }
      fetched_vector_ = end == last_ ? first_ : end;
      if (end == last_) fetched_row_ += step();
    }
    __pipeline_commit();
    fetched_ = fetched_ + 1 == tiles ? 0 : fetched_ + 1;
  }

  BasisView<S> V_;
  std::int64_t first_, last_;
  unsigned char* shared_;
  std::int64_t row_, part_ = 0;                // of the tile in use
  std::int64_t fetched_row_, fetched_vector_;  // of the next that is fetched
  int used_ = 0, fetched_ = 0;                 // their places
};

/// Bytes of a TileStream of k vectors.
std::size_t tile_bytes(std::int64_t k, int tiles) {
  return static_cast<std::size_t>(tiles * padded_vectors(k) * vector_bytes);
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
__global__ void __launch_bounds__(threads<S>)
    store_kernel(std::int64_t n, const T* __restrict__ norm, T* __restrict__ w, S* __restrict__ v) {
  const T divisor = *norm;
  const bool possible = divisor != 0 && isfinite(divisor);
  const std::int64_t padded = (n + basis_alignment - 1) / basis_alignment * basis_alignment;
  for (std::int64_t row = (std::int64_t{blockIdx.x} * threads<S> + threadIdx.x) * pack_size<S>;
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
__global__ void __launch_bounds__(threads<S>)
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
  store_partials<threads<S>>(sums, first, V.k, partials);
}

/// For k <= most_vectors.
template <int tiles, class T, class S>
__global__ void __launch_bounds__(threads<S>)
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
  store_partials<threads<S>>(sums, 0, V.k, partials);
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(threads<S>)
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
  grid_sums<threads<S>>(sums, partials, ticket,
                        [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

template <int tiles, class T, class S>
__global__ void __launch_bounds__(threads<S>)
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

constexpr int sum_threads = 128;

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
    kernel<<<dim3(blocks_of<S>(V.n), parts), threads<S>, bytes, context.stream()>>>(arguments...);
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
  store_kernel<<<blocks_of<S>(n), threads<S>, 0, context.stream()>>>(n, norm, w, v);
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

#define TANSOLVE_INSTANTIATE(T, S) TANSOLVE_INSTANTIATE_BASIS_KERNELS(Cuda, T, S)
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
