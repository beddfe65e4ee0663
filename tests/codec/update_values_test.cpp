// SPDX-License-Identifier: BSD-3-Clause
// New values in old patterns, by every plan.
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/update_values.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace tansolve;

namespace {

template <class T>
Csr<T> with_values(const Csr<T>& pattern, const std::vector<T>& values) {
  return Csr<T>::from_arrays(pattern.rows(), pattern.cols(), pattern.offsets().data(),
                             pattern.columns().data(), values.data());
}

/// Values of several kinds, `kind` from 0 on; empty when there are no more kinds.
template <class T>
std::vector<T> values_of_kind(const Csr<T>& matrix, int kind) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(11 + kind);
  std::normal_distribution<double> normal;
  const T special[] = {T(0),
                       T(-0.0),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::max(),
                       Limits::denorm_min(),
                       Limits::quiet_NaN(),
                       T(1)};
  const std::function<T(std::int64_t)> kinds[] = {
      [&](std::int64_t k) { return -matrix.values()[k]; },
      [&](std::int64_t k) { return 3 * matrix.values()[k]; },
      [&](std::int64_t) { return static_cast<T>(normal(random)); },
      [&](std::int64_t) { return special[random() % 8]; },
      [&](std::int64_t) { return value_of_bits<T>(random()); },
      [&](std::int64_t) { return T(0); },
      [&](std::int64_t k) {  // all but a few within a window of exponents
        return static_cast<T>((1.0 + 1e-3 * static_cast<double>(random() % 1000)) *
                              (k % 300 == 7 ? 1e-30 : 1.0));
      },
  };
  if (kind >= std::ssize(kinds)) return {};
  std::vector<T> values(matrix.nnz());
  for (std::int64_t k = 0; k < matrix.nnz(); ++k) values[k] = kinds[kind](k);
  return values;
}

/// One matrix goes through all kinds of values, one after the other.
template <class T>
void check_updates(const Csr<T>& matrix, const Plan& plan) {
  auto compressed = encode(matrix, plan, count_pairs(matrix));
  for (int kind = 0;; ++kind) {
    CAPTURE(kind);
    const std::vector<T> values = values_of_kind(matrix, kind);
    if (values.empty()) break;
    const auto updated = with_values(matrix, values);
    if (kind % 2 == 0)
      update_values<T>(compressed, std::span<const T>(values), 1 + kind % 3);
    else
      update_values(compressed, updated, 1 + kind % 3);
    CHECK(test::same_bits(compressed.decode(), updated));
    CHECK_NOTHROW(CompressedMatrix<T>(compressed.parts()));  // what a reader would refuse
  }
}

}  // namespace

TEST_CASE_TEMPLATE("every plan takes new values to the bit", T, double, float) {
  auto matrices = test::nasty_matrices<T>();
  matrices.push_back({"stencil", convert<T>(generate("poisson7:9"))});
  matrices.push_back({"coefficients", convert<T>(generate("varcoef7:8"))});
  for (const auto& [name, matrix] : matrices)
    for (const Plan& plan : test::all_plans({2})) {
      CAPTURE(name);
      CAPTURE(traits(plan.coding).name);
      check_updates(matrix, plan);
    }
}

TEST_CASE("new values go where another's encoder has put the pieces of a row") {
  // Row 0 in pieces of 1 and 5 entries, before row 1.
  CompressedParts<double> parts;
  parts.rows = 2;
  parts.cols = 6;
  parts.nnz = 7;
  parts.plan = {.coding = Coding::packed};
  parts.row_lengths = RowNumbers(std::vector<std::uint32_t>{1, 5, 1});
  parts.slice_offsets = {0, 5};
  parts.arrays.order = {.order = {2, 3, 1}, .long_rows = {0}, .long_starts = {0, 2}};
  parts.arrays.columns.bits = 8;
  parts.arrays.column_words.resize(5 * 8);
  parts.words.resize(5 * 64);
  parts.arrays.values.bits = 64;
  parts.arrays.values.sign = true;
  const FieldWriter<1, false> columns(parts.arrays.column_words.data(), 5);
  columns.put_lane({0, 5}, 1, 5, [](std::int64_t k) { return static_cast<std::uint64_t>(k + 1); });
  columns.put_lane({0, 5}, 2, 1, [](std::int64_t) { return std::uint64_t{3}; });
  CompressedMatrix<double> matrix(std::move(parts));
  std::vector<double> values = {1, 2, 3, 4, 5, 6, 7.5};
  update_values<double>(matrix, std::span<const double>(values));
  CHECK(std::ranges::equal(matrix.decode().values(), values));
  values = {-1e300, 2.5, -0.0, 4e-320, std::numeric_limits<double>::infinity(), 6, 7};
  update_values(matrix, with_values(matrix.decode(), values));
  CHECK(std::ranges::equal(matrix.decode().values(), values));
  CHECK_NOTHROW(CompressedMatrix<double>(matrix.parts()));
}

