// SPDX-License-Identifier: BSD-3-Clause
// Random graphs as matrices.
#include <tansolve/codec/generators/families.hpp>
#include <tansolve/codec/generators/random.hpp>
#include <tansolve/codec/generators/rows.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tansolve::detail {
namespace {

struct Edge {
  std::int32_t from;
  std::int32_t to;
};

enum class Direction { one_way, both_ways };

/// Sorts each row and drops what occurs twice; the offsets and columns are updated.
void sort_rows(std::vector<std::int64_t>& offsets, std::vector<std::int32_t>& columns) {
  const std::int64_t n = std::ssize(offsets) - 1;
  std::vector<std::int64_t> kept(n);
#pragma omp parallel for schedule(dynamic, 256)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto begin = columns.begin() + offsets[i], end = columns.begin() + offsets[i + 1];
    std::sort(begin, end);
    kept[i] = std::unique(begin, end) - begin;
  }
  std::int64_t size = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto begin = columns.begin() + offsets[i];
    offsets[i] = size;
    if (size != begin - columns.begin()) std::copy(begin, begin + kept[i], columns.begin() + size);
    size += kept[i];
  }
  offsets[n] = size;
  columns.resize(size);
}

/// Ones at the edges, by counting, prefix sums and scattering. The order within a row depends on
/// the threads until the row is sorted.
Csr<double> adjacency(std::int64_t n, std::vector<Edge> edges, Direction direction) {
  const std::int64_t count = std::ssize(edges);
  const bool both = direction == Direction::both_ways;
  std::vector<std::int64_t> offsets(n + 1);
#pragma omp parallel for
  for (std::int64_t e = 0; e < count; ++e) {
#pragma omp atomic
    ++offsets[edges[e].from + 1];
    if (!both) continue;
#pragma omp atomic
    ++offsets[edges[e].to + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());

  std::vector<std::int32_t> columns(offsets[n]);
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  const auto put = [&](std::int32_t row, std::int32_t column) {
    std::int64_t place = 0;
#pragma omp atomic capture
    place = next[row]++;
    columns[place] = column;
  };
#pragma omp parallel for
  for (std::int64_t e = 0; e < count; ++e) {
    put(edges[e].from, edges[e].to);
    if (both) put(edges[e].to, edges[e].from);
  }
  std::vector<Edge>().swap(edges);
  std::vector<std::int64_t>().swap(next);

  sort_rows(offsets, columns);
  std::vector<double> ones(columns.size(), 1.0);
  return Csr<double>(n, n, std::move(offsets), std::move(columns), std::move(ones));
}

}  // namespace

Csr<double> erdos_renyi(std::int64_t n, std::int64_t degree, std::uint64_t seed) {
  // Between the edges of a vertex to later ones lie gaps of geometric length (Batagelj and Brandes,
  // 2005).
  const double p = static_cast<double>(degree) / static_cast<double>(n - 1);
  const double log_miss = portable_log(1 - p);
  const auto visit_later = [&](std::int64_t i, auto visitor) {
    Random random(seed, i);
    std::int64_t j = i;
    while (true) {
      j += 1 + static_cast<std::int64_t>(portable_log(1 - random.uniform()) / log_miss);
      if (j >= n) return;
      visitor(j);
    }
  };

  std::vector<std::int64_t> first(n + 1);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < n; ++i) visit_later(i, [&](std::int64_t) { ++first[i + 1]; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Edge> edges(first[n]);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < n; ++i)
    visit_later(i, [&, e = first[i]](std::int64_t j) mutable {
      edges[e++] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
    });
  return adjacency(n, std::move(edges), Direction::both_ways);
}

Csr<double> watts_strogatz(std::int64_t n, std::int64_t degree, std::uint64_t seed) {
  constexpr double rewiring_probability = 0.1;
  const std::int64_t half = degree / 2;
  std::vector<Edge> edges(n * half);
#pragma omp parallel for schedule(dynamic, 1024)
  for (std::int64_t i = 0; i < n; ++i) {
    Random random(seed, i);
    Edge* mine = edges.data() + i * half;
    const auto taken = [&](std::int64_t j, std::int64_t k) {
      const std::int64_t distance = (j - i + n) % n;
      return std::min(distance, n - distance) <= half ||
             std::any_of(mine, mine + k, [&](const Edge& edge) { return edge.to == j; });
    };
    for (std::int64_t k = 0; k < half; ++k) {
      std::int64_t to = (i + k + 1) % n;  // taken, since a ring neighbour
      const bool rewired = random.uniform() < rewiring_probability;
      while (rewired && taken(to, k)) to = random.below(n);
      mine[k] = {static_cast<std::int32_t>(i), static_cast<std::int32_t>(to)};
    }
  }
  return adjacency(n, std::move(edges), Direction::both_ways);
}

Csr<double> barabasi_albert(std::int64_t n, std::int64_t degree, std::uint64_t seed) {
  const std::int64_t m = degree / 2;
  std::vector<Edge> edges;
  edges.reserve(m * (m + 1) / 2 + (n - m - 1) * m);
  for (std::int32_t i = 0; i <= m; ++i)
    for (std::int32_t j = 0; j < i; ++j) edges.push_back({i, j});

  Random random(seed, 0);
  for (auto i = static_cast<std::int32_t>(m + 1); i < n; ++i) {
    // A vertex is an end of as many edges as its degree, so a random end is a vertex in proportion.
    const std::int64_t old = std::ssize(edges);
    while (std::ssize(edges) < old + m) {
      const double end = random.uniform() * static_cast<double>(2 * old);
      const auto drawn = static_cast<std::int64_t>(end);
      const std::int32_t to = drawn % 2 == 0 ? edges[drawn / 2].from : edges[drawn / 2].to;
      if (std::none_of(edges.begin() + old, edges.end(),
                       [&](const Edge& edge) { return edge.to == to; }))
        edges.push_back({i, to});
    }
  }
  return adjacency(n, std::move(edges), Direction::both_ways);
}

Csr<double> rmat(std::int64_t scale, std::int64_t degree, std::uint64_t seed) {
  constexpr double a = 0.57, b = 0.19, c = 0.19;
  const std::int64_t n = std::int64_t{1} << scale;
  std::vector<Edge> edges(n * degree);
#pragma omp parallel for
  for (std::int64_t e = 0; e < std::ssize(edges); ++e) {
    Random random(seed, e);
    std::int32_t from = 0, to = 0;
    for (std::int64_t level = 0; level < scale; ++level) {
      const double u = random.uniform();
      const int quadrant = (u >= a) + (u >= a + b) + (u >= a + b + c);
      from = 2 * from + quadrant / 2;
      to = 2 * to + quadrant % 2;
    }
    edges[e] = {from, to};
  }
  return adjacency(n, std::move(edges), Direction::one_way);
}

Csr<double> laplacian(const Csr<double>& adjacency) {
  const auto length = [&](std::int64_t i) { return adjacency.row_nnz(i) + 1; };
  const auto fill = [&](std::int64_t i, std::int32_t* columns, double* values) {
    const auto row = adjacency.columns().subspan(adjacency.offsets()[i], adjacency.row_nnz(i));
    const auto later = std::lower_bound(row.begin(), row.end(), i);
    columns = std::copy(row.begin(), later, columns);
    *columns++ = static_cast<std::int32_t>(i);
    std::copy(later, row.end(), columns);
    std::fill_n(values, row.size() + 1, -1.0);
    values[later - row.begin()] = static_cast<double>(row.size());
  };
  return build_rows({adjacency.rows(), length, fill});
}

}  // namespace tansolve::detail
