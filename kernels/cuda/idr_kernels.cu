// SPDX-License-Identifier: BSD-3-Clause
// The vector work of IDR(s) on the GPU; its small numbers are advanced by the last block of a sum
// to arrive, when all others have read them. Compiled without contraction to FMA: elementwise
// results have the bits of the host.
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/tiles.cuh>
#include <tansolve/kernels/idr_kernels.hpp>

#include <type_traits>

namespace tansolve::detail {
namespace {

__device__ bool ended(const IdrState& state) {
  return state.seen.end != IdrEnd::none;
}

/// Coefficients of the state, for all threads of a block, in the vectors' type.
template <class T>
__device__ const T* shared_coefficients(const double* coefficients) {
  __shared__ T shared[IdrState::most];
  if (threadIdx.x < IdrState::most) shared[threadIdx.x] = static_cast<T>(coefficients[threadIdx.x]);
  __syncthreads();
  return shared;
}

/// Calls work(first) for the tiles of this thread, whose elements are first + u * tile_threads.
template <class Work>
__device__ void for_each_tile(std::int64_t n, Work work) {
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile_size + threadIdx.x; first < n;
       first += std::int64_t{gridDim.x} * tile_size)
    work(first);
}

/// Calls work(i, u) for the elements of a tile.
template <class Work>
__device__ void for_elements(std::int64_t first, std::int64_t n, Work work) {
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (const std::int64_t i = first + u * tile_threads; i < n) work(i, u);
}

/// What a thread adds up of P'w and ||w||.
template <int capacity>
struct Products {
  template <class T>
  __device__ void add(const IdrPointers<T>& in, std::int64_t first, std::int64_t n,
                      const T (&w)[per_thread]) {
    for_elements(first, n, [&](std::int64_t, int u) { add_square(w[u], squares); });
#pragma unroll
    for (int j = 0; j < capacity; ++j)
      if (j < in.s)
        for_elements(first, n, [&](std::int64_t i, int u) {
          with_p[j] += static_cast<double>(in.p[j][i]) * static_cast<double>(w[u]);
        });
  }
  /// Calls take(products, norm) of all of them, once.
  template <class Take>
  __device__ void finish(double* partials, unsigned* ticket, Take take) const {
    Sums<capacity + 3> sums;
    for (int j = 0; j < 3; ++j) sums.of[j] = squares.of[j];
    for (int j = 0; j < capacity; ++j) sums.of[3 + j] = with_p[j];
    grid_sums<tile_threads>(sums, partials, ticket, [=](const Sums<capacity + 3>& total) {
      take(total.of + 3, norm_of(Sums<3>{{total.of[0], total.of[1], total.of[2]}}));
    });
  }

