// SPDX-License-Identifier: BSD-3-Clause
// The vector work of IDR(s) on the suspicious backend: the serial reference.
#include <tansolve/kernels/idr_kernels.hpp>
#include <tansolve/kernels/reference/idr_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <array>
#include <vector>

namespace tansolve::detail {
namespace {

template <class T>
std::array<double, IdrState::most> project(std::int64_t n, const IdrPointers<T>& in, const T* w) {
  std::array<double, IdrState::most> products{};
  for (int i = 0; i < in.s; ++i) products[i] = reference::dot(n, in.p[i], w);
  return products;
}

bool ended(const IdrState& state) {
  return state.seen.end != IdrEnd::none;
}

}  // namespace

template <class T>
void idr_begin(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, const T* r) {
  in.state->r_norm = reference::norm2(n, r);
  idr_cycle(*in.state, in.s, project(n, in, r).data());
}

template <class T>
void idr_rest(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, int k, const T* r,
              T* v) {
  if (!ended(*in.state)) reference::idr_rest(n, k, in.s, in.state->c, in.g, r, v);
}

template <class T>
void idr_direction(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, int k, bool rest,
                   const T* z) {
  if (ended(*in.state)) return;
  std::vector<T> v;
  if (rest) {
    v.resize(n);
    reference::idr_rest(n, k, in.s, in.state->c, in.g, z, v.data());
  }
  reference::idr_direction(n, k, in.s, in.state->omega, in.state->c, rest ? v.data() : z, in.u);
}

template <class T>
void idr_image(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, int k) {
  if (ended(*in.state)) return;
  idr_take_image<T>(*in.state, k, in.s, project<T>(n, in, in.g[k]).data(),
                    reference::norm2(n, in.g[k]));
}

template <class T>
void idr_step(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, int k, T* x, T* r) {
  IdrState& state = *in.state;
  if (ended(state)) return;
  reference::idr_step(n, k, state.a, state.beta, state.sigma, in.g, in.u, x, r);
  idr_stepped(state, reference::norm2(n, r));
}

template <class T>
void idr_last_step(Context<Checked>&, std::int64_t n, const IdrPointers<T>& in, const T* rt,
                   const T* t_norm, const T* y, const T* t, T* x, T* r) {
  IdrState& state = *in.state;
  if (ended(state)) return;
  const IdrLastStep<T> step(state, *rt, *t_norm);
  if (!step.possible) return step.refuse(state);
  reference::idr_last_step(n, step.omega, state.sigma, y != nullptr ? y : r, t, x, r);
  step.take(state, in.s, project<T>(n, in, r).data(), reference::norm2(n, r));
}

TANSOLVE_INSTANTIATE_IDR_KERNELS(Checked, double)
TANSOLVE_INSTANTIATE_IDR_KERNELS(Checked, float)

}  // namespace tansolve::detail
