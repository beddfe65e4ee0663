// SPDX-License-Identifier: BSD-3-Clause
// The vector work of BiCGSTAB on the GPU. Compiled without contraction to FMA: elementwise results
// have the bits of the host.
#include <tansolve/kernels/bicgstab_kernels.hpp>
#include <tansolve/kernels/cuda/norm.cuh>
#include <tansolve/kernels/cuda/tiles.cuh>

namespace tansolve::detail {
namespace {

/// A product and what a norm is made of, as grid_sums takes them.
struct ProductAndNorm {
  __device__ void add(double x, double y) {
    product += x * y;
    add_square(y, squares);
  }
  __device__ Sums<4> sums() const {
    return {{squares.of[0], squares.of[1], squares.of[2], product}};
  }
  __device__ static double norm(const Sums<4>& total) {
    return norm_of(Sums<3>{{total.of[0], total.of[1], total.of[2]}});
  }

  double product = 0;
  Sums<3> squares;
};

template <class T>
__global__ void __launch_bounds__(tile_threads)
    dot_and_norm_kernel(std::int64_t n, const T* __restrict__ x, const T* __restrict__ y, T* xy,
                        T* y_norm, double* partials, unsigned* ticket) {
  ProductAndNorm of_thread;
  for_each_element(
      n, [&](std::int64_t i, int) { of_thread.add(x[i], y[i]); }, [](std::int64_t, int) {});
  grid_sums<tile_threads>(of_thread.sums(), partials, ticket, [=](const Sums<4>& total) {
    *xy = static_cast<T>(total.of[3]);
    *y_norm = static_cast<T>(ProductAndNorm::norm(total));
  });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    half_step_kernel(std::int64_t n, BicgstabPointers<T> step, const T* __restrict__ v,
                     T* __restrict__ r) {
  const BicgstabNumbers<T> s = step.load_half();
  if (!s.half_taken()) return;
  const T alpha = static_cast<T>(s.alpha());
  T next[per_thread];
  for_each_element(
      n, [&](std::int64_t i, int u) { next[u] = r[i] - alpha * v[i]; },
      [&](std::int64_t i, int u) { r[i] = next[u]; });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    step_kernel(std::int64_t n, BicgstabPointers<T> step, const T* __restrict__ y,
                const T* __restrict__ z, const T* __restrict__ t, const T* __restrict__ r0,
                T* __restrict__ x, T* __restrict__ r, T* rho_next, T* r_norm_next, double* partials,
                unsigned* ticket) {
  const BicgstabNumbers<T> s = step.load();
  if (!s.taken()) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      *rho_next = s.not_taken(s.rho);
      *r_norm_next = s.not_taken(s.r_norm);
    }
    return;
  }
  const T omega = static_cast<T>(s.omega());
  const T along_y = s.length(s.alpha()), along_z = s.length(s.omega());
  T moved[per_thread], next[per_thread];
  ProductAndNorm of_thread;
  for_each_element(
      n,
      [&](std::int64_t i, int u) {
        const T ri = r[i];
        moved[u] = along_y * y[i] + along_z * (z != nullptr ? z[i] : ri) + x[i];
        next[u] = ri - omega * t[i];
        of_thread.add(r0[i], next[u]);
      },
      [&](std::int64_t i, int u) {
        x[i] = moved[u];
        r[i] = next[u];
      });
  grid_sums<tile_threads>(of_thread.sums(), partials, ticket, [=](const Sums<4>& total) {
    *rho_next = s.omega() == 0 ? T(0) : static_cast<T>(total.of[3]);
    *r_norm_next = static_cast<T>(ProductAndNorm::norm(total));
  });
}

template <class T>
__global__ void __launch_bounds__(tile_threads)
    direction_kernel(std::int64_t n, BicgstabPointers<T> step, const T* rho_next,
                     const T* r_norm_next, const T* __restrict__ r, const T* __restrict__ v,
                     T* __restrict__ p) {
  const BicgstabNumbers<T> s = step.load();
  if (!s.next(*rho_next, *r_norm_next).wanted()) return;
  const double beta = s.beta(*rho_next);
  const T along_v = static_cast<T>(-beta * s.omega()), along_p = static_cast<T>(beta);
  T next[per_thread];
  for_each_element(
      n, [&](std::int64_t i, int u) { next[u] = r[i] + along_v * v[i] + along_p * p[i]; },
      [&](std::int64_t i, int u) { p[i] = next[u]; });
}

}  // namespace

template <class T>
void dot_and_norm(Context<Cuda>& context, std::int64_t n, const T* x, const T* y, T* xy,
                  T* y_norm) {
  const auto& [partials, ticket, staging] = context.scratch();
  dot_and_norm_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, x, y, xy, y_norm,
                                                                             partials, ticket);
  check_launch("dot_and_norm");
}

template <class T>
void bicgstab_half_step(Context<Cuda>& context, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* v, T* r) {
  half_step_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, step, v, r);
  check_launch("bicgstab_half_step");
}

template <class T>
void bicgstab_step(Context<Cuda>& context, std::int64_t n, const BicgstabPointers<T>& step,
                   const T* y, const T* z, const T* t, const T* r0, T* x, T* r, T* rho_next,
                   T* r_norm_next) {
  const auto& [partials, ticket, staging] = context.scratch();
  step_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(
      n, step, y, z, t, r0, x, r, rho_next, r_norm_next, partials, ticket);
  check_launch("bicgstab_step");
}

template <class T>
void bicgstab_direction(Context<Cuda>& context, std::int64_t n, const BicgstabPointers<T>& step,
                        const T* rho_next, const T* r_norm_next, const T* r, const T* v, T* p) {
  direction_kernel<<<tile_blocks(n), tile_threads, 0, context.stream()>>>(n, step, rho_next,
                                                                          r_norm_next, r, v, p);
  check_launch("bicgstab_direction");
}

TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Cuda, double)
TANSOLVE_INSTANTIATE_BICGSTAB_KERNELS(Cuda, float)

}  // namespace tansolve::detail
