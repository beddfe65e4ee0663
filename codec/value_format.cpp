// SPDX-License-Identifier: BSD-3-Clause
// The choice of the value format from one pass over the values.
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

template <class T>
constexpr int mantissa_bits = sizeof(T) == 8 ? 52 : 23;
template <class T>
constexpr int exponents = sizeof(T) == 8 ? 2048 : 256;

/// Larger dictionaries would not stay in caches.
constexpr std::size_t most_dictionary = 1 << 16;

/// What the format follows from.
template <class T>
struct Magnitudes {
  std::uint64_t least = ValueFormat<T>::magnitude_mask;
  std::uint64_t most = 0;
  std::uint64_t any = 0;  ///< all bits that are set in some
  std::array<std::int64_t, exponents<T>> by_exponent{};
  detail::PairMap distinct;  ///< as long as they are few enough for a dictionary
  bool many = false;

  /// Counts a value that was not just before.
  void count(std::uint64_t value) {
    if (many) return;
    ++distinct.count(0, value);
    many = distinct.pairs().size() > most_dictionary;
    if (many) distinct = {};
  }

  void add(const Magnitudes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    any |= other.any;
    for (int e = 0; e < exponents<T>; ++e) by_exponent[e] += other.by_exponent[e];
    many = many || other.many;
    for (const PairCount& value : other.distinct.pairs()) count(value.value);
  }
};

template <class T>
Magnitudes<T> magnitudes_of(const Csr<T>& matrix, int threads) {
  constexpr std::int64_t per_task = 1 << 18;
  const std::int64_t tasks = (matrix.nnz() + per_task - 1) / per_task;
  Magnitudes<T> all;
  std::mutex adding;
  std::atomic<bool> many = false;
  detail::parallel_tasks(threads, tasks, [&](std::int64_t t) {
    Magnitudes<T> m;
    m.many = many;
    const std::int64_t begin = t * per_task, end = std::min(begin + per_task, matrix.nnz());
    for (std::int64_t k = begin; k < end; ++k) {
      const std::uint64_t bits = value_bits(matrix.values()[k]);
      if (k == begin || bits != value_bits(matrix.values()[k - 1])) m.count(bits);
      const std::uint64_t magnitude = bits & ValueFormat<T>::magnitude_mask;
      m.least = std::min(m.least, magnitude);
      m.most = std::max(m.most, magnitude);
      m.any |= magnitude;
      ++m.by_exponent[magnitude >> mantissa_bits<T>];
    }
    if (m.many) many = true;
    const std::scoped_lock lock(adding);
    all.add(m);
  });
  return all;
}

/// The window of `width` exponents that holds the most values: its first, and how many lie outside.
template <class T>
std::pair<int, std::int64_t> best_window(const Magnitudes<T>& all, std::int64_t total, int width) {
  std::int64_t inside = 0, best = -1;
  int first = 0;
  for (int e = 0; e < exponents<T>; ++e) {
    inside += all.by_exponent[e];
    if (e >= width) inside -= all.by_exponent[e - width];
    if (inside > best) {
      best = inside;
      first = std::max(e - width + 1, 0);
    }
  }
  return {first, total - best};
}

}  // namespace

template <class T>
ValueFormatChoice<T> choose_value_format(const Csr<T>& matrix, bool sign, int threads) {
  ValueFormatChoice<T> best;
  if (matrix.nnz() == 0) return best;
  const auto nnz = static_cast<double>(matrix.nnz());
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

  const Magnitudes<T> all = magnitudes_of(matrix, threads);
  ValueFormat<T> format;
  format.sign = sign;
  format.shift = all.any == 0 ? 0 : std::countr_zero(all.any);
  format.least = all.least;
  format.bits = std::bit_width((all.most - all.least) >> format.shift) + (sign ? 1 : 0);
  consider({format, 0}, 0);
  // A window needs mantissas: without, its first magnitude may have fewer zeros at its end than the
  // shift, and fields of few bits are full of markers.
  constexpr int least_mantissa = 8;
  const int widest = mantissa_bits<T> - format.shift < least_mantissa ? 0 : 8;
  for (int width_bits = 0; width_bits < widest; ++width_bits) {
    const auto [first, outside] = best_window(all, matrix.nnz(), 1 << width_bits);
    if (outside == 0 || outside > matrix.nnz() / 256) continue;
    format.least = static_cast<std::uint64_t>(first) << mantissa_bits<T>;
    format.bits = mantissa_bits<T> - format.shift + width_bits + (sign ? 1 : 0);
    if (format.bits > 0) consider({format, outside}, 0);
  }
  // It saves little where each value comes but a few times.
  const auto distinct = std::ssize(all.distinct.pairs());
  if (!all.many && distinct <= matrix.nnz() / 4 + 1) {
    std::vector<std::uint64_t> values;
    for (const PairCount& value : all.distinct.pairs()) values.push_back(value.value);
    std::sort(values.begin(), values.end());
    ValueFormat<T> dictionary;
    dictionary.bits = whole_bytes(std::bit_width(values.size() - 1));
    for (const std::uint64_t value : values)
      dictionary.dictionary.push_back(value_of_bits<T>(value));
    consider({std::move(dictionary), 0}, static_cast<double>(distinct));
  }
  return best;
}

template ValueFormatChoice<double> choose_value_format(const Csr<double>&, bool, int);
template ValueFormatChoice<float> choose_value_format(const Csr<float>&, bool, int);

}  // namespace tansolve
