// SPDX-License-Identifier: BSD-3-Clause
// Strength of connection between nodes, and the aggregates that they form by it.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace tansolve {

/// When nodes i and j are connected strongly, N_ij being the Frobenius norm of the block of A in
/// their rows and columns: |a_ij| for one unknown a node.
enum class Strength {
  /// N_ij > t sqrt(N_ii N_jj), t being theta, or 0.6 over the mean number of neighbours of a node,
  /// where that is less.
  symmetric,
  absolute  ///< N_ij > theta min(m_i, m_j), m_i being the largest N_ik of all k other than i
};

namespace detail {

/// Consecutive rows as nodes: node i has the rows from begin[i] to before begin[i + 1].
struct Nodes {
  std::vector<std::int32_t> begin = {0};
  std::vector<std::int32_t> of_row = {};

  Nodes() = default;
  explicit Nodes(std::vector<std::int32_t> begins);
  std::int64_t count() const { return std::ssize(begin) - 1; }
  /// The number of an unknown within its node.
  std::int32_t unknown(std::int32_t row) const { return row - begin[of_row[row]]; }
};

/// What a node is to an aggregation.
enum class Role : std::uint8_t {
  member,
  follower,  ///< without strong neighbours: joins the aggregate of the one it is nearest to
  left_out   ///< dominated by its diagonal block, also on the candidates: smoothing alone reduces
             ///< what it contributes
};

struct StrongGraph {
  std::vector<std::int64_t> offsets = {0};  ///< of nodes, into neighbours
  std::vector<std::int32_t> neighbours = {};
  std::vector<Role> roles = {};
  std::vector<std::uint8_t> kept = {};  ///< for each entry of A: within a node, or strong
  bool drops = false;                   ///< whether not all are kept

  std::span<const std::int32_t> of(std::int64_t node) const {
    return std::span(neighbours).subspan(offsets[node], offsets[node + 1] - offsets[node]);
  }
};

/// For a symmetric A and candidates for vectors that it makes small. O(nnz) on `threads` threads,
/// on which the result does not depend.
StrongGraph strong_graph(const Csr<double>& A, const Nodes& nodes, const Dense& candidates,
                         Strength strength, double theta, int threads);

/// The distance of roots that makes aggregates of about 3 nodes across: 3 where nodes have few
/// neighbours but many at 2 edges, as on stencils in three dimensions without diagonals, whose
/// coarse levels would be dense otherwise; else 2. Looks at about a thousand nodes.
int natural_root_distance(const StrongGraph& graph);

struct Aggregates {
  std::vector<std::int32_t> of_node = {};  ///< -1: none
  std::int32_t count = 0;
};

/// Roots are chosen greedily in the order of the nodes, no two of them nearer to each other than
/// `distance` + 1 edges; then aggregates grow around them by one layer of neighbours after another,
/// each node joining that with which it has most edges, of equals the one with fewest nodes so
/// far. Roots are found by one thread, layers by `threads`, on which the result does not depend.
///
/// Source: Vanek, Mandel and Brezina, Computing 56 (1996), for a distance of 2.
Aggregates aggregate(const StrongGraph& graph, int distance, int threads);

}  // namespace detail
}  // namespace tansolve
