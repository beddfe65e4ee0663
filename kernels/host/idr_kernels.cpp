// SPDX-License-Identifier: BSD-3-Clause
// The vector work of IDR(s) on the host: OpenMP over chunks, and within them over tiles.
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>
#include <tansolve/kernels/host/take_root.hpp>
#include <tansolve/kernels/idr_kernels.hpp>

#include <algorithm>
#include <type_traits>

namespace tansolve::detail {
namespace {

bool ended(const IdrState& state) {
  return state.seen.end != IdrEnd::none;
}

/// Calls use(capacity, a constant) for the least one that holds s.
template <class Use>
void with_capacity(int s, const Use& use) {
  if (s <= 4)
    use(std::integral_constant<int, 4>());
  else
    use(std::integral_constant<int, IdrState::most>());
}

/// P'w and ||w||, each tile of w after `before` has prepared it.
template <class T>
struct Products {
  double with_p[IdrState::most] = {};
  T norm;

  template <class Before>
  Products(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, const T* w,
           const Before& before) {
    with_capacity(in.s, [&](auto capacity) {
      const auto sums = sum_chunks<capacity + 1>(context, n, [&](auto begin, auto end) {
        std::array<double, capacity + 1> of_chunk{};
        for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
          before(first, last);
          of_chunk[capacity] += chunk_dot(w, w, first, last);
          for (int j = 0; j < in.s; ++j) of_chunk[j] += chunk_dot(in.p[j], w, first, last);
        });
        return of_chunk;
      });
      std::copy_n(sums.begin(), in.s, with_p);
      take_root(context, sums[capacity], n, w, &norm);
    });
  }
  Products(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, const T* w)
      : Products(context, n, in, w, [](std::int64_t, std::int64_t) {}) {}
};

/// y += a x in a tile.
template <class T>
void add(double a, const T* x, T* y, std::int64_t size) {
  const T factor = static_cast<T>(a);
  for (std::int64_t i = 0; i < size; ++i) y[i] += factor * x[i];
}

/// v = r - (g_k c_k + ...) in a tile.
template <class T>
void rest_of_tile(const IdrPointers<T>& in, int k, const T* r, T* v, std::int64_t first,
                  std::int64_t size) {
  std::copy_n(r, size, v);
  for (int j = k; j < in.s; ++j) add(-in.state->c[j], in.g[j] + first, v, size);
}

}  // namespace

template <class T>
void idr_begin(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, const T* r) {
  const Products<T> of_r(context, n, in, r);
  in.state->r_norm = of_r.norm;
  idr_cycle(*in.state, in.s, of_r.with_p);
}

template <class T>
void idr_rest(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, int k, const T* r,
              T* v) {
  if (ended(*in.state)) return;
  for_chunks(context, n, [&](std::int64_t begin, std::int64_t end) {
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      rest_of_tile(in, k, r + first, v + first, first, last - first);
    });
  });
}

template <class T>
void idr_direction(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, int k,
                   bool rest, const T* z) {
  const IdrState& state = *in.state;
  if (ended(state)) return;
  const T omega = static_cast<T>(state.omega), along_u = static_cast<T>(state.c[k]);
  for_chunks(context, n, [&](std::int64_t begin, std::int64_t end) {
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      std::array<T, chunk_tile> v;
      if (rest) rest_of_tile(in, k, z + first, v.data(), first, last - first);
      const T* from = rest ? v.data() : z + first;
      T* u = in.u[k] + first;
      for (std::int64_t i = 0; i < last - first; ++i) u[i] = omega * from[i] + along_u * u[i];
      for (int j = k + 1; j < in.s; ++j) add(state.c[j], in.u[j] + first, u, last - first);
    });
  });
}

template <class T>
void idr_image(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, int k) {
  if (ended(*in.state)) return;
  const Products<T> of_g(context, n, in, in.g[k]);
  idr_take_image<T>(*in.state, k, in.s, of_g.with_p, of_g.norm);
}

template <class T>
void idr_step(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, int k, T* x, T* r) {
  IdrState& state = *in.state;
  if (ended(state)) return;
  const double sum = sum_chunks(context, n, [&](std::int64_t begin, std::int64_t end) {
    double squares = 0;
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      const std::int64_t size = last - first;
      for (int j = 0; j < k; ++j) add(-state.a[j], in.g[j] + first, in.g[k] + first, size);
      for (int j = 0; j < k; ++j) add(-state.a[j], in.u[j] + first, in.u[k] + first, size);
      add(state.sigma * state.beta, in.u[k] + first, x + first, size);
      add(-state.beta, in.g[k] + first, r + first, size);
      squares += chunk_dot(r, r, first, last);
    });
    return squares;
  });
  T norm;
  take_root(context, sum, n, r, &norm);
  idr_stepped(state, norm);
}

template <class T>
void idr_last_step(Context<Host>& context, std::int64_t n, const IdrPointers<T>& in, const T* rt,
                   const T* t_norm, const T* y, const T* t, T* x, T* r) {
  IdrState& state = *in.state;
  if (ended(state)) return;
  const IdrLastStep<T> step(state, *rt, *t_norm);
  if (!step.possible) return step.refuse(state);
  const T* along = y != nullptr ? y : r;
  const Products<T> of_r(context, n, in, r, [&](std::int64_t first, std::int64_t last) {
    add(step.length, along + first, x + first, last - first);
    add(-step.omega, t + first, r + first, last - first);
  });
  step.take(state, in.s, of_r.with_p, of_r.norm);
}

TANSOLVE_INSTANTIATE_IDR_KERNELS(Host, double)
TANSOLVE_INSTANTIATE_IDR_KERNELS(Host, float)

}  // namespace tansolve::detail
