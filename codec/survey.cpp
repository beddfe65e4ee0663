// SPDX-License-Identifier: BSD-3-Clause
// Facts, kept.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/survey.hpp>

#include <algorithm>

namespace tansolve {

std::int64_t detail::most_patterns(std::int64_t rows) {
  return std::clamp<std::int64_t>(rows / 8, 64, 1 << 16);
}

template <class T>
const Histogram& Survey<T>::histogram() {
  if (!histogram_) histogram_ = count_pairs(source_, threads_);
  return *histogram_;
}

template <class T>
const PatternsOfRows<T>* Survey<T>::patterns(PatternKind kind, std::int64_t limit) {
  auto& [in_vain, found] = patterns_[static_cast<std::size_t>(kind)];
  if (!found && limit > in_vain) {
    found = find_patterns(source_, kind, limit, threads_);
    if (!found) in_vain = limit;
  }
  return found && found->patterns.count() <= limit ? &*found : nullptr;
}

template <class T>
const PatternsOfRows<T>* Survey<T>::shapes(std::int64_t limit) {
  constexpr std::int64_t most_signed = 4096;
  const std::int64_t few = std::min(detail::most_patterns(source_.rows()), most_signed);
  const auto* with_signs = patterns(PatternKind::signs, few);
  return with_signs != nullptr ? with_signs : patterns(PatternKind::columns, limit);
}

template <class T>
const ValueFacts<T>& Survey<T>::values() {
  if (!values_) values_ = find_value_facts(source_, threads_);
  return *values_;
}

template <class T>
const RowOrder& Survey<T>::order() {
  if (!order_) order_ = detail::choose_order(source_.offsets(), threads_);
  return *order_;
}

template <class T>
const ColumnFormat& Survey<T>::columns() {
  if (!columns_) columns_ = detail::choose_column_format(source_, order(), threads_);
  return *columns_;
}

template class Survey<double>;
template class Survey<float>;

}  // namespace tansolve
