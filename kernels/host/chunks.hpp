// SPDX-License-Identifier: BSD-3-Clause
// How the host cuts vectors for its threads and adds sums: in an order that depends on n alone.
#pragma once

#include <tansolve/kernels/backend.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace tansolve::detail {

/// n elements in `count` chunks of `length` (the last may be shorter), a multiple of 4096, so that
/// slices of a compressed matrix end where chunks do. At most max_count chunks, so that their
/// partial sums fit on the stack: 8 KiB.
struct Chunks {
  static constexpr std::int64_t min_length = 4096, max_count = 1024;

  explicit Chunks(std::int64_t n)
      : size(n),
        length(min_length * std::max<std::int64_t>(1, (n - 1) / (min_length * max_count) + 1)),
        count((n + length - 1) / length) {}
  std::int64_t first(std::int64_t chunk) const { return chunk * length; }
  std::int64_t last(std::int64_t chunk) const { return std::min(size, (chunk + 1) * length); }

  std::int64_t size, length, count;
};

/// Below this many chunks starting threads costs more than the work.
constexpr std::int64_t parallel_chunks = 4;

/// Runs work(first, last) over the chunks of n elements.
template <class Work>
void for_chunks(const Context<Host>& context, std::int64_t n, const Work& work) {
  const Chunks chunks(n);
#pragma omp parallel for schedule(static) \
    num_threads(context.threads()) if (chunks.count >= parallel_chunks)
  for (std::int64_t c = 0; c < chunks.count; ++c) work(chunks.first(c), chunks.last(c));
}

/// Rows of a tile: of a vector it takes 4 KiB of a first-level cache, of 31 others 124 KiB of a
/// second.
inline constexpr std::int64_t chunk_tile = 512;
static_assert(Chunks::min_length % chunk_tile == 0);

/// Calls work(first, last) for the tiles of a chunk.
template <class Work>
void for_tiles(std::int64_t first, std::int64_t last, const Work& work) {
  for (; first < last; first += chunk_tile) work(first, std::min(last, first + chunk_tile));
}

/// The sum of the chunks' partial sums, in their order.
inline double sum_in_order(const std::array<double, Chunks::max_count>& partial,
                           std::int64_t count) {
  double sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += partial[c];
  return sum;
}

/// The sum of sum_of(first, last) over the chunks of n elements.
template <class SumOf>
double sum_chunks(const Context<Host>& context, std::int64_t n, const SumOf& sum_of) {
  const Chunks chunks(n);
  std::array<double, Chunks::max_count> partial;
#pragma omp parallel for schedule(static) \
    num_threads(context.threads()) if (chunks.count >= parallel_chunks)
  for (std::int64_t c = 0; c < chunks.count; ++c)
    partial[c] = sum_of(chunks.first(c), chunks.last(c));
  return sum_in_order(partial, chunks.count);
}

/// The `count` sums that sums_of(first, last) returns side by side, over the chunks of n elements.
template <std::size_t count, class SumsOf>
std::array<double, count> sum_chunks(const Context<Host>& context, std::int64_t n,
                                     const SumsOf& sums_of) {
  const Chunks chunks(n);
  std::array<std::array<double, Chunks::max_count>, count> partial;
#pragma omp parallel for schedule(static) \
    num_threads(context.threads()) if (chunks.count >= parallel_chunks)
  for (std::int64_t c = 0; c < chunks.count; ++c) {
    const std::array<double, count> sums = sums_of(chunks.first(c), chunks.last(c));
    for (std::size_t s = 0; s < count; ++s) partial[s][c] = sums[s];
  }
  std::array<double, count> sums;
  for (std::size_t s = 0; s < count; ++s) sums[s] = sum_in_order(partial[s], chunks.count);
  return sums;
}

/// The sum of x_i y_i over first <= i < last: element i goes to lane (i - first) mod 8, so that the
/// additions of a chunk do not wait for each other; then the lanes are added in pairs.
template <class S, class T>
double chunk_dot(const S* x, const T* y, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t lanes = 8;
  double sum[lanes] = {};
  std::int64_t i = first;
  for (; i + lanes <= last; i += lanes)
    for (std::int64_t j = 0; j < lanes; ++j)
      sum[j] += static_cast<double>(x[i + j]) * static_cast<double>(y[i + j]);
  for (std::int64_t j = 0; i + j < last; ++j)
    sum[j] += static_cast<double>(x[i + j]) * static_cast<double>(y[i + j]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/// Each square that underflows errs by less than the least normal number: relative to a sum above
/// this, n of them err by less than n eps^2. Squares of floats are safe in double as they are.
inline constexpr double safe_sum_of_squares =
    std::numeric_limits<double>::min() /
    (std::numeric_limits<double>::epsilon() * std::numeric_limits<double>::epsilon());

}  // namespace tansolve::detail
