// SPDX-License-Identifier: BSD-3-Clause
// Rows to patterns by hashing, but by comparison where a row follows the pattern of one shortly
// before.
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/pair_map.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/repeats.hpp>
#include <tansolve/codec/row_patterns.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

namespace tansolve {
namespace {

/// A row of a matrix, or one that stands for a pattern: then its origin is 0, and `negative` tells
/// the signs of values that are not there.
template <class T>
struct Row {
  std::uint32_t origin;
  std::uint32_t length;
  const std::uint32_t* columns;
  const T* values;
  const std::uint8_t* negative = nullptr;

  std::uint32_t offset(std::uint32_t k) const { return columns[k] - origin; }
  std::uint32_t sign(std::uint32_t k) const {
    return negative != nullptr
               ? negative[k]
               : static_cast<std::uint32_t>(value_bits(values[k]) >> (8 * sizeof(T) - 1));
  }
};

template <class T>
Row<T> row_of(const RowBlock<T>& rows, std::int64_t row) {
  return {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(rows.row_nnz(row)),
          reinterpret_cast<const std::uint32_t*>(rows.columns(row)), rows.values(row)};
}

/// Whether two rows of a block follow the same pattern; columns and values are compared with each
/// other, which is faster than with a pattern.
template <class T>
bool alike(const RowBlock<T>& rows, std::int64_t row, std::int64_t earlier, PatternKind kind) {
  if (kind == PatternKind::values) return detail::same_pairs(rows, row, earlier);
  const std::int64_t length = rows.row_nnz(row);
  if (rows.row_nnz(earlier) != length) return false;
  if (!detail::same_offsets(rows, row, earlier)) return false;
  if (kind == PatternKind::columns) return true;
  const T *values = rows.values(row), *earlier_values = rows.values(earlier);
  std::uint64_t bits = 0;
  for (std::int64_t k = 0; k < length; ++k)
    bits |= value_bits(values[k]) ^ value_bits(earlier_values[k]);
  return bits >> (8 * sizeof(T) - 1) == 0;
}

/// Patterns in the order of their first rows, and a table of them, at most half full.
template <class T>
class PatternSet {
 public:
  explicit PatternSet(PatternKind kind) : kind_(kind) { patterns_.starts = {0}; }

  const RowPatterns<T>& patterns() const { return patterns_; }
  RowPatterns<T> take() { return std::move(patterns_); }

  std::uint64_t hash(const Row<T>& row) const {
    std::uint64_t sum = row.length;
    const auto mix = [&](std::uint64_t part) {
      sum = (sum ^ part) * 0x9e3779b97f4a7c15u;  // the golden ratio's bits
      sum ^= sum >> 32;
    };
    for (std::uint32_t k = 0; k < row.length; ++k) {
      const std::uint64_t sign = kind_ == PatternKind::signs ? std::uint64_t{row.sign(k)} << 32 : 0;
      mix(row.offset(k) | sign);
      if (kind_ == PatternKind::values) mix(value_bits(row.values[k]));
    }
    return sum;
  }

  bool follows(const Row<T>& row, std::uint32_t p) const {
    if (patterns_.length(p) != row.length) return false;
    const std::size_t at = patterns_.starts[p];
    const std::uint32_t* offsets = patterns_.offsets.data() + at;
    std::uint32_t differences = 0;
    for (std::uint32_t k = 0; k < row.length; ++k) differences |= row.offset(k) ^ offsets[k];
    if (kind_ == PatternKind::signs)
      for (std::uint32_t k = 0; k < row.length; ++k)
        differences |= row.sign(k) ^ patterns_.negative[at + k];
    if (differences != 0) return false;
    return kind_ != PatternKind::values || row.length == 0 ||
           std::memcmp(patterns_.values.data() + at, row.values, row.length * sizeof(T)) == 0;
  }

  std::uint32_t find_or_add(const Row<T>& row) {
    std::size_t i = hash(row) >> shift_;
    for (; table_[i] != 0; i = (i + 1) & (table_.size() - 1))
      if (follows(row, table_[i] - 1)) return table_[i] - 1;
    const auto p = static_cast<std::uint32_t>(patterns_.count());
    append(row);
    table_[i] = p + 1;
    if (2 * (std::size_t{p} + 1) > table_.size()) grow();
    return p;
  }

  Row<T> row(std::uint32_t p) const {
    const std::size_t at = patterns_.starts[p];
    return {0, patterns_.length(p), patterns_.offsets.data() + at,
            kind_ == PatternKind::values ? patterns_.values.data() + at : nullptr,
            kind_ == PatternKind::signs ? patterns_.negative.data() + at : nullptr};
  }

 private:
  void append(const Row<T>& row) {
    for (std::uint32_t k = 0; k < row.length; ++k) {
      patterns_.offsets.push_back(row.offset(k));
      if (kind_ == PatternKind::signs)
        patterns_.negative.push_back(static_cast<std::uint8_t>(row.sign(k)));
    }
    if (kind_ == PatternKind::values)
      patterns_.values.insert(patterns_.values.end(), row.values, row.values + row.length);
    patterns_.starts.push_back(static_cast<std::uint32_t>(patterns_.offsets.size()));
  }

