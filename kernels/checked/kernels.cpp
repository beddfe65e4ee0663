// SPDX-License-Identifier: BSD-3-Clause
// The suspicious backend computes with the serial reference; its checks are in the public
// functions.
#include <tansolve/kernels/checked/kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <cstring>

namespace tansolve::detail {

template <class T>
void fill(Context<Checked>&, std::int64_t n, T a, T* x) {
  reference::fill(n, a, x);
}

template <class T>
void copy(Context<Checked>&, std::int64_t n, const T* x, T* y) {
  reference::copy(n, x, y);
}

template <class T>
void scale(Context<Checked>&, std::int64_t n, T a, T* x) {
  reference::scale(n, a, x);
}

template <class T>
void axpby(Context<Checked>&, std::int64_t n, T a, const T* x, T b, T* y) {
  reference::axpby(n, a, x, b, y);
}

template <class T>
void axpbypcz(Context<Checked>&, std::int64_t n, T a, const T* x, T b, const T* y, T c, T* z) {
  reference::axpbypcz(n, a, x, b, y, c, z);
}

template <class T, class U>
void convert(Context<Checked>&, std::int64_t n, T a, const T* x, U* y) {
  reference::convert(n, a, x, y);
}

template <class T>
void multiply(Context<Checked>&, std::int64_t n, const T* x, const T* y, T* z) {
  reference::multiply(n, x, y, z);
}

template <class T>
void dot(Context<Checked>&, std::int64_t n, const T* x, const T* y, T* result) {
  *result = reference::dot(n, x, y);
}

template <class T>
void norm2(Context<Checked>&, std::int64_t n, const T* x, T* result) {
  *result = reference::norm2(n, x);
}

template <class T>
void cg_residual(Context<Checked>&, std::int64_t n, const CgPointers<T>& step, const T* q, T* r,
                 T* rr_next) {
  *rr_next =
      reference::cg_residual(n, *step.rho, *step.pq, *step.rr, step.scale, step.enough, q, r);
}

template <class T>
void cg_direction(Context<Checked>&, std::int64_t n, const CgPointers<T>& step,
                  const RatioPointers<T>& beta, const T* rr, const T* z, T* p, T* x) {
  reference::cg_direction(n, *step.rho, *step.pq, *step.rr, step.scale, step.enough, beta.value(),
                          *rr, z, p, x);
}

void transfer(Context<Checked>& context, const void* from, void* to, std::size_t bytes) {
  ++context.counters().transfers;
  if (bytes > 0) std::memcpy(to, from, bytes);
}

template <class T>
std::vector<std::int64_t> csr_parts(const Context<Checked>&, const Csr<T>& a) {
  return {0, a.rows()};
}

template <class T>
void csr_apply(Context<Checked>& context, const Csr<T>& a, std::span<const std::int64_t>, T alpha,
               const T* x, T beta, T* y) {
  count(context, a.cols() + (beta == T(0) ? 1 : 2) * a.rows());
  reference::product(a, alpha, x, beta, y);
}

template <class T>
void csr_apply_dot(Context<Checked>& context, const Csr<T>& a, std::span<const std::int64_t>,
                   const T* x, T* y, T* xy) {
  count(context, a.cols() + a.rows(), 1);
  reference::product(a, x, y);
  *xy = reference::dot(a.rows(), x, y);
}

template <class T>
void csr_apply_transposed(Context<Checked>& context, const Csr<T>& a, const T* x, T* y) {
  count(context, a.cols() + a.rows());
  reference::transposed_product(a, x, y);
}

template <class T>
void csr_diagonal(Context<Checked>&, const Csr<T>& a, T* d) {
  reference::diagonal(a, d);
}

#define TANSOLVE_INSTANTIATE(T)                                                                  \
  template void fill(Context<Checked>&, std::int64_t, T, T*);                                    \
  template void copy(Context<Checked>&, std::int64_t, const T*, T*);                             \
  template void scale(Context<Checked>&, std::int64_t, T, T*);                                   \
  template void axpby(Context<Checked>&, std::int64_t, T, const T*, T, T*);                      \
  template void axpbypcz(Context<Checked>&, std::int64_t, T, const T*, T, const T*, T, T*);      \
  template void multiply(Context<Checked>&, std::int64_t, const T*, const T*, T*);               \
  template void dot(Context<Checked>&, std::int64_t, const T*, const T*, T*);                    \
  template void norm2(Context<Checked>&, std::int64_t, const T*, T*);                            \
  template void cg_residual(Context<Checked>&, std::int64_t, const CgPointers<T>&, const T*, T*, \
                            T*);                                                                 \
  template void cg_direction(Context<Checked>&, std::int64_t, const CgPointers<T>&,              \
                             const RatioPointers<T>&, const T*, const T*, T*, T*);               \
  template std::vector<std::int64_t> csr_parts(const Context<Checked>&, const Csr<T>&);          \
  template void csr_apply(Context<Checked>&, const Csr<T>&, std::span<const std::int64_t>, T,    \
                          const T*, T, T*);                                                      \
  template void csr_apply_dot(Context<Checked>&, const Csr<T>&, std::span<const std::int64_t>,   \
                              const T*, T*, T*);                                                 \
  template void csr_apply_transposed(Context<Checked>&, const Csr<T>&, const T*, T*);            \
  template void csr_diagonal(Context<Checked>&, const Csr<T>&, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

template void convert(Context<Checked>&, std::int64_t, double, const double*, float*);
template void convert(Context<Checked>&, std::int64_t, float, const float*, double*);

}  // namespace tansolve::detail
