// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about a basis, one double loop a function.
#include <tansolve/kernels/basis_sum.hpp>
#include <tansolve/kernels/reference/basis_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tansolve::reference {

template <class T, class S>
void basis_store(std::int64_t n, T norm, T* w, S* v) {
  for (std::int64_t i = 0; i < n; ++i) {
    v[i] = norm == 0 || !std::isfinite(norm) ? S(0.0F) : S(w[i] / norm);
    w[i] = T(v[i]);
  }
}

template <class T, class S>
void basis_project(const detail::BasisView<S>& V, const T* w, T* h) {
  for (std::int64_t j = 0; j < V.k; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < V.n; ++i) sum += double(V.data[j * V.stride + i]) * double(w[i]);
    h[j] = T(sum);
  }
}

namespace {

/// w += sign V h
template <class T, class S>
void add(const detail::BasisView<S>& V, T sign, const T* h, T* w) {
  for (std::int64_t first = 0; first < V.k; first += detail::basis_run) {
    const std::int64_t last = std::min(first + detail::basis_run, V.k);
    int exponent = 0;
    for (std::int64_t j = first; j < last; ++j)
      exponent = std::max(exponent, detail::exponent_bits(h[j]));
    const auto scale = detail::run_scale<T, S>(exponent);
    for (std::int64_t i = 0; i < V.n; ++i) {
      detail::RunSum<T, S> sum = 0;
      for (std::int64_t j = first; j < last; ++j)
        sum +=
            detail::run_factor<T, S>(h[j], scale) * detail::RunSum<T, S>(V.data[j * V.stride + i]);
      w[i] = detail::add_run<T, S>(w[i], sign, scale, sum);
    }
  }
}

}  // namespace

template <class T, class S>
void basis_subtract(const detail::BasisView<S>& V, const T* h, T* w) {
  add(V, T(-1), h, w);
}

template <class T, class S>
void basis_combine(const detail::BasisView<S>& V, const T* y, T* x) {
  for (std::int64_t i = 0; i < V.n; ++i) x[i] = 0;
  add(V, T(1), y, x);
}

template <class T, class S>
void basis_rotate(const detail::BasisView<S>& V, std::int64_t k, const T* Q) {
  std::vector<T> row(V.k);
  for (std::int64_t i = 0; i < V.n; ++i) {
    for (std::int64_t l = 0; l < V.k; ++l) row[l] = T(V.data[l * V.stride + i]);
    for (std::int64_t j = 0; j < k; ++j) {
      T sum = 0;
      for (std::int64_t l = 0; l < V.k; ++l) sum += Q[j * V.k + l] * row[l];
      V.data[j * V.stride + i] = S(sum);
    }
  }
}

#define TANSOLVE_INSTANTIATE(T, S)                                         \
  template void basis_store(std::int64_t, T, T*, S*);                      \
  template void basis_project(const detail::BasisView<S>&, const T*, T*);  \
  template void basis_subtract(const detail::BasisView<S>&, const T*, T*); \
  template void basis_combine(const detail::BasisView<S>&, const T*, T*);  \
  template void basis_rotate(const detail::BasisView<S>&, std::int64_t, const T*);
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::reference
