// SPDX-License-Identifier: BSD-3-Clause
// A basis on the host: OpenMP over chunks, and within them over tiles that stay in cache.
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/basis_sum.hpp>
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tansolve::detail {
namespace {

/// w += sign V h for the rows first ... last - 1 of a tile.
template <class T, class S>
void add_tile(const BasisView<S>& V, T sign, const T* h, T* w, std::int64_t first,
              std::int64_t last) {
  using Sum = RunSum<T, S>;
  for (std::int64_t run = 0; run < V.k; run += basis_run) {
    const std::int64_t end = std::min(run + basis_run, V.k);
    int exponent = 0;
    for (std::int64_t j = run; j < end; ++j) exponent = std::max(exponent, exponent_bits(h[j]));
    const PowerOfTwo scale = run_scale<T, S>(exponent);
    std::array<Sum, chunk_tile> sums{};
    for (std::int64_t j = run; j < end; ++j) {
      const S* v = V.data + j * V.stride + first;
      const Sum factor = run_factor<T, S>(h[j], scale);
      for (std::int64_t i = 0; i < last - first; ++i) sums[i] += factor * static_cast<Sum>(v[i]);
    }
    for (std::int64_t i = first; i < last; ++i)
      w[i] = add_run<T, S>(w[i], sign, scale, sums[i - first]);
  }
}

/// sums_j += v_j'w over the rows first ... last - 1, in eight lanes as chunk_dot.
template <class T, class S>
void project_tile(const BasisView<S>& V, const T* w, double* sums, std::int64_t first,
                  std::int64_t last) {
  for (std::int64_t j = 0; j < V.k; ++j)
    sums[j] += chunk_dot(V.data + j * V.stride, w, first, last);
}

/// h_j = the sum of the chunks' partial sums of v_j, in their order.
template <class T>
void sum_partials(std::int64_t k, std::int64_t chunks, const double* partials, T* h) {
  for (std::int64_t j = 0; j < k; ++j) {
    double sum = 0;
    for (std::int64_t c = 0; c < chunks; ++c) sum += partials[c * k + j];
    h[j] = static_cast<T>(sum);
  }
}

/// h = V'w, each tile of w after `before` has prepared it.
template <class T, class S, class Before>
void project_chunks(Context<Host>& context, const BasisView<S>& V, const T* w, T* h,
                    double* partials, const Before& before) {
  const Chunks chunks(V.n);
  for_chunks(context, V.n, [&](std::int64_t begin, std::int64_t end) {
    double* sums = partials + begin / chunks.length * V.k;
    std::fill(sums, sums + V.k, 0.0);
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      before(first, last);
      project_tile(V, w, sums, first, last);
    });
  });
  sum_partials(V.k, chunks.count, partials, h);
}

/// Rows that are rotated together: of 64 vectors 8 KiB of a first-level cache, and with their sums
/// the registers of any x86-64.
constexpr std::int64_t rotated_rows = 16;

/// V_k = V Q in `rows` rows from `first` on; `piece` takes those of V.
template <int rows, class T, class S>
void rotate_rows(const BasisView<S>& V, std::int64_t k, const T* Q, std::int64_t first, T* piece) {
  for (std::int64_t l = 0; l < V.k; ++l)
    for (int r = 0; r < rows; ++r)
      piece[l * rows + r] = static_cast<T>(V.data[l * V.stride + first + r]);
  for (std::int64_t j = 0; j < k; ++j) {
    T sum[rows] = {};
    for (std::int64_t l = 0; l < V.k; ++l)
      for (int r = 0; r < rows; ++r) sum[r] += Q[j * V.k + l] * piece[l * rows + r];
    for (int r = 0; r < rows; ++r) V.data[j * V.stride + first + r] = static_cast<S>(sum[r]);
  }
}

}  // namespace

std::int64_t basis_partials(const Context<Host>&, std::int64_t n) {
  return Chunks(n).count * rotated_rows;  // for sums of products one a chunk would do
}

std::int64_t available_memory(const Context<Host>&) {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

template <class T, class S>
void basis_store(Context<Host>& context, std::int64_t n, const T* norm, T* w, S* v) {
  const T divisor = *norm;
  const bool possible = divisor != 0 && std::isfinite(divisor);
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      v[i] = static_cast<S>(possible ? w[i] / divisor : T(0));
      w[i] = static_cast<T>(v[i]);
    }
  });
}

template <class T, class S>
void basis_project(Context<Host>& context, const BasisView<S>& V, const T* w, T* h,
                   double* partials) {
  project_chunks(context, V, w, h, partials, [](std::int64_t, std::int64_t) {});
}

template <class T, class S>
void basis_subtract_project(Context<Host>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                            double* partials) {
  project_chunks(context, V, w, g, partials, [&](std::int64_t first, std::int64_t last) {
    add_tile(V, T(-1), h, w, first, last);
  });
}

template <class T, class S>
void basis_subtract(Context<Host>& context, const BasisView<S>& V, const T* h, T* w, T* norm) {
  const double sum = sum_chunks(context, V.n, [&](std::int64_t begin, std::int64_t end) {
    double squares = 0;
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      add_tile(V, T(-1), h, w, first, last);
      squares += chunk_dot(w, w, first, last);
    });
    return squares;
  });
  // Where squares may have left the range, and only there, w is passed over again.
  if (std::isfinite(sum) && sum > safe_sum_of_squares)
    *norm = static_cast<T>(std::sqrt(sum));
  else
    norm2(context, V.n, w, norm);
}

template <class T, class S>
bool basis_subtract_again(Context<Host>& context, const BasisView<S>& V, const T* h, T* w, T* g,
                          T* norm, double* partials) {
  double h_norm = 0;
  for (std::int64_t j = 0; j < V.k; ++j) h_norm = std::hypot(h_norm, static_cast<double>(h[j]));
  const bool again = *norm < h_norm;
  std::fill_n(g, V.k, T(0));
  if (!again) return false;
  basis_project(context, V, w, g, partials);
  basis_subtract(context, V, g, w, norm);
  return true;
}

template <class T, class S>
void basis_combine(Context<Host>& context, const BasisView<S>& V, const T* y, T* x) {
  for_chunks(context, V.n, [&](std::int64_t begin, std::int64_t end) {
    for_tiles(begin, end, [&](std::int64_t first, std::int64_t last) {
      std::fill(x + first, x + last, T(0));
      add_tile(V, T(1), y, x, first, last);
    });
  });
}

template <class T, class S>
void basis_rotate(Context<Host>& context, const BasisView<S>& V, std::int64_t k, const T* Q,
                  double* partials) {
  const Chunks chunks(V.n);
  for_chunks(context, V.n, [&](std::int64_t first, std::int64_t last) {
    T* piece = reinterpret_cast<T*>(partials + first / chunks.length * rotated_rows * V.k);
    for (; first + rotated_rows <= last; first += rotated_rows)
      rotate_rows<rotated_rows>(V, k, Q, first, piece);
    for (; first < last; ++first) rotate_rows<1>(V, k, Q, first, piece);
  });
}

#define TANSOLVE_INSTANTIATE(T, S) TANSOLVE_INSTANTIATE_BASIS_KERNELS(Host, T, S)
TANSOLVE_FOR_EACH_STORAGE(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
