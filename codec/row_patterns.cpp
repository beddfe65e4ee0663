// SPDX-License-Identifier: BSD-3-Clause
// Rows to patterns by hashing, but by comparison where a row repeats one shortly before.
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/repeats.hpp>
#include <tansolve/codec/row_patterns.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace tansolve {
namespace {

/// A row as patterns see it: `values` and `negative` as the kind wants them, else null.
template <class T>
struct Row {
  const std::uint32_t* offsets;
  const T* values;
  const std::uint8_t* negative;
  std::uint32_t length;

  std::uint64_t hash() const {
    std::uint64_t sum = length;
    const auto mix = [&](std::uint64_t part) {
      sum = (sum ^ part) * 0x9e3779b97f4a7c15u;  // the golden ratio's bits
      sum ^= sum >> 32;
    };
    for (std::uint32_t k = 0; k < length; ++k) {
      const std::uint64_t sign = negative != nullptr ? std::uint64_t{negative[k]} << 32 : 0;
      mix(offsets[k] | sign);
      if (values != nullptr) mix(value_bits(values[k]));
    }
    return sum;
  }
};

/// Patterns in the order of their first rows, and a table of them, at most half full.
template <class T>
class PatternSet {
 public:
  explicit PatternSet(PatternKind kind) : kind_(kind) { patterns_.starts = {0}; }

  const RowPatterns<T>& patterns() const { return patterns_; }
  RowPatterns<T> take() { return std::move(patterns_); }

  bool equals(std::uint32_t p, const Row<T>& row) const {
    const std::size_t at = patterns_.starts[p];
    const auto same = [&](const auto& of_patterns, const auto* of_row) {
      return std::memcmp(of_patterns.data() + at, of_row, row.length * sizeof *of_row) == 0;
    };
    if (patterns_.length(p) != row.length) return false;
    return row.length == 0 ||
           (same(patterns_.offsets, row.offsets) &&
            (kind_ != PatternKind::values || same(patterns_.values, row.values)) &&
            (kind_ != PatternKind::signs || same(patterns_.negative, row.negative)));
  }

  std::uint32_t find_or_add(const Row<T>& row) {
    std::size_t i = row.hash() >> shift_;
    for (; table_[i] != 0; i = (i + 1) & (table_.size() - 1))
      if (equals(table_[i] - 1, row)) return table_[i] - 1;
    const auto p = static_cast<std::uint32_t>(patterns_.count());
    append(row);
    table_[i] = p + 1;
    if (2 * (std::size_t{p} + 1) > table_.size()) grow();
    return p;
  }

  Row<T> row(std::uint32_t p) const {
    const std::size_t at = patterns_.starts[p];
    return {patterns_.offsets.data() + at,
            kind_ == PatternKind::values ? patterns_.values.data() + at : nullptr,
            kind_ == PatternKind::signs ? patterns_.negative.data() + at : nullptr,
            patterns_.length(p)};
  }

 private:
  void append(const Row<T>& row) {
    patterns_.offsets.insert(patterns_.offsets.end(), row.offsets, row.offsets + row.length);
    if (kind_ == PatternKind::values)
      patterns_.values.insert(patterns_.values.end(), row.values, row.values + row.length);
    if (kind_ == PatternKind::signs)
      patterns_.negative.insert(patterns_.negative.end(), row.negative, row.negative + row.length);
    patterns_.starts.push_back(static_cast<std::uint32_t>(patterns_.offsets.size()));
  }

  void grow() {
    table_.assign(2 * table_.size(), 0);
    --shift_;
    for (std::uint32_t p = 0; p < patterns_.count(); ++p) {
      std::size_t i = row(p).hash() >> shift_;
      while (table_[i] != 0) i = (i + 1) & (table_.size() - 1);
      table_[i] = p + 1;
    }
  }

  PatternKind kind_;
  RowPatterns<T> patterns_;
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64);
  int shift_ = 58;  ///< 64 - log2(table_.size())
};

/// Rows of the matrix as Row, one at a time.
template <class T>
class RowViews {
 public:
  RowViews(const Csr<T>& matrix, PatternKind kind) : matrix_(matrix), kind_(kind) {}

  Row<T> operator()(std::int64_t row) {
    const std::int64_t first = matrix_.offsets()[row], length = matrix_.row_nnz(row);
    const std::int32_t* columns = matrix_.columns().data() + first;
    const T* values = matrix_.values().data() + first;
    offsets_.resize(length);
    for (std::int64_t k = 0; k < length; ++k)
      offsets_[k] = static_cast<std::uint32_t>(columns[k]) - static_cast<std::uint32_t>(row);
    if (kind_ == PatternKind::signs) {
      negative_.resize(length);
      for (std::int64_t k = 0; k < length; ++k)
        negative_[k] = static_cast<std::uint8_t>(value_bits(values[k]) >> (8 * sizeof(T) - 1));
    }
    return {offsets_.data(), kind_ == PatternKind::values ? values : nullptr,
            kind_ == PatternKind::signs ? negative_.data() : nullptr,
            static_cast<std::uint32_t>(length)};
  }

 private:
  const Csr<T>& matrix_;
  PatternKind kind_;
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint8_t> negative_;
};

constexpr std::int64_t task_rows = 1 << 15;
constexpr std::int64_t most_entries = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template <class T>
std::optional<PatternsOfRows<T>> find_patterns(const Csr<T>& matrix, PatternKind kind,
                                               std::int64_t limit, int threads) {
  const std::int64_t tasks = (matrix.rows() + task_rows - 1) / task_rows;
  // Even a row that repeats none before compares with one.
  const std::int64_t distance = std::max<std::int64_t>(detail::repeat_distance(matrix), 1);
  std::vector<std::uint32_t> rows(matrix.rows());
  std::vector<PatternSet<T>> sets(tasks, PatternSet<T>(kind));
  std::atomic<bool> too_many = false;
  const auto within = [&](const PatternSet<T>& set) {
    return set.patterns().count() <= limit && std::ssize(set.patterns().offsets) <= most_entries;
  };
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    RowViews<T> views(matrix, kind);
    const std::int64_t begin = t * task_rows, end = std::min(begin + task_rows, matrix.rows());
    for (std::int64_t row = begin; row < end && !too_many; ++row) {
      const Row<T> view = views(row);
      const bool repeats = row - distance >= begin && sets[t].equals(rows[row - distance], view);
      rows[row] = repeats ? rows[row - distance] : sets[t].find_or_add(view);
      if (!repeats && !within(sets[t])) too_many = true;
    }
  });
  if (too_many) return {};

  PatternSet<T> all(kind);
  std::vector<std::vector<std::uint32_t>> numbers(tasks);
  for (std::int64_t t = 0; t < tasks; ++t) {
    for (std::uint32_t p = 0; p < sets[t].patterns().count(); ++p)
      numbers[t].push_back(all.find_or_add(sets[t].row(p)));
    sets[t] = PatternSet<T>(kind);
    if (!within(all)) return {};
  }
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    for (std::int64_t row = t * task_rows; row < std::min((t + 1) * task_rows, matrix.rows());
         ++row)
      rows[row] = numbers[t][rows[row]];
  });
  return PatternsOfRows<T>{all.take(), std::move(rows)};
}

template std::optional<PatternsOfRows<double>> find_patterns(const Csr<double>&, PatternKind,
                                                             std::int64_t, int);
template std::optional<PatternsOfRows<float>> find_patterns(const Csr<float>&, PatternKind,
                                                            std::int64_t, int);

}  // namespace tansolve
