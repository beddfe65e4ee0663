// SPDX-License-Identifier: BSD-3-Clause
// The primitives on the host: OpenMP over chunks, loops that the compiler vectorises.
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace tansolve::detail {

template <class T>
void fill(Context<Host>& context, std::int64_t n, T a, T* x) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) x[i] = a;
  });
}

template <class T>
void copy(Context<Host>& context, std::int64_t n, const T* x, T* y) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = x[i];
  });
}

template <class T>
void scale(Context<Host>& context, std::int64_t n, T a, T* x) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) x[i] *= a;
  });
}

template <class T>
void axpby(Context<Host>& context, std::int64_t n, T a, const T* x, T b, T* y) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    if (b == T(0))
      for (std::int64_t i = first; i < last; ++i) y[i] = a * x[i];
    else
      for (std::int64_t i = first; i < last; ++i) y[i] = a * x[i] + b * y[i];
  });
}

template <class T>
void axpbypcz(Context<Host>& context, std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    if (c == T(0))
      for (std::int64_t i = first; i < last; ++i) z[i] = a * x[i] + b * y[i];
    else
      for (std::int64_t i = first; i < last; ++i) z[i] = a * x[i] + b * y[i] + c * z[i];
  });
}

template <class T, class U>
void convert(Context<Host>& context, std::int64_t n, T a, const T* x, U* y) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = static_cast<U>(a * x[i]);
  });
}

template <class T>
void multiply(Context<Host>& context, std::int64_t n, const T* x, const T* y, T* z) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) z[i] = x[i] * y[i];
  });
}

template <class T>
void dot(Context<Host>& context, std::int64_t n, const T* x, const T* y, T* result) {
  *result = static_cast<T>(
      sum_chunks(context, n, [=](auto first, auto last) { return chunk_dot(x, y, first, last); }));
}

namespace {

/// The largest |x_i|; NaN if there is one.
template <class T>
double largest(const T* x, std::int64_t n) {
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, std::abs(static_cast<double>(x[i])));
  }
  return most;
}

/// The norm with every element scaled by the power of two that brings the largest near 1. Serial:
/// it runs only where the plain sum is not to be trusted.
template <class T>
double scaled_norm2(const T* x, std::int64_t n) {
  const double most = largest(x, n);
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = std::ilogb(most);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double scaled = std::ldexp(static_cast<double>(x[i]), -exponent);
    sum += scaled * scaled;
  }
  return std::ldexp(std::sqrt(sum), exponent);
}

}  // namespace

template <class T>
void norm2(Context<Host>& context, std::int64_t n, const T* x, T* result) {
  const double sum =
      sum_chunks(context, n, [=](auto first, auto last) { return chunk_dot(x, x, first, last); });
  const bool trusted = std::isfinite(sum) && sum > safe_sum_of_squares;
  *result = static_cast<T>(trusted ? std::sqrt(sum) : scaled_norm2(x, n));
}

template <class T>
void cg_residual(Context<Host>& context, std::int64_t n, const CgPointers<T>& step, const T* q,
                 T* r, T* rr_next) {
  const T rho = *step.rho, pq = *step.pq, rr = *step.rr, alpha = rho / pq;
  if (!step_taken(rho, pq, rr, step.scale, step.enough)) {
    *rr_next = step_wanted(rr, step.enough) ? std::numeric_limits<T>::quiet_NaN() : rr;
    return;
  }
  *rr_next = static_cast<T>(sum_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) r[i] -= alpha * q[i];
    return chunk_dot(r, r, first, last);
  }));
}

template <class T>
void cg_direction(Context<Host>& context, std::int64_t n, const CgPointers<T>& step,
                  const RatioPointers<T>& beta, const T* rr, const T* z, T* p, T* x) {
  if (!is_finite(*rr)) return;
  const bool taken = step_taken(*step.rho, *step.pq, *step.rr, step.scale, step.enough);
  const T length = step.scale * (*step.rho / *step.pq), b = beta.value();
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    if (taken)
      for (std::int64_t i = first; i < last; ++i) x[i] += length * p[i];
    for (std::int64_t i = first; i < last; ++i) p[i] = z[i] + b * p[i];
  });
}

void transfer(Context<Host>&, const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

#define TANSOLVE_INSTANTIATE(T)                                                                    \
  template void fill(Context<Host>&, std::int64_t, T, T*);                                         \
  template void copy(Context<Host>&, std::int64_t, const T*, T*);                                  \
  template void scale(Context<Host>&, std::int64_t, T, T*);                                        \
  template void axpby(Context<Host>&, std::int64_t, T, const T*, T, T*);                           \
  template void axpbypcz(Context<Host>&, std::int64_t, T, const T*, T, const T*, T, T*);           \
  template void multiply(Context<Host>&, std::int64_t, const T*, const T*, T*);                    \
  template void dot(Context<Host>&, std::int64_t, const T*, const T*, T*);                         \
  template void norm2(Context<Host>&, std::int64_t, const T*, T*);                                 \
  template void cg_residual(Context<Host>&, std::int64_t, const CgPointers<T>&, const T*, T*, T*); \
  template void cg_direction(Context<Host>&, std::int64_t, const CgPointers<T>&,                   \
                             const RatioPointers<T>&, const T*, const T*, T*, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

template void convert(Context<Host>&, std::int64_t, double, const double*, float*);
template void convert(Context<Host>&, std::int64_t, float, const float*, double*);

}  // namespace tansolve::detail
