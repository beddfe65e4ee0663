// SPDX-License-Identifier: BSD-3-Clause
// New values by coding.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/array_reader.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/update_values.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace tansolve {
namespace {

constexpr std::int64_t task_numbers = 1 << 14;

/// Runs work(begin, end) over ranges of numbers below count.
template <class Work>
void for_ranges(std::int64_t count, int threads, const Work& work) {
  detail::parallel_tasks(threads, (count + task_numbers - 1) / task_numbers, [&](std::int64_t t) {
    work(t * task_numbers, std::min((t + 1) * task_numbers, count));
  });
}

/// The rows of a matrix of patterns with other values.
template <class T>
class PatternRows final : public RowSource<T> {
 public:
  PatternRows(const CompressedParts<T>& parts, std::span<const T> values)
      : parts_(parts), offsets_(detail::row_offsets(parts)), values_(values) {}

  std::int64_t cols() const override { return parts_.cols; }
  std::span<const std::int64_t> offsets() const override { return offsets_; }
  RowBlock<T> block(std::int64_t begin, std::int64_t end, RowBuffer<T>& buffer) const override {
    const auto offsets = std::span(offsets_).subspan(begin, end - begin + 1);
    buffer.columns.resize(offsets.back() - offsets.front());
    const RowPatterns<T>& patterns = parts_.arrays.patterns;
    std::int32_t* column = buffer.columns.data();
    for (std::int64_t row = begin; row < end; ++row) {
      const std::uint32_t p = parts_.row_lengths[row];
      for (std::uint32_t k = patterns.starts[p]; k < patterns.starts[p + 1]; ++k)
        *column++ =
            static_cast<std::int32_t>(static_cast<std::uint32_t>(row) + patterns.offsets[k]);
    }
    return {begin, offsets, buffer.columns.data(), values_.data() + offsets.front()};
  }

 private:
  const CompressedParts<T>& parts_;
  std::vector<std::int64_t> offsets_;
  std::span<const T> values_;
};

/// The values of each pattern in the first row that follows it; empty where another row that does
/// has others.
template <class T>
std::vector<T> values_of_patterns(const CompressedParts<T>& parts,
                                  std::span<const std::int64_t> offsets, std::span<const T> values,
                                  int threads) {
  const RowPatterns<T>& patterns = parts.arrays.patterns;
  std::vector<T> found(patterns.offsets.size());
  std::vector<bool> known(patterns.count());
  std::int64_t unknown = patterns.count();
  for (std::int64_t row = 0; row < parts.rows && unknown > 0; ++row) {
    const std::uint32_t p = parts.row_lengths[row];
    if (known[p]) continue;
    known[p] = true;
    --unknown;
    std::copy_n(values.data() + offsets[row], patterns.length(p),
                found.data() + patterns.starts[p]);
  }
  std::atomic<bool> same = true;
  for_ranges(parts.rows, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end && same; ++row) {
      const std::uint32_t p = parts.row_lengths[row], length = patterns.length(p);
      if (length > 0 && std::memcmp(values.data() + offsets[row], found.data() + patterns.starts[p],
                                    length * sizeof(T)) != 0)
        same = false;
    }
  });
  if (!same) found.clear();
  return found;
}

template <class T>
void update_patterns(CompressedMatrix<T>& matrix, std::span<const T> values, int threads) {
  const PatternRows<T> rows(matrix.parts(), values);
  std::vector<T> found = values_of_patterns(matrix.parts(), rows.offsets(), values, threads);
  if (!found.empty()) {
    detail::Trusted::parts(matrix).arrays.patterns.values = std::move(found);
    return;
  }
  Survey<T> survey(rows, threads);
  const bool few =
      survey.patterns(PatternKind::values, detail::most_patterns(rows.rows())) != nullptr;
  matrix = encode(survey, {.coding = few ? Coding::patterns : Coding::shapes});
}

template <class T>
void update_streams(CompressedMatrix<T>& matrix, const Csr<T>& updated, int threads) {
  const CsrRows<T> rows(updated);
  Survey<T> survey(rows, threads);
  matrix = encode(survey, matrix.plan());
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "update_values: " + what);
}

