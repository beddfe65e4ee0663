// SPDX-License-Identifier: BSD-3-Clause
// The vector work of Lanczos methods on the GPU. Compiled without contraction to FMA: elementwise
// results have the bits of the host.
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/tiles.cuh>
#include <tansolve/kernels/lanczos_kernels.hpp>

namespace tansolve::detail {
namespace {

template <class T>
__global__ void __launch_bounds__(tile_threads)
    lanczos_kernel(std::int64_t n, const T* __restrict__ alpha, const T* __restrict__ beta,
                   const T* __restrict__ p, const T* __restrict__ u_new, T* __restrict__ u_old,
                   T* norm, double* partials, unsigned* ticket) {
  const T a = *alpha, b = *beta;
  T next[per_thread];
  Sums<3> sums;
  for_each_element(
      n,
      [&](std::int64_t i, int u) {
        next[u] = p[i] - a * u_new[i] - b * u_old[i];
        add_square(next[u], sums);
      },
      [&](std::int64_t i, int u) { u_old[i] = next[u]; });
  grid_sums<tile_threads>(sums, partials, ticket,
                          [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    divide_kernel(std::int64_t n, const T* __restrict__ a, T* __restrict__ x) {
  const T divisor = *a;
  const bool possible = divisor != 0 && isfinite(divisor);
  T quotient[per_thread];
  for_each_element(
      n, [&](std::int64_t i, int u) { quotient[u] = possible ? x[i] / divisor : T(0); },
      [&](std::int64_t i, int u) { x[i] = quotient[u]; });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    minres_kernel(std::int64_t n, MinresPointers<T> step, const T* __restrict__ v,
                  const T* __restrict__ d, T* __restrict__ d_old, T* __restrict__ x, T* u_norm,
                  double* partials, unsigned* ticket) {
  __shared__ MinresScalars<T> of_block;
  __shared__ bool taken;
  if (threadIdx.x == 0) {
    const MinresState state = step.advance();
    taken = state.end == MinresEnd::none;
    of_block = step.scalars(state);
    if (blockIdx.x == 0) *u_norm = step.divisor();
    if (blockIdx.x == 0 && !taken) *step.next = state;
  }
  __syncthreads();
  if (!taken) return;
  const MinresScalars<T> s = of_block;
  T next[per_thread], moved[per_thread];
  Sums<3> sums;
  for_each_element(
      n,
      [&](std::int64_t i, int u) {
        next[u] = (v[i] - s.delta * d[i] - s.epsilon * d_old[i]) / s.gamma;
        moved[u] = x[i] + s.phi * next[u];
        add_square(next[u], sums);
      },
      [&](std::int64_t i, int u) {
        d_old[i] = next[u];
        x[i] = moved[u];
      });
  grid_sums<tile_threads>(sums, partials, ticket, [=](const Sums<3>& total) {
    MinresState state = step.advance();  // cheaper than to keep it in registers
    state.d_norm = static_cast<T>(norm_of(total));
    *step.next = state;
  });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    residual_kernel(std::int64_t n, const MinresState* state, const T* __restrict__ u_new,
                    T* __restrict__ q, T* norm, double* partials, unsigned* ticket) {
  const T along_u = static_cast<T>(-state->c), along_q = static_cast<T>(state->s);
  T next[per_thread];
  Sums<3> sums;
  for_each_element(
      n,
      [&](std::int64_t i, int u) {
        next[u] = along_u * u_new[i] + along_q * q[i];
        add_square(next[u], sums);
      },
      [&](std::int64_t i, int u) { q[i] = next[u]; });
  grid_sums<tile_threads>(sums, partials, ticket,
                          [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

}  // namespace

template <class T>
void lanczos_step(Context<Cuda>& context, std::int64_t n, const T* alpha, const T* beta, const T* p,
                  const T* u, T* u_old, T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  lanczos_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, alpha, beta, p, u, u_old,
                                                                        norm, partials, ticket);
  check_launch("lanczos_step");
}

template <class T>
void divide(Context<Cuda>& context, std::int64_t n, const T* a, T* x) {
  divide_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, a, x);
  check_launch("divide");
}

template <class T>
void minres_step(Context<Cuda>& context, std::int64_t n, const MinresPointers<T>& step, const T* v,
                 const T* d, T* d_old, T* x, T* u_norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  minres_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, step, v, d, d_old, x,
                                                                       u_norm, partials, ticket);
  check_launch("minres_step");
}

template <class T>
void minres_residual(Context<Cuda>& context, std::int64_t n, const MinresState* state, const T* u,
                     T* q, T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  residual_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, state, u, q, norm,
                                                                         partials, ticket);
  check_launch("minres_residual");
}

TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Cuda, double)
TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(Cuda, float)

}  // namespace tansolve::detail
