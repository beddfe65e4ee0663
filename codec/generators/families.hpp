// SPDX-License-Identifier: BSD-3-Clause
// The generators behind generate(), which checks their arguments; each says what its matrix is.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <cstdint>
#include <filesystem>

namespace tansolve::detail {

/// nx x ny x nz points, numbered with x fastest; whatever lies outside is zero (Dirichlet).
struct Grid {
  std::int64_t nx;
  std::int64_t ny;
  std::int64_t nz;
  std::int64_t points() const { return nx * ny * nz; }
};

// Stencils (grids.cpp). All but convdiff7 are symmetric, bit for bit, and positive definite.

/// Diagonal 4 and 6, neighbours across a face -1.
RowRule poisson5(const Grid& grid);
RowRule poisson7(const Grid& grid);

/// Diagonal 26, the 26 neighbours -1: the matrix of HPCG.
RowRule poisson27(const Grid& grid);

/// -div(c grad u) by finite volumes: c is constant in the cell around each point, log-uniform in
/// [1, jump]; a face carries the harmonic mean of its two cells, a face of the boundary 2 c (it is
/// half a cell away), the diagonal the sum of the six faces.
RowRule varcoef7(const Grid& grid, double jump, std::uint64_t seed);

/// -lap u + b . grad u, upwind, with the cell Peclet numbers 1, 1/2 and 1/4 along x, y and z
/// whatever the size: an M-matrix with diagonal 7.75, upwind neighbours -2, -1.5, -1.25 and
/// downwind neighbours -1.
RowRule convdiff7(const Grid& grid);

// Finite elements (fem.cpp): three unknowns a point, full 3 x 3 blocks for the 27 neighbours.

/// Linear elasticity with Poisson's ratio 1/4 on trilinear hexahedra; symmetric, bit for bit, and
/// positive definite. Every row is the interior one without what lies outside: 39 distinct values.
RowRule fem3(const Grid& grid);

/// The symmetric pattern of fem3 with independent standard normal values, so neither symmetric nor
/// definite.
RowRule fem3u(const Grid& grid, std::uint64_t seed);

// Others (band.cpp, spin.cpp, tiles.cpp).

/// Each row has its diagonal and per_row - 1 more columns drawn without repetition from those
/// within `width` of it. Values are drawn from a list of `distinct` standard normal numbers, or
/// each is one of its own when distinct = 0. Needs per_row <= min(n, width + 1).
RowRule band(std::int64_t n, std::int64_t per_row, std::int64_t width, std::int64_t distinct,
             std::uint64_t seed);

/// H = sum_i S_i . S_{i+1} of a periodic chain of `sites` (even, 4 to 32) spins 1/2, on the states
/// with as many spins up as down in the order of their bits (1: up).
RowRule heisenberg(std::int64_t sites);

/// `copies` copies of a matrix along the diagonal; when `scaled`, the values of each are multiplied
/// by a factor of its own, uniform in [1, 2).
Csr<double> tile(const Csr<double>& matrix, std::int64_t copies, bool scaled, std::uint64_t seed);

// Graphs (graphs.cpp): adjacency matrices of ones. The first three are undirected: symmetric, no
// loops.

/// Erdos and Renyi: each pair is an edge with probability degree / (n - 1). Needs degree <= n - 2.
Csr<double> erdos_renyi(std::int64_t n, std::int64_t degree, std::uint64_t seed);

/// Watts and Strogatz: a ring joined to its degree / 2 nearest on each side; with probability 0.1
/// the far end of an edge moves to a random vertex that is no ring neighbour of the near end and
/// that the near end has not drawn before (two ends that draw each other share one edge). Needs an
/// even degree <= n / 2.
Csr<double> watts_strogatz(std::int64_t n, std::int64_t degree, std::uint64_t seed);

/// Barabasi and Albert: from the complete graph of m + 1 vertices, m = degree / 2, each new vertex
/// joins m distinct old ones, drawn in proportion to their degrees. Needs an even degree < n.
Csr<double> barabasi_albert(std::int64_t n, std::int64_t degree, std::uint64_t seed);

/// R-MAT (Chakrabarti, Zhan and Faloutsos, 2004): degree 2^scale directed edges among 2^scale
/// vertices, with quadrant probabilities 0.57, 0.19, 0.19, 0.05; loops stay, repeated edges merge.
Csr<double> rmat(std::int64_t scale, std::int64_t degree, std::uint64_t seed);

/// D - A of an adjacency matrix A without loops, D the row sums of A: positive semidefinite.
Csr<double> laplacian(const Csr<double>& adjacency);

}  // namespace tansolve::detail
