// SPDX-License-Identifier: BSD-3-Clause
// Rigid-body modes; the orthonormal bases of candidates in aggregates.
#include <tansolve/codec/error.hpp>
#include <tansolve/preconditioners/near_null_space.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

/// What is left of a candidate in an aggregate, relative to all of it there, below which it depends
/// on the others: far above rounding, far below the size of an aggregate in a body of 10^9 nodes.
constexpr double dependent = 1e-10;

/// The rows of all aggregates, one after another.
struct Members {
  Members(const detail::Aggregates& aggregates, const detail::Nodes& nodes, int threads)
      : places(nodes.of_row.size(), -1) {
    const auto each_row = [&](std::int64_t i, const auto& visit) {
      if (const std::int32_t a = aggregates.of_node[i]; a >= 0)
        for (std::int32_t row = nodes.begin[i]; row < nodes.begin[i + 1]; ++row) visit(a, row);
    };
    detail::Dealing dealing(threads, nodes.count(), aggregates.count,
                            [&](std::int64_t i, const auto& visit) {
                              each_row(i, [&](std::int32_t a, std::int32_t) { visit(a); });
                            });
    begins = dealing.begins();
    rows.resize(begins.back());
    dealing.deal([&](std::int64_t i, const auto& next) {
      each_row(i, [&](std::int32_t a, std::int32_t row) {
        places[row] = next(a);
        rows[places[row]] = row;
      });
    });
  }

  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> places;  ///< of a row in `rows`; -1: in no aggregate
};

double norm(std::span<const double> v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

/// The rows of an aggregate of k candidates as Q R: the columns of Q into `q`, those of R, k apart,
/// into `r`, which is 0. Returns how many columns Q has.
std::int64_t local_basis(const Dense& candidates, std::span<const std::int32_t> rows,
                         std::span<double> q, std::span<double> r) {
  const std::size_t m = rows.size();
  const std::int64_t k = candidates.cols;
  std::int64_t rank = 0;
  for (std::int64_t c = 0; c < k; ++c) {
    const std::span<double> v = q.subspan(rank * m, m);
    for (std::size_t i = 0; i < m; ++i) v[i] = candidates.values[rows[i] + c * candidates.rows];
    const double before = norm(v);
    for (int repeat = 0; repeat < 2; ++repeat)
      for (std::int64_t j = 0; j < rank; ++j) {
        const std::span<const double> other = q.subspan(j * m, m);
        double dot = 0;
        for (std::size_t i = 0; i < m; ++i) dot += other[i] * v[i];
        for (std::size_t i = 0; i < m; ++i) v[i] -= dot * other[i];
        r[j + c * k] += dot;
      }
    const double left = norm(v);
    if (!(left > dependent * before)) continue;
    for (double& x : v) x /= left;
    r[rank++ + c * k] = left;
  }
  return rank;
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
  const Members all(aggregates, nodes, threads);
  const std::int64_t k = candidates.cols, rows = candidates.rows;
  std::vector<double> q(std::ssize(all.rows) * k), r(aggregates.count * k * k);
  std::vector<std::int32_t> begin(aggregates.count + 1);  // of the columns of each aggregate
  const auto size = [&](std::int64_t a) { return all.begins[a + 1] - all.begins[a]; };
  parallel_each(threads, aggregates.count, [&](std::int64_t a) {
    const std::int64_t first = all.begins[a];
    begin[a + 1] = static_cast<std::int32_t>(local_basis(
        candidates, std::span(all.rows).subspan(first, size(a)),
        std::span(q).subspan(first * k, size(a) * k), std::span(r).subspan(a * k * k, k * k)));
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());

  Tentative result{.T = {}, .coarse = {}, .coarse_nodes = Nodes(std::move(begin))};
  const auto& first = result.coarse_nodes.begin;
  const std::int64_t coarse_rows = first.back();
  result.coarse = {coarse_rows, k, std::vector<double>(coarse_rows * k)};
  parallel_each(threads, aggregates.count, [&](std::int64_t a) {
    for (std::int32_t j = 0; j < first[a + 1] - first[a]; ++j)
      for (std::int64_t c = 0; c < k; ++c)
        result.coarse.values[first[a] + j + c * coarse_rows] = r[a * k * k + j + c * k];
  });

  const auto each_entry = [&](std::int64_t row, const auto& visit) {
    if (all.places[row] < 0) return;
    const std::int32_t a = aggregates.of_node[nodes.of_row[row]];
    const std::int64_t begin_of_a = all.begins[a];
    for (std::int32_t j = 0; j < first[a + 1] - first[a]; ++j)
      if (const double e = q[begin_of_a * k + j * size(a) + all.places[row] - begin_of_a]; e != 0)
        visit(first[a] + j, e);
  };
  std::vector<std::int64_t> offsets(rows + 1);
  parallel_each(threads, rows, [&](std::int64_t row) {
    each_entry(row, [&](std::int32_t, double) { ++offsets[row + 1]; });
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<std::int32_t> columns(offsets[rows]);
  std::vector<double> values(offsets[rows]);
  parallel_each(threads, rows, [&](std::int64_t row) {
    std::int64_t at = offsets[row];
    each_entry(row, [&](std::int32_t column, double value) {
      columns[at] = column;
      values[at++] = value;
    });
  });
  result.T =
      Csr<double>(rows, coarse_rows, std::move(offsets), std::move(columns), std::move(values));
  return result;
}

}  // namespace detail
}  // namespace tansolve
