// SPDX-License-Identifier: BSD-3-Clause
// Patterns of rows, their small dense systems, and rounding.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/fsai_factor.hpp>
#include <tansolve/preconditioners/mantissa.hpp>

#include <fmt/format.h>
#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

using Columns = std::vector<std::int32_t>;

/// What the rows of the factor are made from; each thread has one of its own.
template <class T>
class RowBuilder {
 public:
  RowBuilder(const Csr<T>& A, const FsaiPattern& pattern, std::span<const T> diagonal)
      : A_(A), pattern_(pattern), diagonal_(diagonal) {}

  /// Computes columns() and values() of row i; false: the submatrix is not positive definite.
  bool build(std::int32_t i) {
    start(i);
    if (!solve()) return false;
    for (int step = 0; step < pattern_.adaptive_steps && extend(); ++step)
      if (!solve()) return false;
    return y_.allFinite();
  }

  const Columns& columns() const { return columns_; }
  double value(std::size_t k) const { return y_[static_cast<Eigen::Index>(k)]; }

 private:
  std::span<const std::int32_t> row_columns(std::int32_t i) const {
    return A_.columns().subspan(A_.offsets()[i], A_.row_nnz(i));
  }

  /// The columns of row i by the power, the last of which is i.
  void start(std::int32_t i) {
    columns_.assign(1, i);
    const auto add_below = [&](std::int32_t row) {
      for (const std::int32_t j : row_columns(row))
        if (j < i) columns_.push_back(j);
    };
    if (pattern_.power >= 1) add_below(i);
    if (pattern_.power >= 2)
      for (const std::int32_t k : row_columns(i)) add_below(k);
    sort_columns();
    if (std::ssize(columns_) > pattern_.most_entries) keep_strongest(i);
  }

  void sort_columns() {
    std::ranges::sort(columns_);
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
  }

  void keep_strongest(std::int32_t i) {
    std::vector<std::pair<double, std::int32_t>> order;  // least strength first, far ones first
    std::size_t at = 0;
    const auto row = row_columns(i);
    for (const std::int32_t j : columns_) {
      while (at < row.size() && row[at] < j) ++at;
      const bool present = at < row.size() && row[at] == j;
      const double a = present ? A_.values()[A_.offsets()[i] + static_cast<std::int64_t>(at)] : 0;
      if (j < i) order.emplace_back(a * a / diagonal_[j], j);
    }
    const auto kept = order.end() - (pattern_.most_entries - 1);
    std::nth_element(order.begin(), kept, order.end());
    columns_.assign(1, i);
    for (auto entry = kept; entry != order.end(); ++entry) columns_.push_back(entry->second);
    sort_columns();
  }

  /// The lower triangle of the submatrix A(J, J), J = columns().
  void gather() {
    const auto m = std::ssize(columns_);
    dense_.setZero(m, m);
    for (std::int64_t p = 0; p < m; ++p) {
      const auto row = row_columns(columns_[p]);
      const T* values = A_.values().data() + A_.offsets()[columns_[p]];
      std::int64_t q = 0;
      for (std::size_t k = 0; k < row.size() && q <= p; ++k) {
        while (q <= p && columns_[q] < row[k]) ++q;
        if (q <= p && columns_[q] == row[k]) dense_(p, q) = values[k];
      }
    }
  }

  /// g with A(J, J) g = e / sqrt(e'A(J, J)^-1 e) for the last unit vector e: with the Cholesky
  /// factor C of A(J, J), C'g = e.
  bool solve() {
    gather();
    cholesky_.compute(dense_);
    if (cholesky_.info() != Eigen::Success) return false;
    y_.setZero(std::ssize(columns_));
    y_[y_.size() - 1] = 1;
    cholesky_.matrixU().solveInPlace(y_);
    return true;
  }

