// SPDX-License-Identifier: BSD-3-Clause
// How the fused product is launched and unrolled: the best of what was measured on an H200 with
// poisson27:128, poisson7:200 and fem3:72 (blocks of 256 to 1024 threads, 32 to 64 registers, 4 or
// 8 loads in flight). More warps do not help what is bound by instructions; registers that spill
// halve the speed.
#pragma once

#include <tansolve/codec/plan.hpp>

namespace tansolve::detail {

struct FusedTuning {
  int threads;    ///< of a block; all warps of a block share the tables
  int blocks;     ///< of a multiprocessor that registers must leave room for
  int in_flight;  ///< elements of x that a lane asks for before it adds the first

  /// The sums of several columns need registers: 128 of them a thread.
  constexpr int blocks_for(int columns) const { return columns == 1 ? blocks : 512 / threads; }
};

constexpr FusedTuning fused_tuning(Coding coding) {
  switch (coding) {
    case Coding::paper:
    case Coding::joint:
      return {512, 2, 4};
    case Coding::byte:
      return {256, 4, 8};
    case Coding::fixed12:
      return {256, 4, 4};
    default:
      return {256, 6, 4};
  }
}

}  // namespace tansolve::detail
