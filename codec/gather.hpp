// SPDX-License-Identifier: BSD-3-Clause
// What reading x costs a product on a GPU, whatever the format.
#pragma once

#include <tansolve/codec/row_source.hpp>

#include <cstdint>
#include <span>

namespace tansolve::detail {

/// Of one product, lanes of a warp taking neighbouring rows.
struct Gather {
  double lines = 0;  ///< of 128 bytes that warps touch, each counted once a load of 32 lanes
  double bytes = 0;  ///< from beyond the L1 cache
};

/// Nanoseconds that this takes on an H200 at least.
constexpr double gather_nanoseconds(const Gather& gather) {
  // Measured on band:2000000:32:1500:16 and er:3000000:16.
  constexpr double a_line = 2.7e-3, bytes_a_nanosecond = 3500;
  const double lines = gather.lines * a_line, bytes = gather.bytes / bytes_a_nanosecond;
  return lines > bytes ? lines : bytes;
}

/// Estimated on a few blocks of 1024 rows, which a multiprocessor works on at a time. `order`: of
/// the coded rows, if not their own; what comes after the whole rows is left out.
template <class T>
Gather estimate_gather(const RowSource<T>& source, std::span<const std::uint32_t> order = {});

}  // namespace tansolve::detail
