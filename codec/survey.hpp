// SPDX-License-Identifier: BSD-3-Clause
// What planner and encoder have to know of a matrix, each fact found once.
#pragma once

#include <tansolve/codec/arrays.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/row_patterns.hpp>
#include <tansolve/codec/row_source.hpp>
#include <tansolve/codec/value_format.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace tansolve {
namespace detail {
/// The most patterns that are considered for a matrix of so many rows where none are asked for.
std::int64_t most_patterns(std::int64_t rows);
}  // namespace detail

/// Facts of a matrix, searched when they are first asked for. Plan a matrix and encode it with one
/// survey, so that the encoder finds what the planner has found. Facts do not depend on the number
/// of threads. Refers to the source, which must outlive it. Not thread safe.
template <class T>
class Survey {
 public:
  /// `threads`, 0: as many as OpenMP would start. `histogram`, if given, is count_pairs' of this
  /// matrix.
  explicit Survey(const RowSource<T>& source, int threads = 0,
                  std::optional<Histogram> histogram = {})
      : source_(source), threads_(threads), histogram_(std::move(histogram)) {}

  const RowSource<T>& source() const { return source_; }
  int threads() const { return threads_; }

  const Histogram& histogram();
  /// None where there are more than `limit`.
  const PatternsOfRows<T>* patterns(PatternKind kind, std::int64_t limit);
  /// Of coding shapes: with signs, which fields need not hold then, where these leave few patterns.
  /// None where there are more than `limit`, which is to be most_patterns(rows) or more.
  const PatternsOfRows<T>* shapes(std::int64_t limit);
  const ValueFacts<T>& values();
  /// Of coding packed.
  const RowOrder& order();
  const ColumnFormat& columns();

 private:
  struct Search {
    std::int64_t limit = -1;  ///< up to which it was in vain
    std::optional<PatternsOfRows<T>> found;
  };

  const RowSource<T>& source_;
  int threads_;
  std::optional<Histogram> histogram_;
  std::array<Search, 3> patterns_;
  std::optional<ValueFacts<T>> values_;
  std::optional<RowOrder> order_;
  std::optional<ColumnFormat> columns_;
};

}  // namespace tansolve
