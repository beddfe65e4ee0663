// SPDX-License-Identifier: BSD-3-Clause
// A basis on its way through the shared memory of a GPU's blocks.
#pragma once

#include <tansolve/kernels/basis_view.hpp>

#include <cuda_pipeline.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tansolve::detail {

inline constexpr int copy_bytes = 16;
inline constexpr int vector_bytes = 1024;  // of a vector in a tile
inline constexpr int most_vectors = 32;    // in a tile; a thread keeps their sums
inline constexpr int group = 4;            // vectors that a thread reads at once

/// Tiles in shared memory. Few vectors make small tiles, of which more must be on their way.
inline constexpr int few_vectors = 8, tiles_of_few = 8, tiles_of_many = 3;

/// A constant, so that sums do not depend on the device: four blocks a multiprocessor of an H200,
/// which is what registers allow.
inline constexpr int most_threads = 528 * 128;

template <class S>
constexpr int tile_rows = vector_bytes / sizeof(S);
/// Of narrow elements a thread takes only 4 bytes of a vector in a tile: there is more to do.
template <class S>
constexpr int stream_threads = sizeof(S) == 8 ? 128 : 256;
template <class S>
constexpr int pack_size = tile_rows<S> / stream_threads<S>;

/// The elements of a vector that a thread takes at once.
template <class S>
struct alignas(pack_size<S> * sizeof(S)) Pack {
  S of[pack_size<S>];
};

/// The blocks of a kernel over n rows, a function of n and S alone.
template <class S>
int blocks_of(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>((n + tile_rows<S> - 1) / tile_rows<S>, 1,
                                                   most_threads / stream_threads<S>));
}

/// Room for the vectors of a tile among k, in whole groups.
__host__ __device__ inline int padded_vectors(std::int64_t k) {
  return static_cast<int>(k < most_vectors ? (k + group - 1) / group * group : most_vectors);
}

/// A block's way through V: tiles of the rows blockIdx.x, + gridDim.x, ..., each in parts of
/// most_vectors vectors, from `first` to `last`.
template <int tiles, class S>
class TileStream {
 public:
  __device__ TileStream(const BasisView<S>& V, std::int64_t first, std::int64_t last)
      : V_(V), first_(first), last_(last), row_(std::int64_t{blockIdx.x} * tile_rows<S>) {
    extern __shared__ __align__(copy_bytes) unsigned char shared[];
    shared_ = shared;
    fetched_row_ = row_;
    fetched_vector_ = first;
    for (int i = 0; i < tiles - 1; ++i) fetch();
  }

  __device__ bool more() const { return row_ < V_.n; }
  /// The first of this thread's rows in the tile, and in the tiles of the rows to come.
  __device__ std::int64_t row() const { return row_ + threadIdx.x * pack_size<S>; }
  __device__ std::int64_t row_after() const { return row() + step(); }
  /// The first of the tile's vectors, and how many there are.
  __device__ std::int64_t vector() const { return first_ + part_ * most_vectors; }
  __device__ int count() const {
    return static_cast<int>(min(last_ - vector(), std::int64_t{most_vectors}));
  }
  /// Whether it is the first tile of its rows, and whether the last.
  __device__ bool begins() const { return part_ == 0; }
  __device__ bool ends() const { return vector() + most_vectors >= last_; }

  /// Waits until the tile is there. Whoever calls is done with the tile before.
  __device__ void wait() {
    __pipeline_wait_prior(tiles - 2);
    __syncthreads();
    fetch();
  }
  /// The pack of the tile's vector j; of those beyond count() it is unspecified.
  __device__ Pack<S> pack(int j) const {
    return reinterpret_cast<const Pack<S>*>(tile(used_) + j * vector_bytes)[threadIdx.x];
  }
  __device__ void advance() {
    used_ = used_ + 1 == tiles ? 0 : used_ + 1;
    const bool last_part = ends();
    part_ = last_part ? 0 : part_ + 1;
    if (last_part) row_ += step();
  }

 private:
  static __device__ std::int64_t step() { return std::int64_t{gridDim.x} * tile_rows<S>; }
  __device__ unsigned char* tile(int i) const {
    return shared_ + i * padded_vectors(last_ - first_) * vector_bytes;
  }
  /// Sets out for one more tile, if there is one.
  __device__ void fetch() {
    constexpr int copies = vector_bytes / copy_bytes, at_once = stream_threads<S> / copies;
    if (fetched_row_ < V_.n) {
      const std::int64_t end = min(fetched_vector_ + most_vectors, last_);
      const int lane = threadIdx.x % copies;
      const std::int64_t row = fetched_row_ + lane * (copy_bytes / static_cast<int>(sizeof(S)));
      unsigned char* to = tile(fetched_) + threadIdx.x / copies * vector_bytes + lane * copy_bytes;
      const bool inside = row < V_.stride;  // where V ends with zeros
      const S* from = V_.data + (fetched_vector_ + threadIdx.x / copies) * V_.stride;
      for (std::int64_t j = fetched_vector_ + threadIdx.x / copies; j < end; j += at_once) {
        __pipeline_memcpy_async(to, inside ? from + row : V_.data, copy_bytes,
                                inside ? 0 : copy_bytes);
        to += at_once * vector_bytes;
        from += at_once * V_.stride;
      }
      fetched_vector_ = end == last_ ? first_ : end;
      if (end == last_) fetched_row_ += step();
    }
    __pipeline_commit();
    fetched_ = fetched_ + 1 == tiles ? 0 : fetched_ + 1;
  }

  BasisView<S> V_;
  std::int64_t first_, last_;
  unsigned char* shared_;
  std::int64_t row_, part_ = 0;                // of the tile in use
  std::int64_t fetched_row_, fetched_vector_;  // of the next that is fetched
  int used_ = 0, fetched_ = 0;                 // their places
};

/// Bytes of a TileStream of k vectors.
inline std::size_t tile_bytes(std::int64_t k, int tiles) {
  return static_cast<std::size_t>(tiles * padded_vectors(k) * vector_bytes);
}

}  // namespace tansolve::detail
