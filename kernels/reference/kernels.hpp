// SPDX-License-Identifier: BSD-3-Clause
// The serial truth: plain loops over raw arrays, against which every backend is tested.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>

namespace tansolve::reference {

// The formulas are those of kernels/primitives.hpp and kernels/linear_operator.hpp; all arrays are
// host arrays, and none that is written overlaps another. T is double or float.

template <class T>
void fill(std::int64_t n, T a, T* x);
template <class T>
void copy(std::int64_t n, const T* x, T* y);
template <class T>
void scale(std::int64_t n, T a, T* x);
template <class T>
void axpby(std::int64_t n, T a, const T* x, T b, T* y);
template <class T>
void axpbypcz(std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z);
template <class T, class U>
void convert(std::int64_t n, T a, const T* x, U* y);
template <class T>
void multiply(std::int64_t n, const T* x, const T* y, T* z);
template <class T>
T dot(std::int64_t n, const T* x, const T* y);
template <class T>
T norm2(std::int64_t n, const T* x);
template <class T>
T cg_residual(std::int64_t n, T rho, T pq, T rr, T scale, T enough, const T* q,
              T* r);  ///< returns rr_next
template <class T>
void cg_direction(std::int64_t n, T rho_old, T pq_old, T rr_old, T scale, T enough, T beta, T rr,
                  const T* z, T* p, T* x);

template <class T>
void product(const Csr<T>& a, const T* x, T* y);
template <class T>
void product(const Csr<T>& a, T alpha, const T* x, T beta, T* y);
template <class T>
void transposed_product(const Csr<T>& a, const T* x, T* y);
template <class T>
void diagonal(const Csr<T>& a, T* d);

}  // namespace tansolve::reference
