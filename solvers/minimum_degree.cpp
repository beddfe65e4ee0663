// SPDX-License-Identifier: BSD-3-Clause
// Approximate minimum degree on the quotient graph.
#include <tansolve/solvers/minimum_degree.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tansolve::detail {
namespace {

using Indices = std::vector<std::int32_t>;
constexpr std::int32_t none = -1;

/// Rows by degree, each list last in, first out.
class DegreeLists {
 public:
  explicit DegreeLists(std::int32_t n) : head_(n, none), next_(n, none), previous_(n, none) {}

  void insert(std::int32_t row, std::int32_t degree) {
    next_[row] = head_[degree];
    previous_[row] = none;
    if (next_[row] != none) previous_[next_[row]] = row;
    head_[degree] = row;
    least_ = std::min(least_, degree);
  }
  void remove(std::int32_t row, std::int32_t degree) {
    if (next_[row] != none) previous_[next_[row]] = previous_[row];
    (previous_[row] != none ? next_[previous_[row]] : head_[degree]) = next_[row];
  }
  /// One of the least degree; there must be one.
  std::int32_t first() {
    while (head_[least_] == none) ++least_;
    return head_[least_];
  }

 private:
  Indices head_, next_, previous_;
  std::int32_t least_ = 0;
};

/// A row that is left has neighbours of two kinds: rows, and elements. An element is a pivot that
/// was eliminated, and stands for the clique of its rows. Rows with the same neighbours are one,
/// of their common weight; an element keeps those that were absorbed, of weight 0, in its list.
class QuotientGraph {
 public:
  QuotientGraph(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns);
  Indices order(const std::function<bool()>& go_on);

 private:
  void eliminate(std::int32_t pivot);
  void form_element(std::int32_t pivot);
  void measure_overlaps(std::int32_t pivot);
  void update_row(std::int32_t row, std::int32_t pivot);
  void merge_alike(std::int32_t pivot);
  bool alike(std::int32_t one, std::int32_t other);
  void absorb(std::int32_t row, std::int32_t into);
  void take(std::int32_t row);
  static void release(Indices& list) { Indices().swap(list); }
  std::int32_t weight_of(const Indices& rows) const;

