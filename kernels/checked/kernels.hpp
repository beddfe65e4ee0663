// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the suspicious backend: the serial reference.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/backend.hpp>
#include <tansolve/kernels/cg_pointers.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

// Formulas: kernels/primitives.hpp. T is double or float.

template <class T>
void fill(Context<Checked>& context, std::int64_t n, T a, T* x);
template <class T>
void copy(Context<Checked>& context, std::int64_t n, const T* x, T* y);
template <class T>
void scale(Context<Checked>& context, std::int64_t n, T a, T* x);
template <class T>
void axpby(Context<Checked>& context, std::int64_t n, T a, const T* x, T b, T* y);
template <class T>
void axpbypcz(Context<Checked>& context, std::int64_t n, T a, const T* x, T b, const T* y, T c,
              T* z);
template <class T, class U>
void convert(Context<Checked>& context, std::int64_t n, T a, const T* x, U* y);
template <class T>
void multiply(Context<Checked>& context, std::int64_t n, const T* x, const T* y, T* z);
template <class T>
void dot(Context<Checked>& context, std::int64_t n, const T* x, const T* y, T* result);
template <class T>
void norm2(Context<Checked>& context, std::int64_t n, const T* x, T* result);
template <class T>
void cg_residual(Context<Checked>& context, std::int64_t n, const CgPointers<T>& step, const T* q,
                 T* r, T* rr_next);
template <class T>
void cg_direction(Context<Checked>& context, std::int64_t n, const CgPointers<T>& step,
                  const RatioPointers<T>& beta, const T* rr, const T* z, T* p, T* x);

void transfer(Context<Checked>& context, const void* from, void* to, std::size_t bytes);

/// The first rows of parts with about equal numbers of nonzeros, several a thread, and then rows().
/// A row is never cut: a huge one is a part of its own.
template <class T>
std::vector<std::int64_t> csr_parts(const Context<Checked>& context, const Csr<T>& a);

/// y = alpha A x + beta y; beta = 0 overwrites y.
template <class T>
void csr_apply(Context<Checked>& context, const Csr<T>& a, std::span<const std::int64_t> parts,
               T alpha, const T* x, T beta, T* y);
/// y = A x and xy = x'y with the bits of dot.
template <class T>
void csr_apply_dot(Context<Checked>& context, const Csr<T>& a, std::span<const std::int64_t> parts,
                   const T* x, T* y, T* xy);
template <class T>
void csr_apply_transposed(Context<Checked>& context, const Csr<T>& a, const T* x, T* y);
template <class T>
void csr_diagonal(Context<Checked>& context, const Csr<T>& a, T* d);

}  // namespace tansolve::detail
