// SPDX-License-Identifier: BSD-3-Clause
// Norms of blocks against a threshold; roots and what grows around them.
#include <tansolve/preconditioners/amg_aggregation.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tansolve::detail {
namespace {

/// Nodes whose norms beside the diagonal, scaled to one of 1 on it, add up to less are left out:
/// eigenvalues that belong to them lie in [1/2, 3/2], near enough to each other for a smoother.
constexpr double dominated = 0.5;

struct Block {
  std::int32_t node;
  double norm;
};

/// The norms of the blocks in the rows of a node.
class BlockRow {
 public:
  BlockRow(const Csr<double>& A, const Nodes& nodes) : A_(A), nodes_(nodes) {}

  const std::vector<Block>& of(std::int64_t node) {
    blocks_.clear();
    const std::int64_t first = A_.offsets()[nodes_.begin[node]];
    const std::int64_t last = A_.offsets()[nodes_.begin[node + 1]];
    for (std::int64_t k = first; k < last; ++k) {
      const double a = A_.values()[k];
      const std::int32_t to = nodes_.of_row[A_.columns()[k]];
      if (!blocks_.empty() && blocks_.back().node == to)
        blocks_.back().norm = std::hypot(blocks_.back().norm, a);
      else
        blocks_.push_back({to, std::abs(a)});
    }
    if (nodes_.begin[node + 1] - nodes_.begin[node] > 1) merge();
    return blocks_;
  }

 private:
  void merge() {
    std::ranges::stable_sort(blocks_, {}, &Block::node);
    std::size_t kept = 0;
    for (std::size_t k = 1; k < blocks_.size(); ++k)
      if (blocks_[k].node == blocks_[kept].node)
        blocks_[kept].norm = std::hypot(blocks_[kept].norm, blocks_[k].norm);
      else
        blocks_[++kept] = blocks_[k];
    blocks_.resize(std::min(blocks_.size(), kept + 1));
  }

  const Csr<double>& A_;
  const Nodes& nodes_;
  std::vector<Block> blocks_;
};

/// Of every node: N_ii, and the largest of the N_ij beside it.
struct Norms {
  std::vector<double> own, largest;
};

Norms norms(const Csr<double>& A, const Nodes& nodes, int threads) {
  const std::int64_t n = nodes.count();
  Norms result{std::vector<double>(n), std::vector<double>(n)};
  const Ranges ranges(n);
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    BlockRow row(A, nodes);
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i)
      for (const auto& [j, norm] : row.of(i))
        if (j == i)
          result.own[i] = norm;
        else
          result.largest[i] = std::max(result.largest[i], norm);
  });
  return result;
}

/// The strong neighbours of a node, ascending, or that which it follows.
struct StrongRow {
  StrongRow(const std::vector<Block>& blocks, std::int64_t i, const Norms& all, Strength strength,
            double theta) {
    double sum = 0, nearest = 0;
    std::int32_t nearest_node = -1;
    for (const auto& [j, norm] : blocks) {
      if (j == i) continue;
      const double geometric = std::sqrt(all.own[i]) * std::sqrt(all.own[j]);
      const double scaled = geometric > 0 ? norm / geometric : 0;
      const double threshold =
          theta *
          (strength == Strength::symmetric ? geometric : std::min(all.largest[i], all.largest[j]));
      sum += scaled;
      if (norm > threshold) nodes.push_back(j);
      if (scaled > nearest) {
        nearest = scaled;
        nearest_node = j;
      }
    }
    if (sum < dominated) {
      role = Role::left_out;
    } else if (nodes.empty() && nearest_node >= 0) {
      role = Role::follower;
      nodes.push_back(nearest_node);
    }
  }

  Role role = Role::member;
  std::vector<std::int32_t> nodes;
};

/// Nodes in order of their coming, found from one of them.
class Neighbourhood {
 public:
  explicit Neighbourhood(const StrongGraph& graph)
      : graph_(graph), found_in_(graph.roles.size(), 0) {}

  /// The members up to `distance` edges from the root.
  const std::vector<std::int32_t>& of(std::int32_t root, int distance) {
    nodes_.assign(1, root);
    found_in_[root] = ++search_;
    std::size_t next = 0;
    for (int step = 0; step < distance; ++step)
      for (const std::size_t end = nodes_.size(); next < end; ++next)
        for (const std::int32_t j : graph_.of(nodes_[next]))
          if (graph_.roles[j] == Role::member && std::exchange(found_in_[j], search_) != search_)
            nodes_.push_back(j);
    return nodes_;
  }

 private:
  const StrongGraph& graph_;
  std::vector<std::uint32_t> found_in_;  ///< the latest search that came by
  std::uint32_t search_ = 0;
  std::vector<std::int32_t> nodes_;
};