  std::int32_t n_, left_;           // rows, and the weight of those that are not eliminated
  std::vector<Indices> rows_;       // beside a row; of an element those in its clique
  std::vector<Indices> elements_;   // beside a row
  Indices weight_, degree_, size_;  // size: of an element's clique, by weight
  Indices follower_, last_;         // rows that are eliminated together with one
  std::vector<bool> element_;       // whether it is an element that is not absorbed
  std::vector<std::int64_t> seen_, measured_;
  std::int64_t stamp_ = 0;
  Indices outside_;  // of an element's clique outside the pivot's, by weight
  DegreeLists lists_;
  Indices order_;
};

/// Rows beside more than ten times the root of all, which would be in every clique, come last.
QuotientGraph::QuotientGraph(std::span<const std::int64_t> offsets,
                             std::span<const std::int32_t> columns)
    : n_(static_cast<std::int32_t>(offsets.size()) - 1),
      left_(n_),
      rows_(n_),
      elements_(n_),
      weight_(n_, 1),
      degree_(n_),
      size_(n_),
      follower_(n_, none),
      last_(n_),
      element_(n_),
      seen_(n_),
      measured_(n_),
      outside_(n_),
      lists_(n_) {
  std::iota(last_.begin(), last_.end(), 0);
  order_.reserve(n_);
  const double most = std::max(16.0, 10 * std::sqrt(static_cast<double>(n_)));
  const auto dense = [&](std::int32_t i) {
    return static_cast<double>(offsets[i + 1] - offsets[i]) > most;
  };
  std::vector<bool> is_dense(n_);
  for (std::int32_t i = 0; i < n_; ++i) is_dense[i] = dense(i);
  for (std::int32_t i = 0; i < n_; ++i) {
    if (is_dense[i]) {
      weight_[i] = 0;
      --left_;
      continue;
    }
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
      if (columns[k] != i && !is_dense[columns[k]]) rows_[i].push_back(columns[k]);
    degree_[i] = static_cast<std::int32_t>(rows_[i].size());
    lists_.insert(i, degree_[i]);
  }
}

Indices QuotientGraph::order(const std::function<bool()>& go_on) {
  while (left_ > 0) {
    if (!go_on()) return {};
    eliminate(lists_.first());
  }
  std::vector<bool> placed(n_);
  for (const std::int32_t i : order_) placed[i] = true;
  for (std::int32_t i = 0; i < n_; ++i)
    if (!placed[i]) order_.push_back(i);
  return std::move(order_);
}

void QuotientGraph::eliminate(std::int32_t pivot) {
  lists_.remove(pivot, degree_[pivot]);
  form_element(pivot);
  measure_overlaps(pivot);
  for (const std::int32_t row : rows_[pivot]) update_row(row, pivot);
  merge_alike(pivot);
  take(pivot);
  std::erase_if(rows_[pivot], [this](std::int32_t row) { return weight_[row] == 0; });
  size_[pivot] = weight_of(rows_[pivot]);
  for (const std::int32_t row : rows_[pivot]) {
    degree_[row] = std::min(degree_[row] + size_[pivot], left_) - weight_[row];
    lists_.insert(row, degree_[row]);
  }
  element_[pivot] = !rows_[pivot].empty();
}

std::int32_t QuotientGraph::weight_of(const Indices& rows) const {
  std::int32_t sum = 0;
  for (const std::int32_t row : rows) sum += weight_[row];
  return sum;
}

/// Its clique: all rows beside it, and beside the elements beside it, which it absorbs.
void QuotientGraph::form_element(std::int32_t pivot) {
  ++stamp_;
  seen_[pivot] = stamp_;
  Indices clique;
  const auto add = [&](const Indices& rows) {
    for (const std::int32_t row : rows)
      if (weight_[row] > 0 && std::exchange(seen_[row], stamp_) != stamp_) clique.push_back(row);
  };
  add(rows_[pivot]);
  for (const std::int32_t e : elements_[pivot]) {
    add(rows_[e]);
    element_[e] = false;
    release(rows_[e]);
  }
  release(elements_[pivot]);
  rows_[pivot] = std::move(clique);
}

/// outside_: what elements beside the pivot's clique have outside it.
void QuotientGraph::measure_overlaps(std::int32_t pivot) {
  for (const std::int32_t row : rows_[pivot])
    for (const std::int32_t e : elements_[row]) {
      if (!element_[e]) continue;
      if (std::exchange(measured_[e], stamp_) != stamp_) outside_[e] = size_[e];
      outside_[e] -= weight_[row];
    }
}

/// The neighbours of a row of the pivot's clique, and a bound of its degree outside it. Elements
/// with nothing outside are absorbed, and a row without other neighbours is eliminated at once.
void QuotientGraph::update_row(std::int32_t row, std::int32_t pivot) {
  lists_.remove(row, degree_[row]);
  const auto absorbed = [&](std::int32_t e) {
    if (element_[e] && outside_[e] == 0) {
      element_[e] = false;
      release(rows_[e]);
    }
    return !element_[e];
  };
  std::erase_if(elements_[row], absorbed);
  const auto covered = [&](std::int32_t other) {  // by the clique, or absorbed
    return weight_[other] == 0 || seen_[other] == stamp_;
  };
  std::erase_if(rows_[row], covered);
  std::int64_t beyond = weight_of(rows_[row]);
  for (const std::int32_t e : elements_[row]) beyond += outside_[e];
  if (elements_[row].empty() && rows_[row].empty()) return absorb(row, pivot);
  degree_[row] = static_cast<std::int32_t>(std::min<std::int64_t>(degree_[row], beyond));
  elements_[row].push_back(pivot);
}

/// Of rows of the clique with the same neighbours all but one.
void QuotientGraph::merge_alike(std::int32_t pivot) {
  std::unordered_map<std::uint64_t, Indices> alike_rows;
  for (const std::int32_t row : rows_[pivot]) {
    if (weight_[row] == 0) continue;
    std::uint64_t sum = 0;  // any order of the neighbours gives the same
    for (const std::int32_t other : rows_[row]) sum += static_cast<std::uint64_t>(other) + 1;
    for (const std::int32_t e : elements_[row]) sum += static_cast<std::uint64_t>(e) + 1;
    Indices& candidates = alike_rows[sum];
    const auto same = [&](std::int32_t other) { return alike(other, row); };
    const auto found = std::ranges::find_if(candidates, same);
    if (found == candidates.end())
      candidates.push_back(row);
    else
      absorb(row, *found);
  }
}

bool QuotientGraph::alike(std::int32_t one, std::int32_t other) {
  if (rows_[one].size() != rows_[other].size() || elements_[one].size() != elements_[other].size())
    return false;
  ++stamp_;
  for (const Indices* list : {&rows_[one], &elements_[one]})
    for (const std::int32_t k : *list) seen_[k] = stamp_;
  const auto shared = [this](std::int32_t k) { return seen_[k] == stamp_; };
  return std::ranges::all_of(rows_[other], shared) && std::ranges::all_of(elements_[other], shared);
}

void QuotientGraph::absorb(std::int32_t row, std::int32_t into) {
  weight_[into] += std::exchange(weight_[row], 0);
  follower_[last_[into]] = row;
  last_[into] = last_[row];
  release(rows_[row]);
  release(elements_[row]);
}

void QuotientGraph::take(std::int32_t row) {
  left_ -= std::exchange(weight_[row], 0);
  for (std::int32_t i = row; i != none; i = follower_[i]) order_.push_back(i);
}

}  // namespace

Indices minimum_degree(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                       const std::function<bool()>& go_on) {
  return QuotientGraph(offsets, columns).order(go_on);
}

}  // namespace tansolve::detail
