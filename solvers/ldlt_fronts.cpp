// SPDX-License-Identifier: BSD-3-Clause
// The tree of the elimination, the lengths of columns, the fronts and their rows.
#include <tansolve/solvers/ldlt_fronts.hpp>
#include <tansolve/solvers/minimum_degree.hpp>

#include <algorithm>
#include <utility>

namespace tansolve::detail {
namespace {

using Indices = std::vector<std::int32_t>;

Indices inverse(const Indices& order) {
  Indices place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
  return place;
}

/// What lies left of the diagonal in each row of the reordered matrix.
struct Lower {
  Lower(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
        const Indices& order, const Indices& place)
      : begin(order.size() + 1) {
    entries.reserve(columns.size() / 2);
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (std::int64_t e = offsets[order[k]]; e < offsets[order[k] + 1]; ++e)
        if (const std::int32_t i = place[columns[e]]; i < static_cast<std::int32_t>(k))
          entries.push_back(i);
      begin[k + 1] = static_cast<std::int64_t>(entries.size());
    }
  }
  std::span<const std::int32_t> row(std::int64_t k) const {
    return std::span(entries).subspan(begin[k], begin[k + 1] - begin[k]);
  }
  std::vector<std::int64_t> begin;
  Indices entries;
};

/// The row of the first nonzero below the diagonal of each column of L; -1 for none.
Indices elimination_tree(const Lower& lower, std::int64_t n) {
  Indices parent(n, -1), ancestor(n, -1);
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int32_t i : lower.row(k))
      while (i != -1 && i < k) {
        const std::int32_t next = std::exchange(ancestor[i], static_cast<std::int32_t>(k));
        if (next == -1) parent[i] = static_cast<std::int32_t>(k);
        i = next;
      }
  return parent;
}

/// Children before parents, every subtree in one piece.
Indices postorder(const Indices& parent) {
  const auto n = static_cast<std::int32_t>(parent.size());
  Indices child(n, -1), sibling(n, -1), post, path;
  post.reserve(n);
  for (std::int32_t j = n - 1; j >= 0; --j)
    if (parent[j] != -1) sibling[j] = std::exchange(child[parent[j]], j);
  for (std::int32_t root = 0; root < n; ++root) {
    if (parent[root] != -1) continue;
    path.push_back(root);
    while (!path.empty()) {
      const std::int32_t j = path.back();
      if (child[j] != -1) {
        path.push_back(std::exchange(child[j], sibling[child[j]]));
      } else {
        post.push_back(j);
        path.pop_back();
      }
    }
  }
  return post;
}

/// Of L with its diagonal: row k of it holds the paths in the tree from the entries of A to k.
/// None: `go_on` said no.
std::vector<std::int64_t> column_lengths(const Lower& lower, const Indices& parent,
                                         const std::function<bool()>& go_on) {
  std::vector<std::int64_t> lengths(parent.size(), 1);
  Indices seen(parent.size(), -1);
  for (std::int32_t k = 0; k < std::ssize(parent); ++k) {
    if (!go_on()) return {};
    seen[k] = k;
    for (std::int32_t i : lower.row(k))
      for (; seen[i] != k; i = parent[i]) {
        seen[i] = k;
        ++lengths[i];
      }
  }
  return lengths;
}

struct Front {
  std::int64_t first, width, height, nonzeros;
  std::int64_t stored() const { return width * height - width * (width - 1) / 2; }
};

/// The share of zeros that a front of so many columns may have for being one: what they cost is
/// less than what many small fronts do.
double zeros_taken(std::int64_t width) {
  return width <= 4 ? 1 : width <= 16 ? 0.6 : width <= 48 ? 0.1 : 0.05;
}

std::vector<Front> find_fronts(const Indices& parent, const std::vector<std::int64_t>& lengths) {
  std::vector<Front> alike;  // columns of one pattern, but for the diagonal block
  for (std::int64_t j = 0; j < std::ssize(parent); ++j) {
    if (j > 0 && parent[j - 1] == j && lengths[j - 1] == lengths[j] + 1) {
      ++alike.back().width;
      alike.back().nonzeros += lengths[j];
    } else {
      alike.push_back({j, 1, lengths[j], lengths[j]});
    }
  }
  std::vector<Front> fronts;
  for (Front front : alike) {
    while (!fronts.empty()) {
      const Front& before = fronts.back();
      const std::int64_t above = parent[front.first - 1];  // of its last column
      if (above < front.first || above >= front.first + front.width) break;
      const Front both{before.first, before.width + front.width, before.width + front.height,
                       before.nonzeros + front.nonzeros};
      const auto stored = static_cast<double>(both.stored());
      if (stored - static_cast<double>(both.nonzeros) > zeros_taken(both.width) * stored) break;
      front = both;
      fronts.pop_back();
    }
    fronts.push_back(front);
  }
  return fronts;
}