  /// Adds the columns j < i outside of J with the greatest (a_j'g)^2 / a_jj, the squares of the
  /// derivatives of g'A g by the entries of a scaled g; false: there are none.
  bool extend() {
    const std::int32_t i = columns_.back();
    gradient_.clear();
    for (std::size_t p = 0; p < columns_.size(); ++p) {
      const auto row = row_columns(columns_[p]);
      const T* values = A_.values().data() + A_.offsets()[columns_[p]];
      for (std::size_t k = 0; k < row.size() && row[k] < i; ++k)
        gradient_.emplace_back(row[k], values[k] * value(p));
    }
    std::ranges::stable_sort(gradient_, {}, &Term::first);
    std::vector<std::pair<double, std::int32_t>> candidates;
    for (std::size_t k = 0; k < gradient_.size();) {
      const std::int32_t j = gradient_[k].first;
      double sum = 0;
      for (; k < gradient_.size() && gradient_[k].first == j; ++k) sum += gradient_[k].second;
      // Terms that overflow may sum to NaN, which has no place in an order.
      if (std::abs(sum) > 0 && !std::ranges::binary_search(columns_, j))
        candidates.emplace_back(sum * sum / diagonal_[j], j);
    }
    const std::int64_t room = pattern_.most_entries - std::ssize(columns_);
    const std::int64_t count = std::min(
        {std::int64_t{pattern_.adaptive_entries}, room, std::int64_t{std::ssize(candidates)}});
    if (count <= 0) return false;
    std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(),
                      std::greater<>());
    for (std::int64_t k = 0; k < count; ++k) columns_.push_back(candidates[k].second);
    sort_columns();
    return true;
  }

  using Term = std::pair<std::int32_t, double>;

  const Csr<T>& A_;
  const FsaiPattern& pattern_;
  std::span<const T> diagonal_;
  Columns columns_;
  std::vector<Term> gradient_;
  Eigen::MatrixXd dense_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
  Eigen::VectorXd y_;
};

void check(const FsaiPattern& pattern) {
  const auto require = [](bool condition, const char* name, auto value, const char* range) {
    if (!condition)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("fsai: {} is {}, it must be {}", name, value, range));
  };
  require(0 <= pattern.power && pattern.power <= 2, "power", pattern.power, "0, 1 or 2");
  require(pattern.adaptive_steps >= 0, "adaptive_steps", pattern.adaptive_steps, "at least 0");
  require(pattern.adaptive_entries >= 1, "adaptive_entries", pattern.adaptive_entries,
          "at least 1");
  require(pattern.most_entries >= 1, "most_entries", pattern.most_entries, "at least 1");
  require(pattern.mantissa_bits >= 1, "mantissa_bits", pattern.mantissa_bits, "at least 1");
}

/// Consecutive rows of the factor.
template <class T>
struct BuiltRows {
  std::vector<std::int64_t> lengths;
  Columns columns;
  std::vector<T> values;
  std::int64_t refused = 0, first_refused = 0;
};

template <class T>
BuiltRows<T> build_rows(RowBuilder<T> builder, std::int64_t first, std::int64_t last, int bits) {
  BuiltRows<T> rows;
  for (std::int64_t i = first; i < last; ++i) {
    if (!builder.build(static_cast<std::int32_t>(i))) {
      if (rows.refused++ == 0) rows.first_refused = i;
      continue;
    }
    const auto& columns = builder.columns();
    rows.lengths.push_back(std::ssize(columns));
    rows.columns.insert(rows.columns.end(), columns.begin(), columns.end());
    for (std::size_t k = 0; k < columns.size(); ++k)
      rows.values.push_back(static_cast<T>(detail::rounded(builder.value(k), bits)));
  }
  return rows;
}

}  // namespace

template <class T>
Csr<T> fsai_factor(const Csr<T>& A, const FsaiPattern& pattern, int threads) {
  detail::require_square("fsai", "the matrix", A);
  check(pattern);
  const std::vector<T> diagonal = detail::diagonal_of(A);
  detail::require_diagonal<T>("fsai", diagonal, detail::not_positive, detail::is_positive<T>);
  detail::require_finite("fsai", A);

  constexpr std::int64_t rows_a_task = 512;
  const std::int64_t tasks = (A.rows() + rows_a_task - 1) / rows_a_task;
  std::vector<BuiltRows<T>> parts(tasks);
  detail::parallel_tasks(threads, tasks, [&](std::int64_t task) {
    const std::int64_t first = task * rows_a_task;
    parts[task] = build_rows(RowBuilder<T>(A, pattern, diagonal), first,
                             std::min(first + rows_a_task, A.rows()), pattern.mantissa_bits);
  });

  std::vector<std::int64_t> offsets = {0};
  Columns columns;
  std::vector<T> values;
  std::int64_t refused = 0, first_refused = 0;
  for (BuiltRows<T>& part : parts) {
    if (refused == 0) first_refused = part.first_refused;
    refused += part.refused;
    for (const std::int64_t length : part.lengths) offsets.push_back(offsets.back() + length);
    columns.insert(columns.end(), part.columns.begin(), part.columns.end());
    values.insert(values.end(), part.values.begin(), part.values.end());
    part = {};
  }
  if (refused > 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("fsai: {} of {} rows have a principal submatrix that is not positive "
                            "definite or not finite, the first is row {} (counting from 1)",
                            refused, A.rows(), first_refused + 1));
  return Csr<T>(A.rows(), A.cols(), std::move(offsets), std::move(columns), std::move(values));
}

template Csr<double> fsai_factor(const Csr<double>&, const FsaiPattern&, int);
template Csr<float> fsai_factor(const Csr<float>&, const FsaiPattern&, int);

}  // namespace tansolve
