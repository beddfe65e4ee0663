// SPDX-License-Identifier: BSD-3-Clause
// The 27 points around a point of a grid, as far as they lie inside.
#pragma once

#include <tansolve/codec/generators/families.hpp>

#include <algorithm>
#include <cstdint>

namespace tansolve::detail {

class Neighbours {
 public:
  static constexpr int centre = 13;

  Neighbours(const Grid& grid, std::int64_t point)
      : grid_(grid),
        x_(point % grid.nx, grid.nx),
        y_(point / grid.nx % grid.ny, grid.ny),
        z_(point / (grid.nx * grid.ny), grid.nz) {}

  std::int64_t count() const { return x_.size() * y_.size() * z_.size(); }

  /// visitor(9 (dz + 1) + 3 (dy + 1) + (dx + 1), index of the neighbour), by increasing index.
  template <class Visitor>
  void visit(Visitor visitor) const {
    for (std::int64_t z = z_.first; z <= z_.last; ++z)
      for (std::int64_t y = y_.first; y <= y_.last; ++y)
        for (std::int64_t x = x_.first; x <= x_.last; ++x) {
          const std::int64_t offset =
              9 * (z - z_.middle + 1) + 3 * (y - y_.middle + 1) + (x - x_.middle + 1);
          visitor(static_cast<int>(offset), (z * grid_.ny + y) * grid_.nx + x);
        }
  }

 private:
  struct Range {
    Range(std::int64_t at, std::int64_t n)
        : middle(at),
          first(std::max<std::int64_t>(at - 1, 0)),
          last(std::min<std::int64_t>(at + 1, n - 1)) {}
    std::int64_t size() const { return last - first + 1; }
    std::int64_t middle;
    std::int64_t first;
    std::int64_t last;
  };

  Grid grid_;
  Range x_;
  Range y_;
  Range z_;
};

}  // namespace tansolve::detail
