// SPDX-License-Identifier: BSD-3-Clause
// The choice of the value format from what one pass over the values finds.
#include <tansolve/codec/pair_map.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/value_format.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <vector>

namespace tansolve {
namespace {

constexpr std::int64_t task_values = 1 << 18;

/// Facts as they grow.
template <class T>
class Collector {
 public:
  /// `many`: distinct values need not be counted, since there are too many anyway.
  explicit Collector(bool many = false) { facts_.many = many; }

  const ValueFacts<T>& facts() const { return facts_; }

  void add(std::span<const T> values) {
    facts_.count += std::ssize(values);
    // The counts might else be taken for aliases of these.
    std::uint64_t least = facts_.least, most = facts_.most, any = facts_.any;
    const auto look = [&](T value, Exponents& exponents) {
      const std::uint64_t magnitude = value_bits(value) & ValueFormat<T>::magnitude_mask;
      least = std::min(least, magnitude);
      most = std::max(most, magnitude);
      any |= magnitude;
      ++exponents[magnitude >> ValueFacts<T>::mantissa_bits];
    };
    // Neighbours often have the same exponent: to count them apart spares waiting for the store.
    Exponents second{}, third{}, fourth{};
    std::size_t k = 0;
    for (; k + 4 <= values.size(); k += 4) {
      look(values[k], facts_.by_exponent);
      look(values[k + 1], second);
      look(values[k + 2], third);
      look(values[k + 3], fourth);
    }
    for (; k < values.size(); ++k) look(values[k], facts_.by_exponent);
    for (std::size_t e = 0; e < second.size(); ++e)
      facts_.by_exponent[e] += second[e] + third[e] + fourth[e];
    facts_.least = least;
    facts_.most = most;
    facts_.any = any;
    for (k = 0; k < values.size() && !facts_.many; ++k)
      if (k == 0 || value_bits(values[k]) != value_bits(values[k - 1]))
        count(value_bits(values[k]));
  }

  void add(const Collector& other) {
    facts_.count += other.facts_.count;
    facts_.least = std::min(facts_.least, other.facts_.least);
    facts_.most = std::max(facts_.most, other.facts_.most);
    facts_.any |= other.facts_.any;
    for (int e = 0; e < ValueFacts<T>::exponents; ++e)
      facts_.by_exponent[e] += other.facts_.by_exponent[e];
    facts_.many = facts_.many || other.facts_.many;
    for (const PairCount& value : other.distinct_.pairs()) count(value.value);
  }

  ValueFacts<T> take() {
    if (!facts_.many)
      for (const PairCount& value : distinct_.pairs()) facts_.distinct.push_back(value.value);
    std::sort(facts_.distinct.begin(), facts_.distinct.end());
    return std::move(facts_);
  }

 private:
  using Exponents = decltype(ValueFacts<T>::by_exponent);

  void count(std::uint64_t value) {
    if (facts_.many) return;
    ++distinct_.count(0, value);
    facts_.many = distinct_.pairs().size() > ValueFacts<T>::most_distinct;
    if (facts_.many) distinct_ = {};
  }

  ValueFacts<T> facts_;
  detail::PairMap distinct_;
};

/// The facts of tasks, whose values collect(task, collector) adds.
template <class T, class Collect>
ValueFacts<T> collect_all(int threads, std::int64_t tasks, const Collect& collect) {
  Collector<T> all;
  std::mutex adding;
  std::atomic<bool> many = false;
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    Collector<T> own(many);
    collect(t, own);
    const std::scoped_lock lock(adding);
    all.add(own);
    many = all.facts().many;
  });
  return all.take();
}

/// The window of `width` exponents that holds the most values: its first, and how many lie outside.
template <class T>
std::pair<int, std::int64_t> best_window(const ValueFacts<T>& facts, int width) {
  std::int64_t inside = 0, best = -1;
  int first = 0;
  for (int e = 0; e < ValueFacts<T>::exponents; ++e) {
    inside += facts.by_exponent[e];
    if (e >= width) inside -= facts.by_exponent[e - width];
    if (inside > best) {
      best = inside;
      first = std::max(e - width + 1, 0);
    }
  }
  return {first, facts.count - best};
}

}  // namespace