  double with_p[capacity] = {};
  Sums<3> squares;
};

/// P'w and ||w|| for the first cycle, or, with k not negative, for step k.
template <int capacity, class T>
__global__ void __launch_bounds__(tile_threads)
    project_kernel(std::int64_t n, IdrPointers<T> in, int k, const T* __restrict__ w,
                   double* partials, unsigned* ticket) {
  if (ended(*in.state)) return;
  Products<capacity> products;
  for_each_tile(n, [&](std::int64_t first) {
    T rows[per_thread];
    for_elements(first, n, [&](std::int64_t i, int u) { rows[u] = w[i]; });
    products.add(in, first, n, rows);
  });
  products.finish(partials, ticket, [&](const double* with_p, double norm) {
    if (k >= 0) return idr_take_image<T>(*in.state, k, in.s, with_p, static_cast<T>(norm));
    in.state->r_norm = static_cast<T>(norm);
    idr_cycle(*in.state, in.s, with_p);
  });
}

/// rows -= g_k c_k + ... + g_(s-1) c_(s-1)
template <class T>
__device__ void subtract_g(const IdrPointers<T>& in, int k, const T* c, std::int64_t first,
                           std::int64_t n, T (&rows)[per_thread]) {
  for (int j = k; j < in.s; ++j)
    for_elements(first, n, [&](std::int64_t i, int u) { rows[u] -= c[j] * in.g[j][i]; });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    rest_kernel(std::int64_t n, IdrPointers<T> in, int k, const T* __restrict__ r,
                T* __restrict__ v) {
  if (ended(*in.state)) return;
  const T* c = shared_coefficients<T>(in.state->c);
  for_each_tile(n, [&](std::int64_t first) {
    T rows[per_thread];
    for_elements(first, n, [&](std::int64_t i, int u) { rows[u] = r[i]; });
    subtract_g(in, k, c, first, n, rows);
    for_elements(first, n, [&](std::int64_t i, int u) { v[i] = rows[u]; });
  });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    direction_kernel(std::int64_t n, IdrPointers<T> in, int k, bool rest, const T* __restrict__ z) {
  if (ended(*in.state)) return;
  const T* c = shared_coefficients<T>(in.state->c);
  const T omega = static_cast<T>(in.state->omega);
  for_each_tile(n, [&](std::int64_t first) {
    T rows[per_thread];
    for_elements(first, n, [&](std::int64_t i, int u) { rows[u] = z[i]; });
    if (rest) subtract_g(in, k, c, first, n, rows);
    for_elements(first, n,
                 [&](std::int64_t i, int u) { rows[u] = omega * rows[u] + c[k] * in.u[k][i]; });
    for (int j = k + 1; j < in.s; ++j)
      for_elements(first, n, [&](std::int64_t i, int u) { rows[u] += c[j] * in.u[j][i]; });
    for_elements(first, n, [&](std::int64_t i, int u) { in.u[k][i] = rows[u]; });
  });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    step_kernel(std::int64_t n, IdrPointers<T> in, int k, T* __restrict__ x, T* __restrict__ r,
                double* partials, unsigned* ticket) {
  if (ended(*in.state)) return;
  const T* a = shared_coefficients<T>(in.state->a);
  const T along_u = static_cast<T>(in.state->sigma * in.state->beta);
  const T along_g = static_cast<T>(in.state->beta);
  Sums<3> sums;
  for_each_tile(n, [&](std::int64_t first) {
    T g[per_thread], u_k[per_thread];
    for_elements(first, n, [&](std::int64_t i, int u) { g[u] = in.g[k][i], u_k[u] = in.u[k][i]; });
    for (int j = 0; j < k; ++j)
      for_elements(first, n, [&](std::int64_t i, int u) {
        g[u] -= a[j] * in.g[j][i];
        u_k[u] -= a[j] * in.u[j][i];
      });
    T moved[per_thread], next[per_thread];
    for_elements(first, n, [&](std::int64_t i, int u) {
      moved[u] = x[i] + along_u * u_k[u];
      next[u] = r[i] - along_g * g[u];
      add_square(next[u], sums);
    });
    for_elements(first, n, [&](std::int64_t i, int u) {
      in.g[k][i] = g[u], in.u[k][i] = u_k[u];
      x[i] = moved[u], r[i] = next[u];
    });
  });
  grid_sums<tile_threads>(sums, partials, ticket, [&](const Sums<3>& total) {
    idr_stepped(*in.state, static_cast<T>(norm_of(total)));
  });
}

template <int capacity, class T>
__global__ void __launch_bounds__(tile_threads)
    last_step_kernel(std::int64_t n, IdrPointers<T> in, const T* rt, const T* t_norm,
                     const T* __restrict__ y, const T* __restrict__ t, T* __restrict__ x,
                     T* __restrict__ r, double* partials, unsigned* ticket) {
  if (ended(*in.state)) return;
  const IdrLastStep<T> step(*in.state, *rt, *t_norm);
  const T omega = static_cast<T>(step.omega);
  Products<capacity> products;
  if (step.possible)
    for_each_tile(n, [&](std::int64_t first) {
      T moved[per_thread], next[per_thread];
      for_elements(first, n, [&](std::int64_t i, int u) {
        const T ri = r[i];
        moved[u] = x[i] + step.length * (y != nullptr ? y[i] : ri);
        next[u] = ri - omega * t[i];
      });
      for_elements(first, n, [&](std::int64_t i, int u) { x[i] = moved[u], r[i] = next[u]; });
      products.add(in, first, n, next);
    });
  products.finish(partials, ticket, [&](const double* with_p, double norm) {
    if (step.possible)
      step.take(*in.state, in.s, with_p, static_cast<T>(norm));
    else
      step.refuse(*in.state);
  });
}

/// Calls use(capacity, blocks) for a constant that holds s and the blocks whose sums find room.
template <class Use>
void with_capacity(int s, std::int64_t n, Use use) {
  const auto call = [&](auto capacity) {
    constexpr int room = reduction_blocks * partials_per_block / (decltype(capacity)::value + 3);
    use(capacity, std::min(tile_blocks(n), room));
  };
  if (s <= 4)
    call(std::integral_constant<int, 4>());
  else if (s <= 8)
    call(std::integral_constant<int, 8>());
  else
    call(std::integral_constant<int, IdrState::most>());
}

template <class T>
void project(Context<Cuda>& context, const char* name, std::int64_t n, const IdrPointers<T>& in,
             int k, const T* w) {
  const auto& [partials, ticket, staging] = context.scratch();
  with_capacity(in.s, n, [&, partials = partials, ticket = ticket](auto capacity, int blocks) {
    project_kernel<decltype(capacity)::value>
        <<<blocks, tile_threads, 0, context.stream()>>>(n, in, k, w, partials, ticket);
  });
  check_launch(name);
}

}  // namespace

template <class T>
void idr_begin(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, const T* r) {
  project(context, "idr_begin", n, in, -1, r);
}

template <class T>
void idr_rest(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, int k, const T* r,
              T* v) {
  rest_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, in, k, r, v);
  check_launch("idr_rest");
}

template <class T>
void idr_direction(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, int k,
                   bool rest, const T* z) {
  direction_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, in, k, rest, z);
  check_launch("idr_direction");
}

template <class T>
void idr_image(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, int k) {
  project<T>(context, "idr_image", n, in, k, in.g[k]);
}

template <class T>
void idr_step(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, int k, T* x, T* r) {
  const auto& [partials, ticket, staging] = context.scratch();
  step_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, in, k, x, r, partials,
                                                                     ticket);
  check_launch("idr_step");
}

template <class T>
void idr_last_step(Context<Cuda>& context, std::int64_t n, const IdrPointers<T>& in, const T* rt,
                   const T* t_norm, const T* y, const T* t, T* x, T* r) {
  const auto& [partials, ticket, staging] = context.scratch();
  with_capacity(in.s, n, [&, partials = partials, ticket = ticket](auto capacity, int blocks) {
    last_step_kernel<decltype(capacity)::value><<<blocks, tile_threads, 0, context.stream()>>>(
        n, in, rt, t_norm, y, t, x, r, partials, ticket);
  });
  check_launch("idr_last_step");
}

TANSOLVE_INSTANTIATE_IDR_KERNELS(Cuda, double)
TANSOLVE_INSTANTIATE_IDR_KERNELS(Cuda, float)

}  // namespace tansolve::detail
