// SPDX-License-Identifier: BSD-3-Clause
// Elasticity-like matrices: three unknowns a point, 27 neighbours.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/neighbours.hpp>
#include <tansolve/codec/generators/random.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <array>

namespace tansolve::detail {
namespace {

using Block = std::array<std::array<double, 3>, 3>;

/// D_rs = 36 times the integral of (d/dr phi_0) (d/ds phi_o) on the unit grid, where phi are the
/// trilinear hat functions and o is the offset of the second from the first. They are products of
/// the integrals of 1-D hat functions: phi phi: (1 4 1)/6; phi' phi': (-1 2 -1); phi' phi: (1 0
/// -1)/2; phi phi': its negative, at offsets (-1 0 1).
Block reference_integrals(const std::array<int, 3>& o) {
  const auto mass = [&](int axis) { return o[axis] == 0 ? 4.0 : 1.0; };
  const auto stiffness = [&](int axis) { return o[axis] == 0 ? 2.0 : -1.0; };
  Block d;
  for (int r = 0; r < 3; ++r) {
    const int s = (r + 1) % 3, t = (r + 2) % 3;
    d[r][r] = stiffness(r) * mass(s) * mass(t);
    d[r][s] = d[s][r] = -1.5 * o[r] * o[s] * mass(t);
  }
  return d;
}

/// The 27 blocks of an interior row: K_pq = sum_rs (lambda d_p d_q + mu d_q d_p + mu delta_pq d_t
/// d_t), with both Lame constants 1, so that Poisson's ratio is 1/4. On cubes, symmetry would make
/// 90 of the 243 coefficients zero, which no mesh of practice has; so the cells lean, x = X + Y/8 +
/// Z/8, and the derivatives are d/dx = d/dX, d/dy = d/dY - (1/8) d/dX, d/dz = d/dZ - (1/8) d/dX.
/// All coefficients are multiples of 1/32 below 2^8, hence exact.
std::array<Block, 27> elasticity_stencil() {
  constexpr Block gradient = {{{1, 0, 0}, {-0.125, 1, 0}, {-0.125, 0, 1}}};
  std::array<Block, 27> stencil;
  for (int offset = 0; offset < 27; ++offset) {
    const Block d = reference_integrals({offset % 3 - 1, offset / 3 % 3 - 1, offset / 9 - 1});
    Block physical = {};  // gradient d gradient^T
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q)
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) physical[p][q] += gradient[p][r] * d[r][s] * gradient[q][s];
    const double trace = physical[0][0] + physical[1][1] + physical[2][2];
    for (int p = 0; p < 3; ++p)
      for (int q = 0; q < 3; ++q)
        stencil[offset][p][q] = physical[p][q] + physical[q][p] + (p == q ? trace : 0);
  }
  return stencil;
}

/// The matrix whose row 3 i + p, for unknown p of point i, holds value(offset, q) for unknown q of
/// the neighbour at that offset; row_values(row) makes the function `value`.
template <class RowValues>
RowRule three_unknowns(const Grid& grid, RowValues row_values) {
  const auto length = [=](std::int64_t row) { return 3 * Neighbours(grid, row / 3).count(); };
  const auto fill = [=](std::int64_t row, std::int32_t* columns, double* values) {
    auto value = row_values(row);
    Neighbours(grid, row / 3).visit([&](int offset, std::int64_t j) {
      for (int q = 0; q < 3; ++q) {
        *columns++ = static_cast<std::int32_t>(3 * j + q);
        *values++ = value(offset, q);
      }
    });
  };
  return {3 * grid.points(), length, fill};
}

}  // namespace

RowRule fem3(const Grid& grid) {
  return three_unknowns(grid, [stencil = elasticity_stencil()](std::int64_t row) {
    return [&stencil, p = row % 3](int offset, int q) { return stencil[offset][p][q]; };
  });
}

RowRule fem3u(const Grid& grid, std::uint64_t seed) {
  return three_unknowns(grid, [=](std::int64_t row) {
    return [random = Random(seed, row)](int, int) mutable { return random.normal(); };
  });
}

}  // namespace tansolve::detail
