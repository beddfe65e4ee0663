// SPDX-License-Identifier: BSD-3-Clause
// A basis on its way through the shared memory of a GPU's blocks.
#pragma once

#include <tansolve/kernels/basis_sum.hpp>
#include <tansolve/kernels/basis_view.hpp>

#include <cuda_pipeline.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tansolve::detail {

inline constexpr int copy_bytes = 16;
inline constexpr int most_vectors = static_cast<int>(basis_run);  // a thread keeps their sums
inline constexpr int group = 4;  // vectors that a thread reads at once
inline constexpr int stream_threads = 128;

/// Tiles in shared memory. Few vectors make small tiles, of which more must be on their way.
inline constexpr int few_vectors = 8, tiles_of_few = 8, tiles_of_many = 2;

/// Of narrow elements a thread takes only 4 bytes of a vector in a tile: there is more to do.
template <class S>
constexpr int vector_bytes = stream_threads* std::max<int>(sizeof(S), 4);

template <class S>
constexpr int tile_rows = vector_bytes<S> / sizeof(S);
template <class S>
constexpr int pack_size = tile_rows<S> / stream_threads;

/// Constants, so that sums do not depend on the device: the blocks whose tiles fit the shared
/// memory of an H200 at once.
template <class S>
constexpr int most_blocks = 132 * (sizeof(S) == 8 ? 3 : 6);

/// The elements of a vector that a thread takes at once.
template <class S>
struct alignas(pack_size<S> * sizeof(S)) Pack {
  S of[pack_size<S>];
};

/// The blocks of a kernel over n rows, a function of n and S alone.
template <class S>
int blocks_of(std::int64_t n) {
  return static_cast<int>(
      std::clamp<std::int64_t>((n + tile_rows<S> - 1) / tile_rows<S>, 1, most_blocks<S>));
}

/// Room for a tile's k vectors, in whole groups.
__host__ __device__ inline int padded_vectors(std::int64_t k) {
  return static_cast<int>((k + group - 1) / group * group);
}

/// A block's way through V of at most most_vectors: tiles of the rows blockIdx.x, + gridDim.x, ...
template <int tiles, class S>
class TileStream {
 public:
  __device__ explicit TileStream(const BasisView<S>& V)
      : V_(V), row_(std::int64_t{blockIdx.x} * tile_rows<S>), fetched_row_(row_) {
    extern __shared__ __align__(copy_bytes) unsigned char shared[];
    shared_ = shared;
    for (int i = 0; i < tiles - 1; ++i) fetch();
  }

  __device__ bool more() const { return row_ < V_.n; }
  __device__ int count() const { return static_cast<int>(V_.k); }  ///< of vectors
  /// The first of this thread's rows in the tile, and in the one after.
  __device__ std::int64_t row() const { return row_ + threadIdx.x * pack_size<S>; }
  __device__ std::int64_t row_after() const { return row() + step(); }

  /// Waits until the tile is there. Whoever calls is done with the tile before.
  __device__ void wait() {
    __pipeline_wait_prior(tiles - 2);
    __syncthreads();
    fetch();
  }
  /// The pack of the tile's vector j; of those beyond count() it is unspecified.
  __device__ Pack<S> pack(int j) const {
    return reinterpret_cast<const Pack<S>*>(tile(used_) + j * vector_bytes<S>)[threadIdx.x];
  }
  __device__ void advance() {
    used_ = used_ + 1 == tiles ? 0 : used_ + 1;
    row_ += step();
  }

 private:
  static __device__ std::int64_t step() { return std::int64_t{gridDim.x} * tile_rows<S>; }
  __device__ unsigned char* tile(int i) const {
    return shared_ + i * padded_vectors(V_.k) * vector_bytes<S>;
  }
  /// Sets out for one more tile, if there is one.
  __device__ void fetch() {
    constexpr int copies = vector_bytes<S> / copy_bytes, at_once = stream_threads / copies;
    if (fetched_row_ < V_.n) {
      const int first = threadIdx.x / copies, lane = threadIdx.x % copies;
      const std::int64_t row = fetched_row_ + lane * (copy_bytes / static_cast<int>(sizeof(S)));
      unsigned char* to = tile(fetched_) + first * vector_bytes<S> + lane * copy_bytes;
      const bool inside = row < V_.stride;  // where V ends with zeros
      const S* from = V_.data + first * V_.stride;
      for (int j = first; j < V_.k; j += at_once) {
        __pipeline_memcpy_async(to, inside ? from + row : V_.data, copy_bytes,
                                inside ? 0 : copy_bytes);
        to += at_once * vector_bytes<S>;
        from += at_once * V_.stride;
      }
      fetched_row_ += step();
    }
    __pipeline_commit();
    fetched_ = fetched_ + 1 == tiles ? 0 : fetched_ + 1;
  }

  BasisView<S> V_;
  unsigned char* shared_;
  std::int64_t row_, fetched_row_;  // of the tile in use, and of the next that is fetched
  int used_ = 0, fetched_ = 0;      // their places
};

/// Bytes of a TileStream of k vectors.
template <class S>
std::size_t tile_bytes(std::int64_t k, int tiles) {
  return static_cast<std::size_t>(tiles * padded_vectors(k) * vector_bytes<S>);
}

}  // namespace tansolve::detail
