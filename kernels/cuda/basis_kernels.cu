// SPDX-License-Identifier: BSD-3-Clause
// A basis on the GPU. Each thread takes a pack of rows through all vectors: loads of several
// vectors are in flight at once, and no thread waits for another before its sums are complete.
// Compiled without contraction to FMA: elementwise results have the bits of the host.
#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>

#include <algorithm>

namespace tansolve::detail {
namespace {

constexpr int threads = 128;
constexpr int pack_bytes = 8;  // a load of a thread: of 32 vectors a block's take 32 KiB of L1
constexpr int in_flight = 8;   // vectors whose loads a thread has issued before it uses the first
constexpr int most_sums = 32;  // vectors whose sums a thread keeps in registers at once

template <class S>
constexpr int pack_size = pack_bytes / sizeof(S);

/// Rows that one load reads.
template <class S>
struct alignas(pack_bytes) Pack {
  S of[pack_size<S>];
};

template <class S>
__device__ Pack<S> load(const S* v) {
  return *reinterpret_cast<const Pack<S>*>(v);
}

/// The blocks of a kernel over n rows, a function of n and S alone.
template <class S>
int blocks_of(std::int64_t n) {
  constexpr int rows = threads * pack_size<S>;
  return static_cast<int>(std::clamp<std::int64_t>((n + rows - 1) / rows, 1, reduction_blocks));
}

/// Calls visit(row) for the first row of every pack of this thread.
template <class S, class Visit>
__device__ void for_each_pack(std::int64_t n, Visit visit) {
  const std::int64_t step = std::int64_t{gridDim.x} * threads * pack_size<S>;
  for (std::int64_t row = (std::int64_t{blockIdx.x} * threads + threadIdx.x) * pack_size<S>;
       row < n; row += step)
    visit(row);
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

/// rows += sign V h
template <class T, class S>
__device__ void add(const BasisView<S>& V, T sign, const T* h, std::int64_t row,
                    T (&rows)[pack_size<S>]) {
#pragma unroll in_flight
  for (std::int64_t j = 0; j < V.k; ++j) {
    const Pack<S> v = load(V.data + j * V.stride + row);
    const T factor = sign * h[j];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) rows[u] += factor * static_cast<T>(v.of[u]);
  }
}

/// sums_j += v_(first + j)'rows
template <class T, class S, int count>
__device__ void project(const BasisView<S>& V, std::int64_t first, std::int64_t row,
                        const T (&rows)[pack_size<S>], Sums<count>& sums) {
#pragma unroll
  for (int j = 0; j < count; ++j)
    if (first + j < V.k) {
      const Pack<S> v = load(V.data + (first + j) * V.stride + row);
#pragma unroll
      for (int u = 0; u < pack_size<S>; ++u)
        sums.of[j] = fma(static_cast<double>(v.of[u]), static_cast<double>(rows[u]), sums.of[j]);
    }
}

/// partials[j * gridDim.x + block] = this block's sum of v_j, for j from `first` on.
template <int count>
__device__ void store_partials(const Sums<count>& of_thread, std::int64_t first, std::int64_t k,
                               double* partials) {
  const Sums<count> sums = block_sums<threads>(of_thread);
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int j = 0; j < count; ++j)
    if (first + j < k) partials[(first + j) * gridDim.x + blockIdx.x] = sums.of[j];
}

/// Also makes the padding of v 0, which packs read.
template <class T, class S>
__global__ void __launch_bounds__(threads)
    store_kernel(std::int64_t n, const T* __restrict__ norm, T* __restrict__ w, S* __restrict__ v) {
  const T divisor = *norm;
  const bool possible = divisor != 0 && isfinite(divisor);
  const std::int64_t padded = (n + basis_alignment - 1) / basis_alignment * basis_alignment;
  for_each_pack<S>(padded, [&](std::int64_t row) {
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
  });
}

/// One block row of the grid for `count` vectors.
template <int count, class T, class S>
__global__ void __launch_bounds__(threads)
    project_kernel(BasisView<S> V, const T* __restrict__ w, double* __restrict__ partials) {
  const std::int64_t first = std::int64_t{blockIdx.y} * count;
  Sums<count> sums;
  for_each_pack<S>(V.n, [&](std::int64_t row) {
    T rows[pack_size<S>];
    load_rows(w, row, V.n, rows);
    project(V, first, row, rows, sums);
  });
  store_partials(sums, first, V.k, partials);
}

/// For k <= count: what the subtraction loads, the projection finds in L1.
template <int count, class T, class S>
__global__ void __launch_bounds__(threads)
    subtract_project_kernel(BasisView<S> V, const T* __restrict__ h, T* __restrict__ w,
                            double* __restrict__ partials) {
  Sums<count> sums;
  for_each_pack<S>(V.n, [&](std::int64_t row) {
    T rows[pack_size<S>];
    load_rows(w, row, V.n, rows);
    add(V, T(-1), h, row, rows);
    store_rows(w, row, V.n, rows);
    project(V, 0, row, rows, sums);
  });
  store_partials(sums, 0, V.k, partials);
}

template <class T, class S>
__global__ void __launch_bounds__(threads)
    subtract_kernel(BasisView<S> V, const T* __restrict__ h, T* __restrict__ w, T* norm,
                    double* partials, unsigned* ticket) {
  Sums<3> sums;
  for_each_pack<S>(V.n, [&](std::int64_t row) {
    T rows[pack_size<S>];
    load_rows(w, row, V.n, rows);
    add(V, T(-1), h, row, rows);
    store_rows(w, row, V.n, rows);
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) add_square(row + u < V.n ? rows[u] : T(0), sums);
  });
  grid_sums<threads>(sums, partials, ticket,
                     [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

template <class T, class S>
__global__ void __launch_bounds__(threads)
    combine_kernel(BasisView<S> V, const T* __restrict__ y, T* __restrict__ x) {
  for_each_pack<S>(V.n, [&](std::int64_t row) {
    T rows[pack_size<S>] = {};
    add(V, T(1), y, row, rows);
    store_rows(x, row, V.n, rows);
  });
}

/// V_k = V Q, for `rows` rows of a block at once, a power of two: shared memory keeps those of V,
/// so that they may be overwritten, and a thread computes a few of k columns together for one of
/// them.
template <class T, class S>
__global__ void __launch_bounds__(threads)
    rotate_kernel(BasisView<S> V, std::int64_t k, int rows, const T* __restrict__ Q) {
  constexpr int together = 8;
  extern __shared__ double shared[];
  T* piece = reinterpret_cast<T*>(shared);
  const int r = threadIdx.x % rows, groups = threads / rows;
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
__global__ void __launch_bounds__(threads)
    sum_partials_kernel(int blocks, const double* __restrict__ partials, T* __restrict__ h) {
  Sums<1> sum;
  for (int b = threadIdx.x; b < blocks; b += threads)
    sum.of[0] += partials[std::int64_t{blockIdx.x} * blocks + b];
  sum = block_sums<threads>(sum);
  if (threadIdx.x == 0) h[blockIdx.x] = static_cast<T>(sum.of[0]);
}

template <class T>
void sum_partials(Context<Cuda>& context, std::int64_t k, int blocks, const double* partials,
                  T* h) {
  sum_partials_kernel<<<static_cast<unsigned>(k), threads, 0, context.stream()>>>(blocks, partials,
                                                                                  h);
  check_launch("sum_partials");
}

}  // namespace

std::int64_t basis_partials(const Context<Cuda>&, std::int64_t n) {
  return blocks_of<double>(n);  // the most: packs of other types have more rows
}

std::int64_t available_memory(const Context<Cuda>& context) {
  return static_cast<std::int64_t>(context.free_memory());
}

template <class T, class S>
void basis_store(Context<Cuda>& context, std::int64_t n, const T* norm, T* w, S* v) {
  store_kernel<<<blocks_of<S>(n), threads, 0, context.stream()>>>(n, norm, w, v);
  check_launch("basis_store");
}

template <class T, class S>
void basis_project(Context<Cuda>& context, const BasisView<S>& V, const T* w, T* h,
                   double* partials) {
  if (V.k == 0) return;
  constexpr int count = most_sums / 2;  // half: leaves registers for loads in flight
  const dim3 grid(blocks_of<S>(V.n), static_cast<unsigned>((V.k + count - 1) / count));
  project_kernel<count><<<grid, threads, 0, context.stream()>>>(V, w, partials);
  check_launch("basis_project");
  sum_partials(context, V.k, blocks_of<S>(V.n), partials, h);
}

template <class T, class S>
void basis_subtract_project(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                            double* partials) {
  if (V.k == 0) return;
  if (V.k > most_sums) {
    basis_subtract(context, V, h, w, g);  // g_0 is overwritten
    basis_project(context, V, w, g, partials);
    return;
  }
  const int blocks = blocks_of<S>(V.n);
  subtract_project_kernel<most_sums><<<blocks, threads, 0, context.stream()>>>(V, h, w, partials);
  check_launch("basis_subtract_project");
  sum_partials(context, V.k, blocks, partials, g);
}

template <class T, class S>
void basis_subtract(Context<Cuda>& context, const BasisView<S>& V, const T* h, T* w, T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  subtract_kernel<<<blocks_of<S>(V.n), threads, 0, context.stream()>>>(V, h, w, norm, partials,
                                                                       ticket);
  check_launch("basis_subtract");
}

template <class T, class S>
void basis_combine(Context<Cuda>& context, const BasisView<S>& V, const T* y, T* x) {
  combine_kernel<<<blocks_of<S>(V.n), threads, 0, context.stream()>>>(V, y, x);
  check_launch("basis_combine");
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
  rotate_kernel<<<blocks, threads, static_cast<std::size_t>(bytes()), context.stream()>>>(V, k,
                                                                                          rows, Q);
  check_launch("basis_rotate");
}

#define TANSOLVE_INSTANTIATE(T, S) TANSOLVE_INSTANTIATE_BASIS_KERNELS(Cuda, T, S)
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
