// SPDX-License-Identifier: BSD-3-Clause
// Counting pairs: one hash table a thread, merged and sorted.
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/pair_map.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <span>
#include <tuple>

namespace tansolve {
namespace {

constexpr std::int64_t sample_size = std::int64_t{1} << 22;
constexpr std::int64_t sample_blocks = 256;
/// Above one distinct pair in so many of the sample, counting all would keep nearly a pair a
/// nonzero.
constexpr std::uint64_t worth_counting = 16;

using Counts = detail::PairMap;

template <class T>
void count_rows(const Csr<T>& matrix, std::int64_t begin, std::int64_t end, Counts& counts) {
  const auto offsets = matrix.offsets();
  const auto columns = matrix.columns();
  const auto values = matrix.values();
  for (std::int64_t i = begin; i < end; ++i) {
    auto previous = static_cast<std::uint32_t>(i);
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const auto column = static_cast<std::uint32_t>(columns[k]);
      ++counts.at(column - previous, value_bits(values[k]));
      previous = column;
    }
  }
}

/// Row ranges of about `per_range` nonzeros each, at every `stride`-th multiple of it.
template <class T>
std::vector<std::pair<std::int64_t, std::int64_t>> row_ranges(const Csr<T>& matrix,
                                                              std::int64_t per_range,
                                                              std::int64_t stride) {
  const auto offsets = matrix.offsets();
  const auto row_of = [&](std::int64_t nonzero) {
    return std::lower_bound(offsets.begin(), offsets.end(), nonzero) - offsets.begin();
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::int64_t first = 0; first < matrix.nnz(); first += per_range * stride) {
    const std::int64_t begin = row_of(first);
    const std::int64_t end = row_of(std::min(first + per_range, matrix.nnz()));
    if (begin < end) ranges.emplace_back(begin, end);
  }
  return ranges;
}

template <class T>
Counts count_ranges(const Csr<T>& matrix,
                    const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges, int threads) {
  Counts all;
  std::mutex merging;
  const std::int64_t tasks = std::min<std::int64_t>(std::ssize(ranges), 64);
  detail::parallel_tasks(threads, tasks, [&](std::int64_t task) {
    Counts own;
    for (std::int64_t i = task; i < std::ssize(ranges); i += tasks)
      count_rows(matrix, ranges[i].first, ranges[i].second, own);
    const std::scoped_lock lock(merging);
    if (all.size() < own.size()) std::swap(all, own);
    all.reserve(all.size() + own.size());
    own.for_each([&](const PairCount& pair) { all.at(pair.delta, pair.value) += pair.count; });
  });
  return all;
}

std::vector<PairCount> sorted(const Counts& counts) {
  std::vector<PairCount> list;
  list.reserve(counts.size());
  counts.for_each([&](const PairCount& pair) { list.push_back(pair); });
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
Histogram count_pairs(const Csr<T>& matrix, int threads) {
  Counts counts;
  bool sampled = false;
  if (matrix.nnz() > 4 * sample_size) {
    const std::int64_t stride = (matrix.nnz() + sample_size - 1) / sample_size;
    counts = count_ranges(matrix, row_ranges(matrix, sample_size / sample_blocks, stride), threads);
    std::uint64_t total = 0;
    counts.for_each([&](const PairCount& pair) { total += pair.count; });
    sampled = counts.size() * worth_counting > total;
  }
  if (!sampled) {
    const std::int64_t per_range = std::max<std::int64_t>(4096, matrix.nnz() / 1024);
    counts = count_ranges(matrix, row_ranges(matrix, per_range, 1), threads);
  }

  Counts deltas, values;
  Histogram histogram;
  counts.for_each([&](const PairCount& pair) {
    deltas.at(pair.delta, 0) += pair.count;
    values.at(0, pair.value) += pair.count;
    histogram.total += pair.count;
  });
  histogram.pairs = sorted(counts);
  histogram.deltas = sorted(deltas);
  histogram.values = sorted(values);
  histogram.sampled = sampled;
  return histogram;
}

template Histogram count_pairs(const Csr<double>&, int);
template Histogram count_pairs(const Csr<float>&, int);

}  // namespace tansolve
