// SPDX-License-Identifier: BSD-3-Clause
// CSR to CSR-dtANS and back, bit for bit, for every coding on every nasty matrix.
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/repeats.hpp>

#include <doctest/doctest.h>

#include <map>

using namespace tansolve;

namespace {

template <class T>
void check_every_plan(const Csr<T>& matrix) {
  const Histogram histogram = count_pairs(matrix, 2);
  for (const Plan& plan : test::all_plans({1, 3, 16})) {
    CAPTURE(traits(plan.coding).name);
    CAPTURE(plan.rows_per_lane);
    CAPTURE(static_cast<int>(plan.row_ends));
    const auto encoded = encode(matrix, plan, histogram, {.threads = 2});
    CHECK(test::same_bits(encoded.decode(2), matrix));
    CHECK_NOTHROW(CompressedMatrix<T>(encoded.parts()));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("nasty matrices come back bit for bit from every plan", T, double, float) {
  for (const auto& [name, matrix] : test::nasty_matrices<T>()) {
    CAPTURE(name);
    check_every_plan(matrix);
  }
}

TEST_CASE("the payload of a NaN survives") {
  const double nan = value_of_bits<double>(0xfff8dead'beef0001);
  const auto matrix =
      Csr<double>::from_triplets(2, 2, std::vector<Triplet<double>>{{0, 1, nan}, {1, 0, -nan}});
  check_every_plan(matrix);
}

TEST_CASE("more than 4096 distinct symbols escape in every coding that cannot hold them") {
  std::vector<Triplet<double>> triplets;
  for (int i = 0; i < 9000; ++i) triplets.push_back({i, (i * 7) % 9000, static_cast<double>(i)});
  const auto matrix = Csr<double>::from_triplets(9000, 9000, triplets);
  const Histogram histogram = count_pairs(matrix);
  CHECK(histogram.pairs.size() == 9000);
  for (const Coding coding :
       {Coding::paper, Coding::joint, Coding::byte, Coding::fixed8, Coding::fixed12})
    CHECK(build_tables<double>(histogram, coding).back().code.escape != CodingTable::no_escape);
  CHECK(build_tables<double>(histogram, Coding::fixed16)[0].code.escape == CodingTable::no_escape);
  check_every_plan(matrix);
}

namespace {

/// Row i is row i - 3 shifted, but every eleventh row has a value of its own and every thirteenth
/// an entry more.
template <class T>
Csr<T> nearly_periodic() {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 0; i < 700; ++i) {
    for (std::int64_t k = 0; k < 2 + i % 3; ++k)
      triplets.push_back({i, i + 5 * k, static_cast<T>(i % 11 == 0 && k == 1 ? i : k)});
    if (i % 13 == 0) triplets.push_back({i, i + 40, T(1)});
  }
  return Csr<T>::from_triplets(700, 760, triplets);
}

}  // namespace

TEST_CASE("rows repeat an earlier one by their deltas and the bits of their values") {
  const auto matrix = Csr<double>::from_triplets(8, 8,
                                                 std::vector<Triplet<double>>{{1, 0, 1.0},
                                                                              {1, 2, 0.0},
                                                                              {2, 1, 1.0},
                                                                              {2, 3, 0.0},
                                                                              {3, 2, 1.0},
                                                                              {3, 4, -0.0},
                                                                              {4, 2, 1.0},
                                                                              {4, 5, 0.0},
                                                                              {5, 4, 1.0}});
  RowBuffer<double> buffer;
  const RowBlock<double> rows = CsrRows(matrix).block(0, matrix.rows(), buffer);
  CHECK(detail::same_pairs(rows, 2, 1));
  CHECK_FALSE(detail::same_pairs(rows, 3, 2));  // -0 is not 0
  CHECK_FALSE(detail::same_pairs(rows, 4, 2));  // the same values, other deltas
  CHECK_FALSE(detail::same_pairs(rows, 5, 2));  // an entry less
  CHECK(detail::same_pairs(rows, 7, 6));        // both empty
}

TEST_CASE("the distance of repeating rows is that of a matrix's structure") {
  const auto distance_of = [](const Csr<double>& matrix) {
    return detail::repeat_distance(CsrRows(matrix));
  };
  CHECK(distance_of(generate("poisson27:12")) == 1);
  CHECK(distance_of(generate("fem3:8")) == 3);
  CHECK(distance_of(nearly_periodic<double>()) > 0);
  CHECK(distance_of(nearly_periodic<double>()) % 3 == 0);
  CHECK(distance_of(generate("varcoef7:12")) == 0);
  CHECK(distance_of(Csr<double>::from_triplets(0, 0, {})) == 0);
}

TEST_CASE("what repeats is counted as often as it occurs") {
  for (const auto& matrix : {nearly_periodic<double>(), generate("poisson7:9"), generate("fem3:5"),
                             generate("er:3000:4")}) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> expected;
    for (std::int64_t i = 0; i < matrix.rows(); ++i)
      for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k) {
        const std::int64_t previous = k > matrix.offsets()[i] ? matrix.columns()[k - 1] : i;
        ++expected[{static_cast<std::uint32_t>(matrix.columns()[k] - previous),
                    value_bits(matrix.values()[k])}];
      }
    const Histogram histogram = count_pairs(matrix, 2);
    CHECK(histogram.pairs.size() == expected.size());
    bool same = true;
    for (const auto& [delta, value, count] : histogram.pairs)
      same = same && expected[{delta, value}] == count;
    CHECK(same);
  }
}

TEST_CASE_TEMPLATE("rows that nearly repeat come back bit for bit from every plan", T, double,
                   float) {
  check_every_plan(nearly_periodic<T>());
}

TEST_CASE("encoding does not depend on the number of threads") {
  const auto matrix = test::random_matrix<double>(
      20000, 20000, 20, 11, [](auto& random) { return static_cast<double>(random() % 100); });
  const auto reference = encode(matrix, {Coding::joint, 2}, count_pairs(matrix, 1), {.threads = 1});
  for (const int threads : {2, 3, 7}) {
    const auto other =
        encode(matrix, {Coding::joint, 2}, count_pairs(matrix, threads), {.threads = threads});
    CHECK(other.parts().words == reference.parts().words);
    CHECK(other.parts().slice_offsets == reference.parts().slice_offsets);
    CHECK(other.parts().tables[0].deltas == reference.parts().tables[0].deltas);
  }
}

TEST_CASE("entropies of a matrix worked out by hand") {
  // Deltas 0 0 0 0 (first columns equal rows), values 1 1 2 2: 0, 1 and 1 bits.
  const auto matrix = Csr<double>::from_triplets(
      4, 4, std::vector<Triplet<double>>{{0, 0, 1.0}, {1, 1, 1.0}, {2, 2, 2.0}, {3, 3, 2.0}});
  const Histogram histogram = count_pairs(matrix);
  CHECK(Histogram::entropy(histogram.deltas) == 0);
  CHECK(Histogram::entropy(histogram.values) == 1);
  CHECK(Histogram::entropy(histogram.pairs) == 1);
  CHECK(histogram.total == 4);
  CHECK(histogram.pairs[0].count == 2);
  CHECK(value_of_bits<double>(histogram.pairs[0].value) == 1.0);
}

TEST_CASE("a matrix of unique pairs is sampled, and what the sample misses escapes") {
  const std::int64_t n = 1 << 21, per_row = 9;  // just above four samples
  std::vector<std::int64_t> offsets(n + 1);
  std::vector<std::int32_t> columns(n * per_row);
  std::vector<double> values(n * per_row);
  for (std::int64_t i = 0; i < n; ++i) {
    offsets[i + 1] = (i + 1) * per_row;
    for (std::int64_t k = 0; k < per_row; ++k) {
      columns[i * per_row + k] = static_cast<std::int32_t>(std::min(i, n - per_row) + k);
      values[i * per_row + k] = static_cast<double>(i * per_row + k);
    }
  }
  const Csr<double> matrix(n, n, offsets, columns, values);
  const Histogram histogram = count_pairs(matrix);
  CHECK(histogram.sampled);
  CHECK(histogram.total <= std::uint64_t{1} << 22);
  CHECK(test::same_bits(encode(matrix, {Coding::paper, 1}, histogram).decode(), matrix));
}

TEST_CASE("the histogram of another matrix, all of whose pairs are coded, is refused") {
  const auto matrix = generate("poisson5:9");
  const Histogram other = count_pairs(generate("poisson5:7"));
  for (const Plan& plan : test::all_plans({1})) {
    CAPTURE(traits(plan.coding).name);
    if (is_stream(plan.coding))
      CHECK_THROWS_WITH_AS(encode(matrix, plan, other), doctest::Contains("of another matrix"),
                           Error);
    else
      CHECK(test::same_bits(encode(matrix, plan, other).decode(), matrix));
    if (is_stream(plan.coding))
      CHECK_THROWS_WITH_AS(encode(matrix, plan, {}), doctest::Contains("without entries"), Error);
  }
}

TEST_CASE("progress is reported up to the whole") {
  const auto matrix = test::random_matrix<double>(30000, 30000, 20, 5, [](auto&) { return 1.0; });
  double last = 0;
  encode(matrix, {Coding::byte, 1}, count_pairs(matrix),
         {.threads = 1, .progress = [&](double done) {
            CHECK(done > last);
            last = done;
          }});
  CHECK(last == 1);
}

TEST_CASE("rows per lane out of range are refused") {
  const auto matrix = test::random_matrix<double>(10, 10, 2, 5, [](auto&) { return 1.0; });
  for (const int rows_per_lane : {0, -1, max_rows_per_lane + 1})
    CHECK_THROWS_WITH_AS(encode(matrix, {Coding::byte, rows_per_lane}, count_pairs(matrix)),
                         doctest::Contains("rows per lane"), Error);
}
