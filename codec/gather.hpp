// SPDX-License-Identifier: BSD-3-Clause
// What reading x costs a product on a GPU, whatever the format.
#pragma once

#include <tansolve/codec/csr.hpp>

namespace tansolve::detail {

/// Of one product, lanes of a warp taking neighbouring rows.
struct Gather {
  double lines = 0;  ///< of 128 bytes that warps touch, each counted once a load of 32 lanes
  double bytes = 0;  ///< from beyond the L1 cache
};

/// Estimated on a few blocks of 1024 rows, which a multiprocessor works on at a time.
template <class T>
Gather estimate_gather(const Csr<T>& matrix);

}  // namespace tansolve::detail
