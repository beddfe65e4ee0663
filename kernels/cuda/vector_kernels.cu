// SPDX-License-Identifier: BSD-3-Clause
// The primitives on the GPU. All are bound by memory, so every thread has several loads in flight
// before its first store. Compiled without contraction to FMA: elementwise results have the bits of
// the host.
#include <tansolve/kernels/cuda/kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/reduce.cuh>
#include <tansolve/kernels/cuda/tiles.cuh>

#include <cmath>
#include <limits>

namespace tansolve::detail {
namespace {

constexpr int threads = tile_threads, tile = tile_size;
constexpr int direction_tile = 2 * threads;

/// out_i = f(in_i...), where out may be one of the in.
template <class T, class F, class... In>
__global__ void __launch_bounds__(threads) map(std::int64_t n, F f, T* out, const In*... in) {
  const std::int64_t first = std::int64_t{blockIdx.x} * tile + threadIdx.x;
  T results[per_thread];
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (const std::int64_t i = first + u * threads; i < n) results[u] = f(in[i]...);
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (const std::int64_t i = first + u * threads; i < n) out[i] = results[u];
}

template <class T, class F, class... In>
void launch_map(Context<Cuda>& context, const char* name, std::int64_t n, F f, T* out,
                const In*... in) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
  map<<<blocks, threads, 0, context.stream()>>>(n, f, out, in...);
  check_launch(name);
}

/// Calls visit(first) for every tile of this block: this thread has its elements first + u threads.
template <class Visit>
__device__ void for_each_tile(std::int64_t n, Visit visit) {
  for (std::int64_t first = std::int64_t{blockIdx.x} * tile + threadIdx.x; first < n;
       first += std::int64_t{gridDim.x} * tile)
    visit(first);
}

template <class T>
__global__ void __launch_bounds__(threads)
    dot_kernel(std::int64_t n, const T* __restrict__ x, const T* __restrict__ y, T* result,
               double* partials, unsigned* ticket) {
  Sums<1> sum;
  for_each_tile(n, [&](std::int64_t first) {
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * threads; i < n)
        sum.of[0] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  });
  grid_sums<threads>(sum, partials, ticket,
                     [=](const Sums<1>& total) { *result = static_cast<T>(total.of[0]); });
}

template <class T>
__global__ void __launch_bounds__(threads)
    norm2_kernel(std::int64_t n, const T* __restrict__ x, T* result, double* partials,
                 unsigned* ticket) {
  Sums<3> sums;
  for_each_tile(n, [&](std::int64_t first) {
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * threads; i < n) add_square(x[i], sums);
  });
  grid_sums<threads>(sums, partials, ticket,
                     [=](const Sums<3>& total) { *result = static_cast<T>(norm_of(total)); });
}

template <class T>
__global__ void __launch_bounds__(threads)
    cg_residual_kernel(std::int64_t n, CgPointers<T> step, const T* __restrict__ q,
                       T* __restrict__ r, T* rr_next, double* partials, unsigned* ticket) {
  const T rho = *step.rho, pq = *step.pq, rr = *step.rr, alpha = rho / pq;
  if (!step_taken(rho, pq, rr, step.scale, step.enough)) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
      *rr_next = step_wanted(rr, step.enough) ? std::numeric_limits<T>::quiet_NaN() : rr;
    return;
  }
  Sums<1> sum;
  for_each_tile(n, [&](std::int64_t first) {
    T rs[per_thread];
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * threads; i < n) {
        rs[u] = r[i] - alpha * q[i];
        sum.of[0] += static_cast<double>(rs[u]) * static_cast<double>(rs[u]);
      }
#pragma unroll
    for (int u = 0; u < per_thread; ++u)
      if (const std::int64_t i = first + u * threads; i < n) r[i] = rs[u];
  });
  grid_sums<threads>(sum, partials, ticket,
                     [=](const Sums<1>& total) { *rr_next = static_cast<T>(total.of[0]); });
}

/// A block a tile, half as large as others, for the sake of registers.
template <class T>
__global__ void __launch_bounds__(threads)
    cg_direction_kernel(std::int64_t n, CgPointers<T> step, RatioPointers<T> ratio, const T* rr,
                        const T* __restrict__ z, T* __restrict__ p, T* __restrict__ x) {
  if (!is_finite(*rr)) return;
  const T alpha = *step.rho / *step.pq, length = step.scale * alpha, beta = ratio.value();
  const bool taken = step_taken(*step.rho, *step.pq, *step.rr, step.scale, step.enough);
  const std::int64_t first = std::int64_t{blockIdx.x} * direction_tile + threadIdx.x;
  T ps[direction_tile / threads], xs[direction_tile / threads];
#pragma unroll
  for (int u = 0; u < direction_tile / threads; ++u)
    if (const std::int64_t i = first + u * threads; i < n) {
      const T pi = p[i];
      if (taken) xs[u] = x[i] + length * pi;
      ps[u] = z[i] + beta * pi;
    }
#pragma unroll
  for (int u = 0; u < direction_tile / threads; ++u)
    if (const std::int64_t i = first + u * threads; i < n) {
      if (taken) x[i] = xs[u];
      p[i] = ps[u];
    }
}

}  // namespace

