// SPDX-License-Identifier: BSD-3-Clause
// A small dense matrix as files hold it: right-hand sides, solutions, eigenvectors.
#pragma once

#include <cstdint>
#include <vector>

namespace tansolve {

/// rows x cols values by columns: element (i, j) is values[i + j * rows].
struct Dense {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<double> values;
};

}  // namespace tansolve
