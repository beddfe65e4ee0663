// SPDX-License-Identifier: BSD-3-Clause
// The kernels of blocks of vectors over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/block.hpp>

namespace tansolve::detail {

inline constexpr std::int64_t gram_tile = 4;     ///< columns of X and of Y that are read together
inline constexpr std::int64_t combine_tile = 8;  ///< columns of Y that share a pass over X

// Formulas: kernels/block.hpp. T is double or float.
#define TANSOLVE_DECLARE_BLOCK_KERNELS(B)                                                        \
  template <class T>                                                                             \
  void gram(Context<B>& context, std::int64_t n, std::int64_t j, const T* X, std::int64_t k,     \
            const T* Y, double* G);                                                              \
  template <class T>                                                                             \
  void combine(Context<B>& context, std::int64_t n, std::int64_t j, const T* X, const T* C, T b, \
               std::int64_t k, T* Y);
TANSOLVE_DECLARE_BLOCK_KERNELS(Host)
TANSOLVE_DECLARE_BLOCK_KERNELS(Checked)
TANSOLVE_DECLARE_BLOCK_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_BLOCK_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_BLOCK_KERNELS(B, T)                                                \
  template void gram(Context<B>&, std::int64_t, std::int64_t, const T*, std::int64_t, const T*, \
                     double*);                                                                  \
  template void combine(Context<B>&, std::int64_t, std::int64_t, const T*, const T*, T,         \
                        std::int64_t, T*);

}  // namespace tansolve::detail