template <class T>
void fill(Context<Cuda>& context, std::int64_t n, T a, T* x) {
  launch_map(
      context, "fill", n, [=] __device__() { return a; }, x);
}

template <class T>
void copy(Context<Cuda>& context, std::int64_t n, const T* x, T* y) {
  launch_map(
      context, "copy", n, [=] __device__(T xi) { return xi; }, y, x);
}

template <class T>
void scale(Context<Cuda>& context, std::int64_t n, T a, T* x) {
  launch_map(
      context, "scale", n, [=] __device__(T xi) { return xi * a; }, x, x);
}

template <class T>
void axpby(Context<Cuda>& context, std::int64_t n, T a, const T* x, T b, T* y) {
  if (b == T(0))
    launch_map(
        context, "axpby", n, [=] __device__(T xi) { return a * xi; }, y, x);
  else
    launch_map(
        context, "axpby", n, [=] __device__(T xi, T yi) { return a * xi + b * yi; }, y, x, y);
}

template <class T>
void axpbypcz(Context<Cuda>& context, std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z) {
  if (c == T(0))
    launch_map(
        context, "axpbypcz", n, [=] __device__(T xi, T yi) { return a * xi + b * yi; }, z, x, y);
  else
    launch_map(
        context, "axpbypcz", n,
        [=] __device__(T xi, T yi, T zi) { return a * xi + b * yi + c * zi; }, z, x, y, z);
}

template <class T, class U>
void convert(Context<Cuda>& context, std::int64_t n, T a, const T* x, U* y) {
  launch_map(
      context, "convert", n, [=] __device__(T xi) { return static_cast<U>(a * xi); }, y, x);
}

template <class T>
void multiply(Context<Cuda>& context, std::int64_t n, const T* x, const T* y, T* z) {
  launch_map(
      context, "multiply", n, [=] __device__(T xi, T yi) { return xi * yi; }, z, x, y);
}

template <class T>
void dot(Context<Cuda>& context, std::int64_t n, const T* x, const T* y, T* result) {
  const auto& [partials, ticket, staging] = context.scratch();
  dot_kernel<<<tile_blocks(n), threads, 0, context.stream()>>>(n, x, y, result, partials, ticket);
  check_launch("dot");
}

template <class T>
void norm2(Context<Cuda>& context, std::int64_t n, const T* x, T* result) {
  const auto& [partials, ticket, staging] = context.scratch();
  norm2_kernel<<<tile_blocks(n), threads, 0, context.stream()>>>(n, x, result, partials, ticket);
  check_launch("norm2");
}

template <class T>
void cg_residual(Context<Cuda>& context, std::int64_t n, const CgPointers<T>& step, const T* q,
                 T* r, T* rr_next) {
  const auto& [partials, ticket, staging] = context.scratch();
  cg_residual_kernel<<<tile_blocks(n), threads, 0, context.stream()>>>(n, step, q, r, rr_next,
                                                                       partials, ticket);
  check_launch("cg_residual");
}

template <class T>
void cg_direction(Context<Cuda>& context, std::int64_t n, const CgPointers<T>& step,
                  const RatioPointers<T>& beta, const T* rr, const T* z, T* p, T* x) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + direction_tile - 1) / direction_tile);
  cg_direction_kernel<<<blocks, threads, 0, context.stream()>>>(n, step, beta, rr, z, p, x);
  check_launch("cg_direction");
}

#define TANSOLVE_INSTANTIATE(T)                                                                    \
  template void fill(Context<Cuda>&, std::int64_t, T, T*);                                         \
  template void copy(Context<Cuda>&, std::int64_t, const T*, T*);                                  \
  template void scale(Context<Cuda>&, std::int64_t, T, T*);                                        \
  template void axpby(Context<Cuda>&, std::int64_t, T, const T*, T, T*);                           \
  template void axpbypcz(Context<Cuda>&, std::int64_t, T, const T*, T, const T*, T, T*);           \
  template void multiply(Context<Cuda>&, std::int64_t, const T*, const T*, T*);                    \
  template void dot(Context<Cuda>&, std::int64_t, const T*, const T*, T*);                         \
  template void norm2(Context<Cuda>&, std::int64_t, const T*, T*);                                 \
  template void cg_residual(Context<Cuda>&, std::int64_t, const CgPointers<T>&, const T*, T*, T*); \
  template void cg_direction(Context<Cuda>&, std::int64_t, const CgPointers<T>&,                   \
                             const RatioPointers<T>&, const T*, const T*, T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

template void convert(Context<Cuda>&, std::int64_t, double, const double*, float*);
template void convert(Context<Cuda>&, std::int64_t, float, const float*, double*);

}  // namespace tansolve::detail
