// SPDX-License-Identifier: BSD-3-Clause
// The launches of the CUDA kernels over raw device arrays, which the checked public functions call.
#pragma once

#include <tansolve/kernels/cg_pointers.hpp>
#include <tansolve/kernels/cuda/context.hpp>

#include <cstddef>
#include <cstdint>

namespace tansolve::detail {

// Formulas: kernels/primitives.hpp. T is double or float.

template <class T>
void fill(Context<Cuda>& context, std::int64_t n, T a, T* x);
template <class T>
void copy(Context<Cuda>& context, std::int64_t n, const T* x, T* y);
template <class T>
void scale(Context<Cuda>& context, std::int64_t n, T a, T* x);
template <class T>
void axpby(Context<Cuda>& context, std::int64_t n, T a, const T* x, T b, T* y);
template <class T>
void axpbypcz(Context<Cuda>& context, std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z);
template <class T, class U>
void convert(Context<Cuda>& context, std::int64_t n, T a, const T* x, U* y);
template <class T>
void multiply(Context<Cuda>& context, std::int64_t n, const T* x, const T* y, T* z);
template <class T>
void dot(Context<Cuda>& context, std::int64_t n, const T* x, const T* y, T* result);
template <class T>
void norm2(Context<Cuda>& context, std::int64_t n, const T* x, T* result);
template <class T>
void cg_residual(Context<Cuda>& context, std::int64_t n, const CgPointers<T>& step, const T* q,
                 T* r, T* rr_next);
template <class T>
void cg_direction(Context<Cuda>& context, std::int64_t n, const CgPointers<T>& step,
                  const RatioPointers<T>& beta, const T* rr, const T* z, T* p, T* x);

void transfer(Context<Cuda>& context, const void* from, void* to, std::size_t bytes);

}  // namespace tansolve::detail
