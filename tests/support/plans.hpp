// SPDX-License-Identifier: BSD-3-Clause
// The plans that tests go through.
#pragma once

#include <tansolve/codec/plan.hpp>

#include <initializer_list>
#include <vector>

namespace tansolve::test {

/// Every coding, streams with each of the rows a lane and both row ends.
inline std::vector<Plan> all_plans(std::initializer_list<int> rows_per_lane) {
  std::vector<Plan> plans;
  for (const CodingTraits& coding : all_codings) {
    if (!is_stream(coding.coding)) {
      plans.push_back({.coding = coding.coding});
      continue;
    }
    for (const int rows : rows_per_lane)
      for (const RowEnds ends : {RowEnds::aligned, RowEnds::crossing})
        plans.push_back({coding.coding, rows, ends});
  }
  return plans;
}

}  // namespace tansolve::test