/// The first row of a matrix whose columns are not those of `updated`, or the number of rows.
template <class T>
std::int64_t first_difference(const CompressedMatrix<T>& matrix, const Csr<T>& updated,
                              int threads) {
  const auto offsets = matrix.row_offsets();
  const auto differs = std::ranges::mismatch(offsets, updated.offsets());
  const std::int64_t first =
      differs.in1 == offsets.end() ? matrix.rows() : differs.in1 - offsets.begin() - 1;
  std::atomic<std::int64_t> row = first;
  const auto found = [&](std::int64_t other) {
    for (std::int64_t before = row; other < before && !row.compare_exchange_weak(before, other);) {
    }
  };
  if (is_stream(matrix.plan().coding)) {
    matrix.for_each_nonzero(
        [&](std::int64_t i, std::uint32_t position, std::uint32_t column, T) {
          if (i < first &&
              static_cast<std::uint32_t>(updated.columns()[offsets[i] + position]) != column)
            found(i);
        },
        threads);
    return row;
  }
  const detail::ArrayReader<T> reader(matrix.parts());
  for_ranges(reader.coded_rows(), threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int64_t i = reader.row(v);
      if (i >= first) continue;
      const std::int32_t* columns = updated.columns().data() + offsets[i] + reader.first(v);
      const std::uint32_t length = reader.length(v);
      std::uint32_t differences = 0;
      if (reader.has_patterns()) {
        const RowPatterns<T>& patterns = matrix.parts().arrays.patterns;
        const std::uint32_t* pattern =
            patterns.offsets.data() + patterns.starts[matrix.parts().row_lengths[v]];
        for (std::uint32_t k = 0; k < length; ++k)
          differences |=
              (static_cast<std::uint32_t>(columns[k]) - static_cast<std::uint32_t>(i)) ^ pattern[k];
      } else {
        for (std::uint32_t k = 0; k < length; ++k)
          differences |= static_cast<std::uint32_t>(columns[k]) ^ reader.column(v, k);
      }
      if (differences != 0) found(i);
    }
  });
  return row;
}

/// By coding; `updated`, which may be null, is the matrix with these values.
template <class T>
void update(CompressedMatrix<T>& matrix, std::span<const T> values, const Csr<T>* updated,
            int threads) {
  if (std::ssize(values) != matrix.nnz())
    refuse(fmt::format("{} values for {} nonzeros", values.size(), matrix.nnz()));
  if (matrix.nnz() == 0) return;
  if (matrix.plan().coding == Coding::patterns) {
    update_patterns(matrix, values, threads);
  } else if (!is_stream(matrix.plan().coding)) {
    detail::replace_fields(values, threads, detail::Trusted::parts(matrix));
  } else if (updated != nullptr) {
    update_streams(matrix, *updated, threads);
  } else {
    const Csr<T> before = matrix.decode(threads);
    update_streams(matrix,
                   Csr<T>::from_arrays(before.rows(), before.cols(), before.offsets().data(),
                                       before.columns().data(), values.data()),
                   threads);
  }
}

}  // namespace

template <class T>
void update_values(CompressedMatrix<T>& matrix, std::span<const T> values, int threads) {
  update(matrix, values, static_cast<const Csr<T>*>(nullptr), threads);
}

template <class T>
void update_values(CompressedMatrix<T>& matrix, const Csr<T>& updated, int threads) {
  if (updated.rows() != matrix.rows() || updated.cols() != matrix.cols())
    refuse(fmt::format("a matrix of {} x {} for one of {} x {}", updated.rows(), updated.cols(),
                       matrix.rows(), matrix.cols()));
  if (const std::int64_t row = first_difference(matrix, updated, threads); row < matrix.rows())
    refuse(fmt::format("row {} has other columns than the compressed matrix; encode it anew", row));
  update(matrix, updated.values(), &updated, threads);
}

#define TANSOLVE_INSTANTIATE(T)                                               \
  template void update_values(CompressedMatrix<T>&, std::span<const T>, int); \
  template void update_values(CompressedMatrix<T>&, const Csr<T>&, int);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
