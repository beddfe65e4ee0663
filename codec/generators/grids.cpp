// SPDX-License-Identifier: BSD-3-Clause
// Stencils on regular grids with Dirichlet boundaries.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/neighbours.hpp>
#include <tansolve/codec/generators/random.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <array>
#include <utility>
#include <vector>

namespace tansolve::detail {
namespace {

/// A point and its face neighbours in the order of their columns: down, south, west, itself, east,
/// north, up, which are -z, -y, -x, 0, +x, +y, +z.
using Seven = std::array<double, 7>;
constexpr int centre = 3;

/// Where each of the seven lies, and whether it is inside.
struct Places {
  std::array<std::int64_t, 7> index;
  std::array<bool, 7> inside;

  Places(const Grid& g, std::int64_t i) {
    const std::int64_t x = i % g.nx, y = i / g.nx % g.ny, z = i / (g.nx * g.ny);
    index = {i - g.nx * g.ny, i - g.nx, i - 1, i, i + 1, i + g.nx, i + g.nx * g.ny};
    inside = {z > 0, y > 0, x > 0, true, x + 1 < g.nx, y + 1 < g.ny, z + 1 < g.nz};
  }
};

/// The matrix whose row i holds those of coefficients(i, places) that lie inside.
template <class Coefficients>
RowRule seven_point(const Grid& grid, Coefficients coefficients) {
  auto length = [=](std::int64_t i) {
    std::int64_t count = 0;
    for (const bool inside : Places(grid, i).inside) count += inside;
    return count;
  };
  auto fill = [grid, coefficients = std::move(coefficients)](std::int64_t i, std::int32_t* columns,
                                                             double* values) {
    const Places places(grid, i);
    const Seven row = coefficients(i, places);
    for (int k = 0; k < 7; ++k) {
      if (!places.inside[k]) continue;
      *columns++ = static_cast<std::int32_t>(places.index[k]);
      *values++ = row[k];
    }
  };
  return {grid.points(), std::move(length), std::move(fill)};
}

RowRule seven_point(const Grid& grid, const Seven& row) {
  return seven_point(grid, [=](std::int64_t, const Places&) { return row; });
}

}  // namespace

RowRule poisson5(const Grid& grid) {
  return seven_point(grid, {-1, -1, -1, 4, -1, -1, -1});
}

RowRule poisson7(const Grid& grid) {
  return seven_point(grid, {-1, -1, -1, 6, -1, -1, -1});
}

RowRule poisson27(const Grid& grid) {
  const auto length = [=](std::int64_t i) { return Neighbours(grid, i).count(); };
  const auto fill = [=](std::int64_t i, std::int32_t* columns, double* values) {
    Neighbours(grid, i).visit([&](int offset, std::int64_t j) {
      *columns++ = static_cast<std::int32_t>(j);
      *values++ = offset == Neighbours::centre ? 26 : -1;
    });
  };
  return {grid.points(), length, fill};
}

RowRule varcoef7(const Grid& grid, double jump, std::uint64_t seed) {
  const std::int64_t points = grid.points();
  const double log_jump = portable_log(jump);
  std::vector<double> cell(points);
#pragma omp parallel for
  for (std::int64_t i = 0; i < points; ++i)
    cell[i] = portable_exp(log_jump * Random(seed, i).uniform());

  return seven_point(grid, [cell = std::move(cell)](std::int64_t i, const Places& places) {
    Seven row = {};
    for (int k = 0; k < 7; ++k) {
      if (k == centre) continue;
      const double c = cell[i];
      double face = 2 * c;
      if (places.inside[k]) {
        const double d = cell[places.index[k]];
        face = 2 * (c * d) / (c + d);  // commutes, so that both sides compute the same bits
      }
      row[k] = -face;
      row[centre] += face;
    }
    return row;
  });
}

RowRule convdiff7(const Grid& grid) {
  return seven_point(grid, {-1.25, -1.5, -2, 7.75, -1, -1, -1});
}

}  // namespace tansolve::detail