template <class T>
ValueFacts<T> find_value_facts(const RowSource<T>& source, int threads) {
  const auto ranges = detail::row_ranges(source.offsets(), task_values);
  return collect_all<T>(threads, std::ssize(ranges), [&](std::int64_t t, Collector<T>& collector) {
    RowBuffer<T> buffer;
    collector.add(source.block(ranges[t].first, ranges[t].second, buffer).values());
  });
}

template <class T>
ValueFacts<T> find_value_facts(std::span<const T> values, int threads) {
  const std::int64_t tasks = (std::ssize(values) + task_values - 1) / task_values;
  return collect_all<T>(threads, tasks, [&](std::int64_t t, Collector<T>& collector) {
    const std::int64_t begin = t * task_values;
    collector.add(values.subspan(begin, std::min(task_values, std::ssize(values) - begin)));
  });
}

template <class T>
ValueFormatChoice<T> choose_value_format(const ValueFacts<T>& all, bool sign) {
  constexpr int mantissa_bits = ValueFacts<T>::mantissa_bits;
  ValueFormatChoice<T> best;
  if (all.count == 0) return best;
  const auto nnz = static_cast<double>(all.count);
  best.format.bits = 8 * sizeof(T);
  best.format.sign = true;
  double least_bytes = nnz * sizeof(T);
  const auto consider = [&](ValueFormatChoice<T> choice, double dictionary) {
    choice.format.bits = stored_bits(choice.format.bits);
    const double bytes = nnz * choice.format.bits / 8 + dictionary * sizeof(T) +
                         static_cast<double>(choice.exceptions) * (8 + sizeof(T));
    if (bytes >= least_bytes || choice.format.bits > static_cast<int>(8 * sizeof(T))) return;
    least_bytes = bytes;
    best = std::move(choice);
  };

  ValueFormat<T> format;
  format.sign = sign;
  format.shift = all.any == 0 ? 0 : std::countr_zero(all.any);
  format.least = all.least;
  format.bits = std::bit_width((all.most - all.least) >> format.shift) + (sign ? 1 : 0);
  consider({format, 0}, 0);
  // A window needs mantissas: without, its first magnitude may have fewer zeros at its end than the
  // shift, and fields of few bits are full of markers.
  constexpr int least_mantissa = 8;
  const int widest = mantissa_bits - format.shift < least_mantissa ? 0 : 8;
  for (int width_bits = 0; width_bits < widest; ++width_bits) {
    const auto [first, outside] = best_window(all, 1 << width_bits);
    if (outside == 0 || outside > all.count / 256) continue;
    format.least = static_cast<std::uint64_t>(first) << mantissa_bits;
    format.bits = mantissa_bits - format.shift + width_bits + (sign ? 1 : 0);
    if (format.bits > 0) consider({format, outside}, 0);
  }
  // It saves little where each value comes but a few times.
  const auto distinct = std::ssize(all.distinct);
  if (!all.many && distinct <= all.count / 4 + 1) {
    ValueFormat<T> dictionary;
    dictionary.bits = whole_bytes(std::bit_width(all.distinct.size() - 1));
    for (const std::uint64_t value : all.distinct)
      dictionary.dictionary.push_back(value_of_bits<T>(value));
    consider({std::move(dictionary), 0}, static_cast<double>(distinct));
  }
  return best;
}

#define TANSOLVE_INSTANTIATE(T)                                      \
  template ValueFacts<T> find_value_facts(const RowSource<T>&, int); \
  template ValueFacts<T> find_value_facts(std::span<const T>, int);  \
  template ValueFormatChoice<T> choose_value_format(const ValueFacts<T>&, bool);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
