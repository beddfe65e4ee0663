// SPDX-License-Identifier: BSD-3-Clause
// Counting pairs: one hash table a thread, merged and sorted.
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/pair_map.hpp>
#include <tansolve/codec/repeats.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <tuple>
#include <utility>

namespace tansolve {
namespace {

/// Samples, the smaller first. Above one distinct pair in so many of a sample, counting all would
/// keep nearly a pair a nonzero.
struct Sample {
  std::int64_t size;
  std::uint64_t worth_counting;
};
constexpr Sample samples[] = {{std::int64_t{1} << 16, 2}, {std::int64_t{1} << 20, 16}};
constexpr std::int64_t sample_blocks = 256;

using Counts = detail::PairMap;

/// Counts of one thread. Most pairs recur soon or never: what was seen last is counted in a table
/// that stays in the L1 cache, and moves on when another pair takes its place.
class Counter {
 public:
  void add(std::uint32_t delta, std::uint64_t value, std::uint64_t times) {
    PairCount& pair = recent_[Counts::hash(delta, value) >> (64 - recent_bits)];
    if (pair.delta != delta || pair.value != value) {
      move_on(pair);
      pair = {.delta = delta, .value = value, .count = 0};
    }
    pair.count += times;
  }

  Counts& all() {
    for (PairCount& pair : recent_) move_on(pair);
    return all_;
  }

 private:
  static constexpr int recent_bits = 10;  // 24 KiB

  void move_on(PairCount& pair) {
    if (pair.count > 0) all_.count(pair.delta, pair.value) += pair.count;
    pair.count = 0;
  }

  std::vector<PairCount> recent_ = std::vector<PairCount>(std::size_t{1} << recent_bits);
  Counts all_;
};

/// Counts the pairs of one row `times` times.
template <class T>
void count_row(const RowBlock<T>& rows, std::int64_t row, std::uint64_t times, Counter& counter) {
  const std::int32_t* columns = rows.columns(row);
  const T* values = rows.values(row);
  auto previous = static_cast<std::uint32_t>(row);
  for (std::int64_t k = 0; k < rows.row_nnz(row); ++k) {
    const auto column = static_cast<std::uint32_t>(columns[k]);
    counter.add(column - previous, value_bits(values[k]), times);
    previous = column;
  }
}

/// A row that repeats the one `distance` rows before is counted with it; 0: none is compared.
template <class T>
void count_rows(const RowBlock<T>& rows, std::int64_t distance, Counter& counter) {
  if (distance == 0) {
    for (std::int64_t i = rows.begin(); i < rows.end(); ++i) count_row(rows, i, 1, counter);
    return;
  }
  for (std::int64_t first = rows.begin(); first < std::min(rows.begin() + distance, rows.end());
       ++first) {
    std::uint64_t times = 1;
    for (std::int64_t i = first; i < rows.end(); i += distance)
      if (i + distance < rows.end() && detail::same_pairs(rows, i + distance, i)) {
        ++times;
      } else {
        count_row(rows, i, times, counter);
        times = 1;
      }
  }
}

template <class T>
Counts count_ranges(const RowSource<T>& source, std::int64_t distance,
                    const std::vector<detail::RowRange>& ranges, int threads) {
  std::vector<Counter> idle;  // as many as threads were ever at work
  std::mutex handing_over;
  detail::parallel_tasks(threads, std::ssize(ranges), [&](std::int64_t i) {
    Counter own;
    {
      const std::scoped_lock lock(handing_over);
      if (!idle.empty()) {
        own = std::move(idle.back());
        idle.pop_back();
      }
    }
    RowBuffer<T> buffer;
    count_rows(source.block(ranges[i].first, ranges[i].second, buffer), distance, own);
    const std::scoped_lock lock(handing_over);
    idle.push_back(std::move(own));
  });

  Counts all;
  for (Counter& counter : idle) {
    Counts part = std::move(counter.all());
    if (all.pairs().size() < part.pairs().size()) std::swap(all, part);
    for (const auto& [delta, value, count] : part.pairs()) all.count(delta, value) += count;
  }
  return all;
}

std::vector<PairCount> sorted(const Counts& counts) {
  std::vector<PairCount> list = counts.pairs();
  std::sort(list.begin(), list.end(), [](const PairCount& a, const PairCount& b) {
    return std::tie(b.count, a.delta, a.value) < std::tie(a.count, b.delta, b.value);
  });
  return list;
}

}  // namespace

double Histogram::entropy(const std::vector<PairCount>& counts) {
  double total = 0, sum = 0;
  for (const PairCount& pair : counts) total += static_cast<double>(pair.count);
  for (const PairCount& pair : counts) {
    const auto count = static_cast<double>(pair.count);
    sum += count * std::log2(total / count);
  }
  return total == 0 ? 0 : sum / total;
}

template <class T>
Histogram count_pairs(const RowSource<T>& source, int threads) {
  const std::int64_t nnz = source.nnz(), distance = detail::repeat_distance(source);
  Counts counts;
  bool sampled = false;
  for (const auto& [size, worth_counting] : samples) {
    if (sampled || nnz <= 4 * size) break;
    counts = count_ranges(
        source, distance,
        detail::row_ranges(source.offsets(), size / sample_blocks, (nnz + size - 1) / size),
        threads);
    std::uint64_t total = 0;
    for (const PairCount& pair : counts.pairs()) total += pair.count;
    sampled = counts.pairs().size() * worth_counting > total;
  }
  if (!sampled) {
    const std::int64_t per_range = std::max<std::int64_t>(4096, nnz / 1024);
    counts =
        count_ranges(source, distance, detail::row_ranges(source.offsets(), per_range), threads);
  }

  Counts deltas, values;
  Histogram histogram;
  for (const auto& [delta, value, count] : counts.pairs()) {
    deltas.count(delta, 0) += count;
    values.count(0, value) += count;
    histogram.total += count;
  }
  histogram.pairs = sorted(counts);
  histogram.deltas = sorted(deltas);
  histogram.values = sorted(values);
  histogram.sampled = sampled;
  return histogram;
}

template Histogram count_pairs(const RowSource<double>&, int);
template Histogram count_pairs(const RowSource<float>&, int);

}  // namespace tansolve
