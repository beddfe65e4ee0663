// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about a basis, one double loop a function.
#include <tansolve/kernels/reference/basis_kernels.hpp>

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

template <class T, class S>
void basis_subtract(const detail::BasisView<S>& V, const T* h, T* w) {
  for (std::int64_t j = 0; j < V.k; ++j)
    for (std::int64_t i = 0; i < V.n; ++i) w[i] -= h[j] * T(V.data[j * V.stride + i]);
}

template <class T, class S>
void basis_combine(const detail::BasisView<S>& V, const T* y, T* x) {
  for (std::int64_t i = 0; i < V.n; ++i) x[i] = 0;
  for (std::int64_t j = 0; j < V.k; ++j)
    for (std::int64_t i = 0; i < V.n; ++i) x[i] += y[j] * T(V.data[j * V.stride + i]);
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
