// SPDX-License-Identifier: BSD-3-Clause
// Rigid-body modes; the orthonormal bases of candidates in aggregates.
#include <tansolve/codec/error.hpp>
#include <tansolve/preconditioners/near_null_space.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

/// What is left of a candidate in an aggregate, relative to all of it there, below which it depends
/// on the others: far above rounding, far below the size of an aggregate in a body of 10^9 nodes.
constexpr double dependent = 1e-10;

/// The rows of all aggregates, one after another.
struct Members {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> rows;
};

Members members(const detail::Aggregates& aggregates, const detail::Nodes& nodes) {
  Members result{std::vector<std::int64_t>(aggregates.count + 1), {}};
  const auto each = [&](auto visit) {
    for (std::int64_t i = 0; i < nodes.count(); ++i)
      if (const std::int32_t a = aggregates.of_node[i]; a >= 0)
        for (std::int32_t row = nodes.begin[i]; row < nodes.begin[i + 1]; ++row) visit(a, row);
  };
  each([&](std::int32_t a, std::int32_t) { ++result.begin[a + 1]; });
  for (std::int32_t a = 0; a < aggregates.count; ++a) result.begin[a + 1] += result.begin[a];
  result.rows.resize(result.begin.back());
  std::vector<std::int64_t> next(result.begin.begin(), result.begin.end() - 1);
  each([&](std::int32_t a, std::int32_t row) { result.rows[next[a]++] = row; });
  return result;
}

/// The rows of an aggregate of the candidates as Q R.
struct LocalBasis {
  std::vector<std::vector<double>> q;  ///< columns
  std::vector<double> r;               ///< a row a column of Q, with `candidates` elements each
};

LocalBasis local_basis(const Dense& candidates, std::span<const std::int32_t> rows) {
  LocalBasis basis;
  std::vector<std::vector<double>> coefficients;  // of each candidate
  const auto norm = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  };
  for (std::int64_t c = 0; c < candidates.cols; ++c) {
    std::vector<double> v;
    for (const std::int32_t row : rows) v.push_back(candidates.values[row + c * candidates.rows]);
    const double before = norm(v);
    auto& h = coefficients.emplace_back(basis.q.size());
    for (int repeat = 0; repeat < 2; ++repeat)
      for (std::size_t j = 0; j < basis.q.size(); ++j) {
        double dot = 0;
        for (std::size_t i = 0; i < v.size(); ++i) dot += basis.q[j][i] * v[i];
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= dot * basis.q[j][i];
        h[j] += dot;
      }
    const double left = norm(v);
    if (!(left > dependent * before)) continue;
    for (double& x : v) x /= left;
    h.push_back(left);
    basis.q.push_back(std::move(v));
  }
  for (std::size_t j = 0; j < basis.q.size(); ++j)
    for (const auto& h : coefficients) basis.r.push_back(j < h.size() ? h[j] : 0);
  return basis;
}

}  // namespace

Dense rigid_body_modes(const Dense& coordinates) {
  const std::int64_t n = coordinates.rows, d = coordinates.cols;
  if (d != 2 && d != 3)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("rigid-body modes: coordinates of {} dimensions, there must be 2 or 3", d));
  std::vector<double> x = coordinates.values;
  double largest = 0;
  for (std::int64_t c = 0; c < d; ++c) {
    double mean = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += x[i + c * n] / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      x[i + c * n] -= mean;
      largest = std::max(largest, std::abs(x[i + c * n]));
    }
  }
  if (largest > 0)
    for (double& element : x) element /= largest;

  Dense modes = detail::constant_vectors(n * d, static_cast<int>(d));
  // A rotation from axis p to q moves a point by its coordinate p along q and minus q along p.
  for (std::int64_t p = 0; p < d; ++p)
    for (std::int64_t q = p + 1; q < d; ++q) {
      modes.values.resize(modes.values.size() + n * d);
      double* mode = modes.values.data() + modes.rows * modes.cols++;
      for (std::int64_t i = 0; i < n; ++i) {
        mode[i * d + q] = x[i + p * n];
        mode[i * d + p] = -x[i + q * n];
      }
    }
  return modes;
}

namespace detail {

Dense constant_vectors(std::int64_t rows, int unknowns) {
  Dense vectors{rows, unknowns, std::vector<double>(rows * unknowns)};
  for (std::int64_t i = 0; i < rows; ++i) vectors.values[i + i % unknowns * rows] = 1;
  return vectors;
}

Tentative tentative(const Aggregates& aggregates, const Nodes& nodes, const Dense& candidates,
                    int threads) {
  const Members all = members(aggregates, nodes);
  std::vector<LocalBasis> bases(aggregates.count);
  parallel_each(threads, aggregates.count, [&](std::int64_t a) {
    bases[a] = local_basis(
        candidates, std::span(all.rows).subspan(all.begin[a], all.begin[a + 1] - all.begin[a]));
  });
  std::vector<std::int32_t> begin = {0};
  for (const LocalBasis& basis : bases)
    begin.push_back(begin.back() + static_cast<std::int32_t>(basis.q.size()));

  Tentative result{.T = {}, .coarse = {}, .coarse_nodes = Nodes(std::move(begin))};
  const auto& first = result.coarse_nodes.begin;
  const std::int64_t k = candidates.cols, coarse_rows = first.back();
  result.coarse = {coarse_rows, k, std::vector<double>(coarse_rows * k)};
  for (std::int32_t a = 0; a < aggregates.count; ++a)
    for (std::int32_t j = 0; j < first[a + 1] - first[a]; ++j)
      for (std::int64_t c = 0; c < k; ++c)
        result.coarse.values[first[a] + j + c * coarse_rows] = bases[a].r[j * k + c];

  std::vector<std::int64_t> place(candidates.rows, -1);  // of a row among those of its aggregate
  for (std::int32_t a = 0; a < aggregates.count; ++a)
    for (std::int64_t i = all.begin[a]; i < all.begin[a + 1]; ++i)
      place[all.rows[i]] = i - all.begin[a];
  result.T =
      rows_in_parallel(threads, candidates.rows, coarse_rows, [&](std::int64_t row, RowSum& sum) {
        if (place[row] < 0) return;
        const std::int32_t a = aggregates.of_node[nodes.of_row[row]];
        for (std::int32_t j = 0; j < first[a + 1] - first[a]; ++j)
          if (const double q = bases[a].q[j][place[row]]; q != 0) sum.add(first[a] + j, q);
      });
  return result;
}

}  // namespace detail
}  // namespace tansolve
