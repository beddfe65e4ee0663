// SPDX-License-Identifier: BSD-3-Clause
// The serial truth, one loop a function.
#include <tansolve/kernels/reference/kernels.hpp>

#include <algorithm>
#include <cmath>

namespace tansolve::reference {

template <class T>
void fill(std::int64_t n, T a, T* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = a;
}

template <class T>
void copy(std::int64_t n, const T* x, T* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

template <class T>
void scale(std::int64_t n, T a, T* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = a * x[i];
}

template <class T>
void axpby(std::int64_t n, T a, const T* x, T b, T* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = b == T(0) ? a * x[i] : a * x[i] + b * y[i];
}

template <class T>
void axpbypcz(std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z) {
  for (std::int64_t i = 0; i < n; ++i)
    z[i] = c == T(0) ? a * x[i] + b * y[i] : a * x[i] + b * y[i] + c * z[i];
}

template <class T, class U>
void convert(std::int64_t n, T a, const T* x, U* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<U>(a * x[i]);
}

template <class T>
void multiply(std::int64_t n, const T* x, const T* y, T* z) {
  for (std::int64_t i = 0; i < n; ++i) z[i] = x[i] * y[i];
}

template <class T>
T dot(std::int64_t n, const T* x, const T* y) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return static_cast<T>(sum);
}

template <class T>
T norm2(std::int64_t n, const T* x) {
  double norm = 0;
  for (std::int64_t i = 0; i < n; ++i) norm = std::hypot(norm, static_cast<double>(x[i]));
  // hypot(inf, NaN) is inf: a NaN anywhere must show.
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isnan(x[i])) norm = std::numeric_limits<double>::quiet_NaN();
  return static_cast<T>(norm);
}

template <class T>
T cg_residual(std::int64_t n, T rho, T pq, T rr, T scale, T enough, const T* q, T* r) {
  if (!std::isfinite(rr) || rr <= enough) return rr;
  const T alpha = rho / pq;
  const bool possible = rho > T(0) && pq > T(0) && std::isfinite(rho) && std::isfinite(pq) &&
                        std::isfinite(alpha) && std::isfinite(scale * alpha);
  if (!possible) return std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t i = 0; i < n; ++i) r[i] = r[i] - alpha * q[i];
  return dot(n, r, r);
}

template <class T>
void cg_direction(std::int64_t n, T rho_old, T pq_old, T rr_old, T scale, T enough, T beta, T rr,
                  const T* z, T* p, T* x) {
  if (!std::isfinite(rr)) return;
  const T alpha = rho_old / pq_old;
  const bool taken = std::isfinite(rr_old) && rr_old > enough && rho_old > T(0) && pq_old > T(0) &&
                     std::isfinite(rho_old) && std::isfinite(pq_old) && std::isfinite(alpha) &&
                     std::isfinite(scale * alpha);
  if (taken)
    for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] + (scale * alpha) * p[i];
  for (std::int64_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
}

template <class T>
void product(const Csr<T>& a, const T* x, T* y) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    T sum = 0;
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      sum += a.values()[k] * x[a.columns()[k]];
    y[i] = sum;
  }
}

template <class T>
void product(const Csr<T>& a, T alpha, const T* x, T beta, T* y) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    T sum = 0;
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      sum += a.values()[k] * x[a.columns()[k]];
    y[i] = beta == T(0) ? alpha * sum : alpha * sum + beta * y[i];
  }
}

template <class T>
void transposed_product(const Csr<T>& a, const T* x, T* y) {
  for (std::int64_t j = 0; j < a.cols(); ++j) y[j] = T(0);
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      y[a.columns()[k]] += a.values()[k] * x[i];
}

template <class T>
void diagonal(const Csr<T>& a, T* d) {
  for (std::int64_t i = 0; i < std::min(a.rows(), a.cols()); ++i) {
    d[i] = T(0);
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      if (a.columns()[k] == i) d[i] = a.values()[k];
  }
}

#define TANSOLVE_INSTANTIATE(T)                                                    \
  template void fill(std::int64_t, T, T*);                                         \
  template void copy(std::int64_t, const T*, T*);                                  \
  template void scale(std::int64_t, T, T*);                                        \
  template void axpby(std::int64_t, T, const T*, T, T*);                           \
  template void axpbypcz(std::int64_t, T, const T*, T, const T*, T, T*);           \
  template void multiply(std::int64_t, const T*, const T*, T*);                    \
  template T dot(std::int64_t, const T*, const T*);                                \
  template T norm2(std::int64_t, const T*);                                        \
  template T cg_residual(std::int64_t, T, T, T, T, T, const T*, T*);               \
  template void cg_direction(std::int64_t, T, T, T, T, T, T, T, const T*, T*, T*); \
  template void product(const Csr<T>&, const T*, T*);                              \
  template void product(const Csr<T>&, T, const T*, T, T*);                        \
  template void transposed_product(const Csr<T>&, const T*, T*);                   \
  template void diagonal(const Csr<T>&, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

template void convert(std::int64_t, double, const double*, float*);
template void convert(std::int64_t, float, const float*, double*);

}  // namespace tansolve::reference
