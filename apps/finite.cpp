// SPDX-License-Identifier: BSD-3-Clause
// Counts what is not finite and finds the first by rows.
#include "finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <tuple>

namespace tansolve::app {
namespace {

template <class T>
class NotFinite {
 public:
  void look(std::int64_t row, std::int64_t column, T value) {
    if (std::isfinite(value)) return;
    const std::lock_guard lock(mutex_);
    if (count_++ > 0 && std::tie(row_, column_) <= std::tie(row, column)) return;
    row_ = row;
    column_ = column;
    value_ = value;
  }
  std::string text(std::int64_t entries) const {
    if (count_ == 0) return {};
    return fmt::format(
        "{} of {} entries are not finite, first row {}, column {} (counting from 1): {}", count_,
        entries, row_ + 1, column_ + 1, value_);
  }

 private:
  std::mutex mutex_;
  std::int64_t count_ = 0, row_ = 0, column_ = 0;
  T value_ = 0;
};

template <class T>
bool all_finite(const std::vector<T>& values) {
  return std::ranges::all_of(values, [](T value) { return std::isfinite(value); });
}

/// Whether what values are made of shows that all are finite, without decoding them.
template <class T>
bool surely_finite(const CompressedParts<T>& parts) {
  if (is_stream(parts.plan.coding))
    return std::ranges::all_of(parts.tables, [](const SymbolTable<T>& table) {
      return table.code.escape == CodingTable::no_escape && all_finite(table.values);
    });
  if (parts.plan.coding == Coding::patterns) return all_finite(parts.arrays.patterns.values);
  const ValueFormat<T>& values = parts.arrays.values;
  if (!values.dictionary.empty()) return all_finite(values.dictionary);
  const int bits = values.bits + values.shift - (values.sign ? 1 : 0);
  if (bits >= ValueFormat<T>::magnitude_bits) return false;
  const std::uint64_t most = values.least + (std::uint64_t{1} << bits);
  return most < value_bits(std::numeric_limits<T>::infinity()) && all_finite(values.exceptions);
}

}  // namespace

template <class T>
std::string not_finite_entries(const Csr<T>& matrix) {
  NotFinite<T> found;
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k)
      found.look(i, matrix.columns()[k], matrix.values()[k]);
  return found.text(matrix.nnz());
}

template <class T>
std::string not_finite_entries(const CompressedMatrix<T>& matrix, int threads) {
  if (surely_finite(matrix.parts())) return {};
  NotFinite<T> found;
  matrix.for_each_nonzero([&](std::int64_t row, std::uint32_t, std::uint32_t column,
                              T value) { found.look(row, column, value); },
                          threads);
  return found.text(matrix.nnz());
}

template std::string not_finite_entries(const Csr<double>&);
template std::string not_finite_entries(const Csr<float>&);
template std::string not_finite_entries(const CompressedMatrix<double>&, int);
template std::string not_finite_entries(const CompressedMatrix<float>&, int);

}  // namespace tansolve::app
