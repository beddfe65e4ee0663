// SPDX-License-Identifier: BSD-3-Clause
// Inner products of a vector with all vectors of a basis that streams by.
#pragma once

#include <tansolve/kernels/cuda/tile_stream.cuh>

#include <type_traits>

namespace tansolve::detail {

/// In lane j the sum over the warp's lanes of their sums[j], in a fixed order: lanes hand each
/// other the half of their sums that the others will keep, so that 31 shuffles do for 32 sums.
template <int half = 16, class Sum>
__device__ Sum sum_of_lane(Sum (&sums)[32]) {
  const bool upper = (threadIdx.x & half) != 0;
#pragma unroll
  for (int j = 0; j < half; ++j) {
    const Sum kept = upper ? sums[j + half] : sums[j], given = upper ? sums[j] : sums[j + half];
    sums[j] = kept + __shfl_xor_sync(~0u, given, half);
  }
  if constexpr (half > 1)
    return sum_of_lane<half / 2>(sums);
  else
    return sums[0];
}

/// v_j'w for the vectors v_j of a stream, as a block sums them over its tiles.
///
/// Where V is stored below working precision, a thread's sums over few tiles are floats: converting
/// all of V to double, 16 elements a clock and multiprocessor, takes longer than reading it. The
/// rows of w are scaled by a power of two, common to a warp, so that nothing overflows; what is too
/// small to count is small against w. Lane j keeps the double that the sums of v_j go into.
template <class T, class S>
class Projection {
 public:
  /// += for the tile's rows of w. Sums of vectors beyond its count() are unspecified.
  template <int tiles>
  __device__ void add(const TileStream<tiles, S>& stream, const T (&rows)[pack_size<S>]) {
    if constexpr (narrow) prepare(rows);
    Sum w[pack_size<S>];
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u)
      w[u] = static_cast<Sum>(narrow ? rows[u] * scale_.inverse() : rows[u]);
    const int count = stream.count();
#pragma unroll
    for (int first = 0; first < most_vectors; first += group) {
      if (first >= count) break;
#pragma unroll
      for (int j = first; j < first + group; ++j) {
        const Pack<S> v = stream.pack(j);
#pragma unroll
        for (int u = 0; u < pack_size<S>; ++u)
          sums_[j] = fma(static_cast<Sum>(v.of[u]), w[u], sums_[j]);
      }
    }
  }

  /// partials[j * gridDim.x + block] = this block's sum of v_j, for the k vectors.
  __device__ void store(std::int64_t k, double* partials) {
    constexpr int warps = stream_threads / 32;
    __shared__ double of_warp[warps][most_vectors];
    flush();
    of_warp[threadIdx.x / 32][threadIdx.x % 32] = total_;
    __syncthreads();
    if (threadIdx.x >= k) return;
    double sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += of_warp[warp][threadIdx.x];
    partials[std::int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = sum;
  }

 private:
  static_assert(most_vectors == 32, "lane j keeps the sum of v_j");
  static constexpr bool narrow = sizeof(S) < sizeof(T);
  static constexpr int float_tiles = 16;  // after which sums in float go into the double
  using Sum = std::conditional_t<narrow, float, double>;

  /// Makes room in the floats for one more tile, and for its greatest rows in the warp.
  __device__ void prepare(const T (&rows)[pack_size<S>]) {
    int greatest = 0;
#pragma unroll
    for (int u = 0; u < pack_size<S>; ++u) greatest = max(greatest, exponent_bits(rows[u]));
    const PowerOfTwo needed = PowerOfTwo::near(__reduce_max_sync(~0u, greatest));
    if (needed.exponent > scale_.exponent || added_ == float_tiles) {
      flush();
      scale_.exponent = max(scale_.exponent, needed.exponent);
      added_ = 0;
    }
    ++added_;
  }

  __device__ void flush() {
    const auto sum = static_cast<double>(sum_of_lane(sums_));
    total_ += narrow ? sum * scale_.value() : sum;
#pragma unroll
    for (Sum& sum_j : sums_) sum_j = 0;
  }

  Sum sums_[most_vectors] = {};
  double total_ = 0;
  PowerOfTwo scale_;
  int added_ = 0;  // tiles in the sums
};

}  // namespace tansolve::detail