  void grow() {
    table_.assign(2 * table_.size(), 0);
    --shift_;
    for (std::uint32_t p = 0; p < patterns_.count(); ++p) {
      std::size_t i = hash(row(p)) >> shift_;
      while (table_[i] != 0) i = (i + 1) & (table_.size() - 1);
      table_[i] = p + 1;
    }
  }

  PatternKind kind_;
  RowPatterns<T> patterns_;
  std::vector<std::uint32_t> table_ = std::vector<std::uint32_t>(64);
  int shift_ = 58;  ///< 64 - log2(table_.size())
};

constexpr std::int64_t task_rows = 1 << 14;
constexpr std::int64_t most_entries = std::numeric_limits<std::uint32_t>::max();

/// Joins what tasks found in the order of the tasks, each as soon as those before it are there, so
/// that too many patterns are noticed early and by any number of threads alike.
template <class T>
class Joint {
 public:
  Joint(PatternKind kind, std::int64_t tasks, std::int64_t limit)
      : all_(kind), waiting_(tasks), numbers_(tasks), limit_(limit) {}

  bool too_many() const { return too_many_; }
  bool within(const PatternSet<T>& set) const {
    return set.patterns().count() <= limit_ && std::ssize(set.patterns().offsets) <= most_entries;
  }

  void add(std::int64_t task, PatternSet<T> set) {
    const std::scoped_lock lock(joining_);
    if (!within(set)) too_many_ = true;
    waiting_[task] = std::move(set);
    for (; !too_many_ && next_ < std::ssize(waiting_) && waiting_[next_]; ++next_) {
      for (std::uint32_t p = 0; p < waiting_[next_]->patterns().count(); ++p)
        numbers_[next_].push_back(all_.find_or_add(waiting_[next_]->row(p)));
      waiting_[next_].reset();
      if (!within(all_)) too_many_ = true;
    }
  }

  /// The numbers among all of a task's patterns.
  const std::vector<std::uint32_t>& numbers(std::int64_t task) const { return numbers_[task]; }
  RowPatterns<T> take() { return all_.take(); }

 private:
  PatternSet<T> all_;
  std::vector<std::optional<PatternSet<T>>> waiting_;
  std::vector<std::vector<std::uint32_t>> numbers_;
  const std::int64_t limit_;
  std::int64_t next_ = 0;
  std::atomic<bool> too_many_ = false;
  std::mutex joining_;
};

/// Whether the first rows alone have more patterns than the limit, by their hashes; gives up where
/// they repeat each other.
template <class T>
bool begins_with_too_many(const RowSource<T>& source, PatternKind kind, std::int64_t limit) {
  if (limit >= source.rows()) return false;
  constexpr std::int64_t block_rows = 1 << 12;
  const PatternSet<T> set(kind);
  detail::PairMap seen;
  RowBuffer<T> buffer;
  for (std::int64_t begin = 0; begin < source.rows(); begin += block_rows) {
    const std::int64_t end = std::min(begin + block_rows, source.rows());
    const RowBlock<T> rows = source.block(begin, end, buffer);
    for (std::int64_t row = begin; row < end; ++row) ++seen.count(0, set.hash(row_of(rows, row)));
    const std::int64_t distinct = std::ssize(seen.pairs());
    if (distinct > limit) return true;
    if (distinct < end - end / 4) return false;
  }
  return false;
}

}  // namespace

template <class T>
std::optional<PatternsOfRows<T>> find_patterns(const RowSource<T>& source, PatternKind kind,
                                               std::int64_t limit, int threads) {
  if (begins_with_too_many(source, kind, limit)) return {};
  const std::int64_t tasks = (source.rows() + task_rows - 1) / task_rows;
  const auto end_of = [&](std::int64_t t) { return std::min((t + 1) * task_rows, source.rows()); };
  // Even a row that repeats none before compares with one.
  const std::int64_t distance = std::max<std::int64_t>(detail::repeat_distance(source), 1);
  std::vector<std::uint32_t> numbers(source.rows());
  Joint<T> joint(kind, tasks, limit);
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    if (joint.too_many()) return;
    RowBuffer<T> buffer;
    const RowBlock<T> rows = source.block(t * task_rows, end_of(t), buffer);
    PatternSet<T> set(kind);
    for (std::int64_t row = rows.begin(); row < rows.end(); ++row) {
      if (row - distance >= rows.begin() && alike(rows, row, row - distance, kind)) {
        numbers[row] = numbers[row - distance];
        continue;
      }
      numbers[row] = set.find_or_add(row_of(rows, row));
      if (!joint.within(set)) break;
    }
    joint.add(t, std::move(set));
  });
  if (joint.too_many()) return {};
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    for (std::int64_t row = t * task_rows; row < end_of(t); ++row)
      numbers[row] = joint.numbers(t)[numbers[row]];
  });
  return PatternsOfRows<T>{joint.take(), std::move(numbers)};
}

template std::optional<PatternsOfRows<double>> find_patterns(const RowSource<double>&, PatternKind,
                                                             std::int64_t, int);
template std::optional<PatternsOfRows<float>> find_patterns(const RowSource<float>&, PatternKind,
                                                            std::int64_t, int);

}  // namespace tansolve