/// A layer: those without an aggregate that have neighbours in one. Returns whether there were any.
bool grow(const StrongGraph& graph, Aggregates& aggregates, std::vector<std::int32_t>& sizes,
          std::vector<std::int32_t>& waiting) {
  std::vector<std::pair<std::int32_t, std::int32_t>> joined;  // node and aggregate
  std::vector<std::int32_t> met, left;
  for (const std::int32_t i : waiting) {
    met.clear();
    for (const std::int32_t j : graph.of(i))
      if (aggregates.of_node[j] >= 0) met.push_back(aggregates.of_node[j]);
    std::ranges::sort(met);
    std::int32_t best = -1;
    std::ptrdiff_t most = 0;
    for (auto a = met.begin(); a != met.end();) {
      const auto end = std::find_if(a, met.end(), [&](std::int32_t b) { return b != *a; });
      if (end - a > most || (end - a == most && sizes[*a] < sizes[best]))
        std::tie(best, most) = std::pair(*a, end - a);
      a = end;
    }
    if (best >= 0)
      joined.emplace_back(i, best);
    else
      left.push_back(i);
  }
  for (const auto& [node, to] : joined) {
    aggregates.of_node[node] = to;
    ++sizes[to];
  }
  waiting = std::move(left);
  return !joined.empty();
}

}  // namespace

Nodes::Nodes(std::vector<std::int32_t> begins) : begin(std::move(begins)), of_row(begin.back()) {
  for (std::int64_t i = 0; i < count(); ++i)
    std::fill(of_row.begin() + begin[i], of_row.begin() + begin[i + 1],
              static_cast<std::int32_t>(i));
}

StrongGraph strong_graph(const Csr<double>& A, const Nodes& nodes, Strength strength, double theta,
                         int threads) {
  const std::int64_t n = nodes.count();
  const Norms all = norms(A, nodes, threads);
  StrongGraph graph;
  graph.offsets.resize(n + 1);
  graph.roles.resize(n);
  graph.kept.resize(A.nnz());
  const Ranges ranges(n);
  std::vector<std::vector<std::int32_t>> pieces(ranges.number());
  std::vector<std::uint8_t> drops(ranges.number());
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    BlockRow row(A, nodes);
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i) {
      const StrongRow strong(row.of(i), i, all, strength, theta);
      graph.roles[i] = strong.role;
      graph.offsets[i + 1] = std::ssize(strong.nodes);
      for (std::int64_t k = A.offsets()[nodes.begin[i]]; k < A.offsets()[nodes.begin[i + 1]]; ++k) {
        const std::int32_t to = nodes.of_row[A.columns()[k]];
        graph.kept[k] = to == i || (strong.role != Role::follower &&
                                    std::ranges::binary_search(strong.nodes, to));
        drops[range] |= static_cast<std::uint8_t>(!graph.kept[k]);
      }
      pieces[range].insert(pieces[range].end(), strong.nodes.begin(), strong.nodes.end());
    }
  });
  for (std::int64_t i = 0; i < n; ++i) graph.offsets[i + 1] += graph.offsets[i];
  graph.neighbours.reserve(graph.offsets[n]);
  for (auto& piece : pieces) {
    graph.neighbours.insert(graph.neighbours.end(), piece.begin(), piece.end());
    piece = {};
  }
  graph.drops = std::ranges::any_of(drops, [](std::uint8_t d) { return d != 0; });
  return graph;
}

int natural_root_distance(const StrongGraph& graph) {
  const auto n = static_cast<std::uint64_t>(graph.roles.size());
  Neighbourhood neighbourhood(graph);
  double near = 0, far = 0, looked = 0;  // nodes up to 1 edge away, up to 2, and those looked at
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(n, 1024); ++k) {
    // Scattered: equal strides could all meet the same side of a grid.
    const auto node = static_cast<std::int32_t>(k * 0x9e3779b97f4a7c15 % n);
    if (graph.roles[node] != Role::member) continue;
    near += static_cast<double>(neighbourhood.of(node, 1).size());
    far += static_cast<double>(neighbourhood.of(node, 2).size());
    ++looked;
  }
  // 7 and 25 on the stencil of 7 points; 5 and 13, 9 and 25 on those of 5 and 9; 27 and 125.
  return near < 9 * looked && far > 3.2 * near ? 3 : 2;
}

Aggregates aggregate(const StrongGraph& graph, int distance) {
  const auto n = static_cast<std::int32_t>(graph.roles.size());
  Aggregates aggregates{std::vector<std::int32_t>(n, -1)};
  std::vector<std::int32_t> sizes, waiting;
  std::vector<std::uint8_t> covered(n, 0);
  Neighbourhood neighbourhood(graph);
  for (std::int32_t i = 0; i < n; ++i) {
    if (graph.roles[i] == Role::left_out) continue;
    if (covered[i] || graph.roles[i] == Role::follower) {
      waiting.push_back(i);
      continue;
    }
    for (const std::int32_t j : neighbourhood.of(i, distance)) covered[j] = 1;
    aggregates.of_node[i] = aggregates.count++;
    sizes.push_back(1);
  }
  while (grow(graph, aggregates, sizes, waiting)) {
  }
  // Followers of each other, or of what was left out.
  for (const std::int32_t i : waiting) {
    if (aggregates.of_node[i] >= 0) continue;
    aggregates.of_node[i] = aggregates.count;
    for (const std::int32_t j : graph.of(i))
      if (graph.roles[j] != Role::left_out && aggregates.of_node[j] < 0)
        aggregates.of_node[j] = aggregates.count;
    ++aggregates.count;
  }
  return aggregates;
}

}  // namespace tansolve::detail
