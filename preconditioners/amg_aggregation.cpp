// SPDX-License-Identifier: BSD-3-Clause
// Norms of blocks against a threshold; roots and what grows around them.
#include <tansolve/preconditioners/amg_aggregation.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace tansolve::detail {
namespace {

/// Nodes whose norms beside the diagonal, scaled to one of 1 on it, add up to less may be left out:
/// eigenvalues that belong to them lie in [1/2, 3/2], near enough to each other for a smoother. So
/// they are where A leaves more than this share of what its diagonal block makes of the candidates:
/// elsewhere, as between neighbours of far greater coefficients, smooth vectors pass through them.
constexpr double dominated = 0.5;
/// By the symmetric measure most are strong that have this share of what each of a row's entries
/// had if all were the same: else those of large stencils would all be weak.
constexpr double even_share = 0.6;

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

/// Of every node: the square root of N_ii and its inverse, 0 where there is none, and the largest
/// of the N_ij beside it.
struct Norms {
  std::vector<double> root, inverse_root, largest;
  double mean_neighbours = 0;  ///< of a node
};

Norms norms(const Csr<double>& A, const Nodes& nodes, int threads) {
  const std::int64_t n = nodes.count();
  Norms result{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  const Ranges ranges(n);
  std::vector<std::int64_t> neighbours(ranges.number());
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    BlockRow row(A, nodes);
    std::int64_t others = 0;
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i)
      for (const auto& [j, norm] : row.of(i))
        if (j == i) {
          result.root[i] = std::sqrt(norm);
          result.inverse_root[i] = norm > 0 ? 1 / result.root[i] : 0;
        } else {
          result.largest[i] = std::max(result.largest[i], norm);
          if (norm > 0) ++others;
        }
    neighbours[range] = others;
  });
  const std::int64_t all = std::accumulate(neighbours.begin(), neighbours.end(), std::int64_t{0});
  if (n > 0) result.mean_neighbours = static_cast<double>(all) / static_cast<double>(n);
  return result;
}

/// The strong neighbours of one node after the other, ascending, or that which it follows.
class StrongRow {
 public:
  StrongRow(const Csr<double>& A, const Nodes& nodes, const Dense& candidates, const Norms& norms,
            Strength strength, double theta)
      : A_(A),
        nodes_(nodes),
        candidates_(candidates),
        norms_(norms),
        strength_(strength),
        theta_(theta) {}

  void decide(const std::vector<Block>& blocks, std::int64_t i) {
    double sum = 0, nearest = 0;
    std::int32_t nearest_node = -1;
    neighbours.clear();
    role = Role::member;
    for (const auto& [j, norm] : blocks) {
      if (j == i) continue;
      const double scaled = norm * norms_.inverse_root[i] * norms_.inverse_root[j];
      const double measure = strength_ == Strength::symmetric
                                 ? norms_.root[i] * norms_.root[j]
                                 : std::min(norms_.largest[i], norms_.largest[j]);
      sum += scaled;
      if (norm > theta_ * measure) neighbours.push_back(j);
      if (scaled > nearest) {
        nearest = scaled;
        nearest_node = j;
      }
    }
    if (sum < dominated && left_by_candidates(i)) {
      role = Role::left_out;
    } else if (neighbours.empty() && nearest_node >= 0) {
      role = Role::follower;
      neighbours.push_back(nearest_node);
    }
  }

  Role role = Role::member;
  std::vector<std::int32_t> neighbours;

 private:
  bool left_by_candidates(std::int64_t i) const {
    double all = 0, own = 0;  // squares of A B and of A_ii B_i, in the rows of the node
    for (std::int64_t row = nodes_.begin[i]; row < nodes_.begin[i + 1]; ++row)
      for (std::int64_t c = 0; c < candidates_.cols; ++c) {
        const double* b = candidates_.values.data() + c * candidates_.rows;
        double sum = 0, sum_of_node = 0;
        for (std::int64_t k = A_.offsets()[row]; k < A_.offsets()[row + 1]; ++k) {
          const std::int32_t j = A_.columns()[k];
          const double term = A_.values()[k] * b[j] * norms_.inverse_root[i];
          sum += term;
          if (nodes_.of_row[j] == i) sum_of_node += term;
        }
        all += sum * sum;
        own += sum_of_node * sum_of_node;
      }
    return all > dominated * dominated * own;
  }

  const Csr<double>& A_;
  const Nodes& nodes_;
  const Dense& candidates_;
  const Norms& norms_;
  Strength strength_;
  double theta_;
};