TEST_CASE("fields of new values are those of a fresh encoding") {
  const auto matrix = generate("varcoef7:12"), other = generate("varcoef7:12@5");
  for (const Coding coding : {Coding::shapes, Coding::packed}) {
    const Plan plan = {.coding = coding};
    auto updated = encode(matrix, plan, count_pairs(matrix));
    update_values(updated, other);
    const auto fresh = encode(other, plan, count_pairs(other));
    CHECK(updated.parts().words == fresh.parts().words);
    CHECK(updated.storage().total() == fresh.storage().total());
  }
}

TEST_CASE("patterns whose rows part become more patterns, or shapes where they are too many") {
  const auto matrix = generate("poisson7:16");
  const Plan plan = {.coding = Coding::patterns};
  std::vector<double> values(matrix.values().begin(), matrix.values().end());
  for (double& value : values) value *= 2;
  auto compressed = encode(matrix, plan, count_pairs(matrix));
  const auto count = compressed.parts().arrays.patterns.count();
  update_values<double>(compressed, std::span<const double>(values));
  CHECK(compressed.parts().arrays.patterns.count() == count);

  values[matrix.nnz() / 2] = 5;
  update_values<double>(compressed, std::span<const double>(values));
  CHECK(compressed.plan().coding == Coding::patterns);
  CHECK(compressed.parts().arrays.patterns.count() == count + 1);

  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
  update_values<double>(compressed, std::span<const double>(values));
  CHECK(compressed.plan().coding == Coding::shapes);
  CHECK(test::same_bits(compressed.decode(), with_values(matrix, values)));
}

TEST_CASE("another pattern is refused by its first row and changes nothing") {
  const auto matrix = generate("band:200:5:20:0");
  std::vector<std::int32_t> columns(matrix.columns().begin(), matrix.columns().end());
  const std::int64_t last = matrix.offsets()[121] - 1;  // of row 120
  columns[last] = columns[last] == 199 ? 198 : columns[last] + 1;
  columns[matrix.offsets()[150] - 1] = 199;
  const auto moved = Csr<double>::from_arrays(200, 200, matrix.offsets().data(), columns.data(),
                                              matrix.values().data());
  std::vector<std::int64_t> offsets(matrix.offsets().begin(), matrix.offsets().end());
  for (std::int64_t i = 31; i <= 200; ++i) --offsets[i];  // row 30 loses its last entry
  const auto shorter = Csr<double>::from_arrays(
      200, 200, offsets.data(),
      [&] {
        auto fewer = std::vector<std::int32_t>(matrix.columns().begin(), matrix.columns().end());
        fewer.erase(fewer.begin() + matrix.offsets()[31] - 1);
        return fewer;
      }()
          .data(),
      matrix.values().data());
  for (const Plan& plan : test::all_plans({1})) {
    CAPTURE(traits(plan.coding).name);
    auto compressed = encode(matrix, plan, count_pairs(matrix));
    CHECK_THROWS_WITH_AS(update_values(compressed, moved), doctest::Contains("row 120 has other"),
                         Error);
    CHECK_THROWS_WITH_AS(update_values(compressed, shorter), doctest::Contains("row 30 has other"),
                         Error);
    CHECK_THROWS_WITH_AS(update_values<double>(compressed, std::vector<double>(7)),
                         doctest::Contains("7 values for 1000 nonzeros"), Error);
    CHECK_THROWS_WITH_AS(update_values(compressed, generate("poisson5:3")),
                         doctest::Contains("9 x 9 for one of 200 x 200"), Error);
    CHECK(test::same_bits(compressed.decode(), matrix));
  }
}
