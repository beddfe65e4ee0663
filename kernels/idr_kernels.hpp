// SPDX-License-Identifier: BSD-3-Clause
// The kernels of IDR(s) over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/idr.hpp>

namespace tansolve::detail {

/// IdrSpace with pointers into the memory of its backend.
template <class T>
struct IdrPointers {
  template <class B>
  explicit IdrPointers(const IdrSpace<T, B>& space)
      : state(space.state.data()), s(static_cast<int>(space.p.size())) {
    for (int i = 0; i < s; ++i)
      p[i] = space.p[i].data(), g[i] = space.g[i].data(), u[i] = space.u[i].data();
  }

  IdrState* state;
  int s;
  T *p[IdrState::most] = {}, *g[IdrState::most] = {}, *u[IdrState::most] = {};
};

// Formulas: kernels/idr.hpp. T is double or float. idr_direction is both of those there, with
// `rest` that from r, then z. y is null where it is r.
#define TANSOLVE_DECLARE_IDR_KERNELS(B)                                                            \
  template <class T>                                                                               \
  void idr_begin(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, const T* r);       \
  template <class T>                                                                               \
  void idr_rest(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, int k, const T* r,  \
                T* v);                                                                             \
  template <class T>                                                                               \
  void idr_direction(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, int k,         \
                     bool rest, const T* z);                                                       \
  template <class T>                                                                               \
  void idr_image(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, int k);            \
  template <class T>                                                                               \
  void idr_step(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, int k, T* x, T* r); \
  template <class T>                                                                               \
  void idr_last_step(Context<B>& context, std::int64_t n, const IdrPointers<T>& in, const T* rt,   \
                     const T* t_norm, const T* y, const T* t, T* x, T* r);
TANSOLVE_DECLARE_IDR_KERNELS(Host)
TANSOLVE_DECLARE_IDR_KERNELS(Checked)
TANSOLVE_DECLARE_IDR_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_IDR_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_IDR_KERNELS(B, T)                                                 \
  template void idr_begin(Context<B>&, std::int64_t, const IdrPointers<T>&, const T*);         \
  template void idr_rest(Context<B>&, std::int64_t, const IdrPointers<T>&, int, const T*, T*); \
  template void idr_direction(Context<B>&, std::int64_t, const IdrPointers<T>&, int, bool,     \
                              const T*);                                                       \
  template void idr_image(Context<B>&, std::int64_t, const IdrPointers<T>&, int);              \
  template void idr_step(Context<B>&, std::int64_t, const IdrPointers<T>&, int, T*, T*);       \
  template void idr_last_step(Context<B>&, std::int64_t, const IdrPointers<T>&, const T*,      \
                              const T*, const T*, const T*, T*, T*);

}  // namespace tansolve::detail