/// Marks the entries of row `row`, of node i, that its strong neighbours keep; whether that is not
/// all of them.
bool mark_kept(const Csr<double>& A, const Nodes& nodes, std::int64_t i, std::int64_t row,
               const StrongRow& strong, std::vector<std::uint8_t>& kept) {
  bool drops = false;
  auto next = strong.neighbours.begin();  // both ascend
  const auto end = strong.role == Role::follower ? next : strong.neighbours.end();
  for (std::int64_t k = A.offsets()[row]; k < A.offsets()[row + 1]; ++k) {
    const std::int32_t to = nodes.of_row[A.columns()[k]];
    while (next != end && *next < to) ++next;
    kept[k] = to == i || (next != end && *next == to);
    drops = drops || !kept[k];
  }
  return drops;
}

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

/// The aggregate that a node has most edges with, of equals the one with fewest nodes; -1: none.
std::int32_t best_aggregate(const StrongGraph& graph, const Aggregates& aggregates,
                            const std::vector<std::int32_t>& sizes, std::int32_t node,
                            std::vector<std::int32_t>& met) {
  met.clear();
  for (const std::int32_t j : graph.of(node))
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
  return best;
}

/// A layer: those without an aggregate that have neighbours in one. Returns whether there were any.
bool grow(const StrongGraph& graph, Aggregates& aggregates, std::vector<std::int32_t>& sizes,
          std::vector<std::int32_t>& waiting, int threads) {
  std::vector<std::int32_t> best(waiting.size());
  const Ranges ranges(std::ssize(waiting));
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    std::vector<std::int32_t> met;
    for (std::int64_t k = ranges.first(range); k < ranges.last(range); ++k)
      best[k] = best_aggregate(graph, aggregates, sizes, waiting[k], met);
  });
  std::size_t left = 0;
  for (std::size_t k = 0; k < waiting.size(); ++k)
    if (best[k] >= 0) {
      aggregates.of_node[waiting[k]] = best[k];
      ++sizes[best[k]];
    } else {
      waiting[left++] = waiting[k];
    }
  const bool any = left < waiting.size();
  waiting.resize(left);
  return any;
}

}  // namespace

Nodes::Nodes(std::vector<std::int32_t> begins) : begin(std::move(begins)), of_row(begin.back()) {
  for (std::int64_t i = 0; i < count(); ++i)
    std::fill(of_row.begin() + begin[i], of_row.begin() + begin[i + 1],
              static_cast<std::int32_t>(i));
}

StrongGraph strong_graph(const Csr<double>& A, const Nodes& nodes, const Dense& candidates,
                         Strength strength, double theta, int threads) {
  const std::int64_t n = nodes.count();
  const Norms all = norms(A, nodes, threads);
  if (strength == Strength::symmetric)
    theta = std::min(theta, even_share / std::max(1.0, all.mean_neighbours));
  StrongGraph graph;
  graph.offsets.resize(n + 1);
  graph.roles.resize(n);
  graph.kept.resize(A.nnz());
  const Ranges ranges(n);
  std::vector<std::vector<std::int32_t>> pieces(ranges.number());
  std::vector<std::uint8_t> drops(ranges.number());
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    BlockRow blocks(A, nodes);
    StrongRow strong(A, nodes, candidates, all, strength, theta);
    std::vector<std::int32_t> piece;
    bool dropped = false;
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i) {
      strong.decide(blocks.of(i), i);
      graph.roles[i] = strong.role;
      for (std::int32_t row = nodes.begin[i]; row < nodes.begin[i + 1]; ++row)
        dropped = mark_kept(A, nodes, i, row, strong, graph.kept) || dropped;
      piece.insert(piece.end(), strong.neighbours.begin(), strong.neighbours.end());
      graph.offsets[i + 1] = std::ssize(piece);
    }
    pieces[range] = std::move(piece);
    drops[range] = dropped;
  });
  std::vector<std::int64_t> first = {0};
  for (const auto& piece : pieces) first.push_back(first.back() + std::ssize(piece));
  graph.neighbours.resize(first.back());
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i)
      graph.offsets[i + 1] += first[range];
    std::ranges::copy(std::exchange(pieces[range], {}), graph.neighbours.begin() + first[range]);
  });
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

Aggregates aggregate(const StrongGraph& graph, int distance, int threads) {
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
  while (grow(graph, aggregates, sizes, waiting, threads)) {
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
