// SPDX-License-Identifier: BSD-3-Clause
// Random columns within a band.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/random.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <algorithm>
#include <vector>

namespace tansolve::detail {
namespace {

/// Writes `count` distinct numbers of [0, bound), sorted (Floyd's algorithm: Bentley, CACM 30,
/// 1987).
void sample(Random& random, std::int64_t count, std::int64_t bound, std::int32_t* numbers) {
  std::int32_t* end = numbers;
  for (std::int64_t largest = bound - count; largest < bound; ++largest) {
    const auto drawn = static_cast<std::int32_t>(random.below(largest + 1));
    std::int32_t* place = std::lower_bound(numbers, end, drawn);
    if (place != end && *place == drawn) {
      *end = static_cast<std::int32_t>(largest);
    } else {
      std::move_backward(place, end, end + 1);
      *place = drawn;
    }
    ++end;
  }
}

}  // namespace

RowRule band(std::int64_t n, std::int64_t per_row, std::int64_t width, std::int64_t distinct,
             std::uint64_t seed) {
  std::vector<double> list(distinct);
  Random list_random(seed, n);  // the rows use the streams below n
  for (double& value : list) value = list_random.normal();

  const auto length = [=](std::int64_t) { return per_row; };
  const auto fill = [=](std::int64_t i, std::int32_t* columns, double* values) {
    Random random(seed, i);
    const std::int64_t first = std::max<std::int64_t>(i - width, 0),
                       last = std::min(i + width, n - 1);
    const std::int64_t others = per_row - 1;
    sample(random, others, last - first, columns);
    // The sample numbers the columns of the band without the diagonal, which is then put in its
    // place.
    for (std::int64_t k = 0; k < others; ++k)
      columns[k] += static_cast<std::int32_t>(first + (first + columns[k] >= i));
    std::int32_t* place = std::lower_bound(columns, columns + others, i);
    std::move_backward(place, columns + others, columns + per_row);
    *place = static_cast<std::int32_t>(i);
    for (std::int64_t k = 0; k < per_row; ++k)
      values[k] = distinct == 0 ? random.normal() : list[random.below(distinct)];
  };
  return {n, length, fill};
}

}  // namespace tansolve::detail
