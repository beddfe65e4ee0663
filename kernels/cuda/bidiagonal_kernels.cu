// SPDX-License-Identifier: BSD-3-Clause
// The vector work of least-squares methods on the GPU. Compiled without contraction to FMA:
// elementwise results have the bits of the host.
#include <tansolve/kernels/bidiagonal_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/tiles.cuh>

namespace tansolve::detail {
namespace {

template <class T>
__global__ void __launch_bounds__(tile_threads)
    bidiagonal_kernel(std::int64_t n, const T* __restrict__ a, const T* __restrict__ p,
                      T* __restrict__ u, T* norm, double* partials, unsigned* ticket) {
  const T factor = *a;
  T next[per_thread];
  Sums<3> sums;
  for_each_element(
      n,
      [&](std::int64_t i, int k) {
        next[k] = p[i] - factor * u[i];
        add_square(next[k], sums);
      },
      [&](std::int64_t i, int k) { u[i] = next[k]; });
  grid_sums<tile_threads>(sums, partials, ticket,
                          [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    lsqr_kernel(std::int64_t n, LsqrScalars<T> s, T* __restrict__ v, T* __restrict__ w,
                T* __restrict__ x, T* norm, double* partials, unsigned* ticket) {
  const bool possible = s.alpha != 0 && isfinite(s.alpha);
  T unit[per_thread], moved[per_thread], next[per_thread];
  Sums<3> sums;
  for_each_element(
      n,
      [&](std::int64_t i, int k) {
        unit[k] = possible ? v[i] / s.alpha : T(0);
        moved[k] = x[i] + s.step * w[i];
        next[k] = unit[k] - s.direction * w[i];
        add_square(next[k], sums);
      },
      [&](std::int64_t i, int k) {
        v[i] = unit[k];
        x[i] = moved[k];
        w[i] = next[k];
      });
  grid_sums<tile_threads>(sums, partials, ticket,
                          [=](const Sums<3>& total) { *norm = static_cast<T>(norm_of(total)); });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    lsmr_kernel(std::int64_t n, LsmrScalars<T> s, T* __restrict__ v, T* __restrict__ h,
                T* __restrict__ hbar, T* __restrict__ x) {
  const bool possible = s.alpha != 0 && isfinite(s.alpha);
  T unit[per_thread], bar[per_thread], moved[per_thread], next[per_thread];
  for_each_element(
      n,
      [&](std::int64_t i, int k) {
        bar[k] = h[i] - s.hbar * hbar[i];
        moved[k] = x[i] + s.step * bar[k];
        unit[k] = possible ? v[i] / s.alpha : T(0);
        next[k] = unit[k] - s.direction * h[i];
      },
      [&](std::int64_t i, int k) {
        hbar[i] = bar[k];
        x[i] = moved[k];
        v[i] = unit[k];
        h[i] = next[k];
      });
}

}  // namespace

template <class T>
void bidiagonal_step(Context<Cuda>& context, std::int64_t n, const T* a, const T* p, T* u,
                     T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  bidiagonal_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, a, p, u, norm,
                                                                           partials, ticket);
  check_launch("bidiagonal_step");
}

template <class T>
void lsqr_step(Context<Cuda>& context, std::int64_t n, const LsqrScalars<T>& s, T* v, T* w, T* x,
               T* norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  lsqr_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, s, v, w, x, norm, partials,
                                                                     ticket);
  check_launch("lsqr_step");
}

template <class T>
void lsmr_step(Context<Cuda>& context, std::int64_t n, const LsmrScalars<T>& s, T* v, T* h, T* hbar,
               T* x) {
  lsmr_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, s, v, h, hbar, x);
  check_launch("lsmr_step");
}

TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Cuda, double)
TANSOLVE_INSTANTIATE_BIDIAGONAL_KERNELS(Cuda, float)

}  // namespace tansolve::detail