/// rows and row_begin: the rows of A's columns and of what children leave.
void find_rows(const Lower& lower, LdltFronts& fronts) {
  const auto n = static_cast<std::int64_t>(fronts.order.size());
  std::vector<std::vector<std::int32_t>> rows(fronts.count());
  std::vector<std::int64_t> front_of(n);
  for (std::int64_t s = 0; s < fronts.count(); ++s)
    for (std::int64_t j = fronts.first[s]; j < fronts.first[s + 1]; ++j) {
      front_of[j] = s;
      rows[s].push_back(static_cast<std::int32_t>(j));
    }
  Indices seen(fronts.count(), -1);  // the row of A that was added last
  for (std::int32_t k = 0; k < n; ++k)
    for (const std::int32_t i : lower.row(k))
      if (const std::int64_t s = front_of[i]; s != front_of[k] && std::exchange(seen[s], k) != k)
        rows[s].push_back(k);
  fronts.parent.assign(fronts.count(), fronts.count());
  fronts.row_begin.assign(1, 0);
  for (std::int64_t s = 0; s < fronts.count(); ++s) {
    std::ranges::sort(rows[s]);
    rows[s].erase(std::ranges::unique(rows[s]).begin(), rows[s].end());
    fronts.rows.insert(fronts.rows.end(), rows[s].begin(), rows[s].end());
    fronts.row_begin.push_back(static_cast<std::int64_t>(fronts.rows.size()));
    if (fronts.height(s) == fronts.width(s)) continue;
    const std::int64_t p = front_of[rows[s][fronts.width(s)]];
    fronts.parent[s] = p;
    const auto inherits = [&](std::int32_t row) { return row >= fronts.first[p + 1]; };
    std::copy_if(rows[s].begin(), rows[s].end(), std::back_inserter(rows[p]), inherits);
    rows[s] = {};
  }
}

/// value_begin, and what all of it takes.
void count_costs(LdltFronts& fronts) {
  fronts.value_begin.assign(1, 0);
  std::int64_t waiting = 0, most = 0;  // elements of what is left of fronts
  std::vector<std::int64_t> below(fronts.count() + 1);
  for (std::int64_t s = 0; s < fronts.count(); ++s) {
    const std::int64_t width = fronts.width(s), height = fronts.height(s), rest = height - width;
    fronts.value_begin.push_back(fronts.value_begin.back() + width * height);
    most = std::max(most, waiting + rest * rest + rest * width);
    waiting += rest * rest - below[s];
    below[fronts.parent[s]] += rest * rest;
    for (std::int64_t j = 0; j < width; ++j)
      fronts.flops += static_cast<double>(height - j) * static_cast<double>(height - j);
  }
  fronts.bytes = 8 * (fronts.value_begin.back() + most) +
                 4 * static_cast<std::int64_t>(fronts.rows.size() + 4 * fronts.order.size());
}

}  // namespace

LdltFronts::LdltFronts(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                       const std::function<bool()>& go_on) {
  const std::int64_t n = std::ssize(offsets) - 1;
  order = minimum_degree(offsets, columns, go_on);
  if (std::ssize(order) < n) return;
  place = inverse(order);
  const Indices post = postorder(elimination_tree(Lower(offsets, columns, order, place), n));
  Indices reordered(n);
  for (std::int64_t k = 0; k < n; ++k) reordered[k] = order[post[k]];
  order = std::move(reordered);
  place = inverse(order);
  const Lower lower(offsets, columns, order, place);
  const Indices tree = elimination_tree(lower, n);
  const auto lengths = column_lengths(lower, tree, go_on);
  if (std::ssize(lengths) < n) return;
  for (const Front& front : find_fronts(tree, lengths)) {
    first.push_back(front.first);
    nonzeros += front.nonzeros;
  }
  parent.resize(first.size());
  first.push_back(n);
  find_rows(lower, *this);
  count_costs(*this);
  complete = true;
}

}  // namespace tansolve::detail
