// SPDX-License-Identifier: BSD-3-Clause
// Vectors that a matrix makes small where smoothing does not, and how aggregates represent them.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>
#include <tansolve/preconditioners/amg_aggregation.hpp>

#include <cstdint>

namespace tansolve {

/// The rigid-body modes of a body of elasticity, whose nodes have as many unknowns as coordinates,
/// one after another: translations and linearised rotations, 3 vectors in 2 and 6 in 3 dimensions.
/// `coordinates` has a row a node and 2 or 3 columns; they are taken relative to their mean and
/// largest distance from it. Throws Error(invalid_argument) for other numbers of columns.
Dense rigid_body_modes(const Dense& coordinates);

namespace detail {

/// A vector for each unknown of a node, 1 in its rows: rows = nodes times unknowns.
Dense constant_vectors(std::int64_t rows, int unknowns);

/// The candidates B, rows x k, cut at the aggregates: T has orthonormal columns, each in the rows
/// of one aggregate, with T coarse = B there, and zero rows elsewhere.
struct Tentative {
  Csr<double> T;
  Dense coarse;        ///< the candidates of the coarse level
  Nodes coarse_nodes;  ///< a node an aggregate, with a row a column of T
};

/// By Gram-Schmidt in each aggregate, twice. A candidate that depends there on those before it, as
/// where an aggregate has fewer rows than there are candidates, has no column in it.
Tentative tentative(const Aggregates& aggregates, const Nodes& nodes, const Dense& candidates,
                    int threads);

}  // namespace detail
}  // namespace tansolve
