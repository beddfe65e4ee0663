// SPDX-License-Identifier: BSD-3-Clause
// Products with an uncompressed CSR matrix on the host.
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <algorithm>

namespace tansolve::detail {
namespace {

template <class T>
T row_product(const Csr<T>& a, std::int64_t row, const T* x) {
  const std::int64_t* offsets = a.offsets().data();
  const std::int32_t* columns = a.columns().data();
  const T* values = a.values().data();
  T sum = 0;
  for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * x[columns[k]];
  return sum;
}

}  // namespace

template <class T>
std::vector<std::int64_t> csr_parts(const Context<Host>& context, const Csr<T>& a) {
  // Eight parts a thread even out what differs between threads, and cost nothing measurable. Below
  // 32768 nonzeros, some 30 us, starting threads costs as much as it saves.
  constexpr std::int64_t worthwhile = 32768;
  const bool serial = context.threads() == 1 || a.nnz() < worthwhile;
  const std::int64_t count = serial ? 1 : 8 * std::int64_t{context.threads()};
  std::vector<std::int64_t> parts = {0};
  for (std::int64_t part = 1; part < count; ++part) {
    const std::int64_t target = a.nnz() / count * part;
    const auto at = std::lower_bound(a.offsets().begin(), a.offsets().end(), target);
    const std::int64_t row = std::min(at - a.offsets().begin(), a.rows());
    parts.push_back(std::max(row, parts.back()));
  }
  parts.push_back(a.rows());
  return parts;
}

template <class T>
void csr_apply(Context<Host>& context, const Csr<T>& a, std::span<const std::int64_t> parts,
               T alpha, const T* x, T beta, T* y) {
  const auto count = std::ssize(parts) - 1;
#pragma omp parallel for schedule(dynamic) num_threads(context.threads()) if (count > 1)
  for (std::int64_t part = 0; part < count; ++part) {
    if (beta == T(0))
      for (std::int64_t i = parts[part]; i < parts[part + 1]; ++i)
        y[i] = alpha * row_product(a, i, x);
    else
      for (std::int64_t i = parts[part]; i < parts[part + 1]; ++i)
        y[i] = alpha * row_product(a, i, x) + beta * y[i];
  }
}

template <class T>
void csr_apply_dot(Context<Host>& context, const Csr<T>& a, std::span<const std::int64_t> parts,
                   const T* x, T* y, T* xy) {
  // The chunks of dot sum while y is in cache, but they hold equal numbers of rows. Where the rows
  // are so unequal, or so few, that one chunk would keep the threads waiting, the product goes
  // first.
  const Chunks chunks(a.rows());
  const std::int64_t fair = a.nnz() / (2 * std::int64_t{context.threads()});
  bool even = true;
  for (std::int64_t c = 0; c < chunks.count && context.threads() > 1; ++c)
    even = even && a.offsets()[chunks.last(c)] - a.offsets()[chunks.first(c)] <= fair;
  if (!even) {
    csr_apply(context, a, parts, T(1), x, T(0), y);
    *xy = static_cast<T>(sum_chunks(
        context, a.rows(), [=](auto first, auto last) { return chunk_dot(x, y, first, last); }));
    return;
  }
  std::array<double, Chunks::max_count> partial;
#pragma omp parallel for schedule(dynamic) num_threads(context.threads()) if (parts.size() > 2)
  for (std::int64_t c = 0; c < chunks.count; ++c) {
    for (std::int64_t i = chunks.first(c); i < chunks.last(c); ++i) y[i] = row_product(a, i, x);
    partial[c] = chunk_dot(x, y, chunks.first(c), chunks.last(c));
  }
  *xy = static_cast<T>(sum_in_order(partial, chunks.count));
}

template <class T>
void csr_apply_transposed(Context<Host>&, const Csr<T>& a, const T* x, T* y) {
  std::fill_n(y, a.cols(), T(0));
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
      y[a.columns()[k]] += a.values()[k] * x[i];
}

template <class T>
void csr_diagonal(Context<Host>& context, const Csr<T>& a, T* d) {
  for_chunks(context, std::min(a.rows(), a.cols()), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto row = a.columns().subspan(a.offsets()[i], a.row_nnz(i));
      const auto at = std::lower_bound(row.begin(), row.end(), i);
      d[i] = at != row.end() && *at == i ? a.values()[a.offsets()[i] + (at - row.begin())] : T(0);
    }
  });
}

#define TANSOLVE_INSTANTIATE(T)                                                             \
  template std::vector<std::int64_t> csr_parts(const Context<Host>&, const Csr<T>&);        \
  template void csr_apply(Context<Host>&, const Csr<T>&, std::span<const std::int64_t>, T,  \
                          const T*, T, T*);                                                 \
  template void csr_apply_dot(Context<Host>&, const Csr<T>&, std::span<const std::int64_t>, \
                              const T*, T*, T*);                                            \
  template void csr_apply_transposed(Context<Host>&, const Csr<T>&, const T*, T*);          \
  template void csr_diagonal(Context<Host>&, const Csr<T>&, T*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
