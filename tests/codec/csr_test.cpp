// SPDX-License-Identifier: BSD-3-Clause
// Compressed sparse rows: what is put in order, what is refused and named.
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

using Offsets = std::vector<std::int64_t>;
using Columns = std::vector<std::int32_t>;
using Values = std::vector<double>;

void check(const Csr<double>& matrix, const Offsets& offsets, const Columns& columns,
           const Values& values) {
  CHECK(Offsets(matrix.offsets().begin(), matrix.offsets().end()) == offsets);
  CHECK(Columns(matrix.columns().begin(), matrix.columns().end()) == columns);
  CHECK(Values(matrix.values().begin(), matrix.values().end()) == values);
}

/// What is said of a matrix that is refused with that code.
template <class Make>
std::string refusal(ErrorCode code, const Make& make) {
  try {
    make();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "";
}

TEST_CASE("rows whose columns are in any order are sorted, with their values") {
  check(Csr<double>(3, 5, {0, 3, 3, 6}, {4, 0, 2, 1, 3, 0}, {1, 2, 3, 4, 5, 6}), {0, 3, 3, 6},
        {0, 2, 4, 0, 1, 3}, {2, 3, 1, 6, 4, 5});
  // A long row, in the opposite order.
  const std::int64_t n = 1000;
  Columns columns(n);
  Values values(n);
  for (std::int64_t i = 0; i < n; ++i) {
    columns[i] = static_cast<std::int32_t>(n - 1 - i);
    values[i] = static_cast<double>(i);
  }
  const Csr<double> matrix(1, n, {0, n}, columns, values);
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(matrix.columns()[i] == i);
    CHECK(matrix.values()[i] == static_cast<double>(n - 1 - i));
  }
}

TEST_CASE("duplicates are refused by row and column, or summed in the order given") {
  const auto make = [](Duplicates duplicates) {
    // 1e16 + 1 is 1e16: the sum says in which order it was made.
    return Csr<double>(2, 3, {0, 1, 5}, {1, 2, 0, 2, 2}, {7, 1, 5, 1e16, -1e16}, duplicates);
  };
  CHECK(refusal(ErrorCode::bad_input, [&] { make(Duplicates::refuse); }) ==
        "row 1: column 2 occurs more than once");
  check(make(Duplicates::sum), {0, 1, 3}, {1, 0, 2}, {7, 5, 0});
  const std::vector<Triplet<double>> triplets = {
      {1, 2, 1}, {0, 1, 7}, {1, 2, 1e16}, {1, 0, 5}, {1, 2, -1e16}};
  check(Csr<double>::from_triplets(2, 3, triplets), {0, 1, 3}, {1, 0, 2}, {7, 5, 0});
  CHECK(refusal(ErrorCode::bad_input, [&] {
          Csr<double>::from_triplets(2, 3, triplets, Duplicates::refuse);
        }).find("column 2") != std::string::npos);
}

TEST_CASE("arrays of either offset type are taken from where they begin") {
  const Columns columns = {9, 9, 0, 1, 1};
  const Values values = {-1, -1, 2, 3, 4};
  const std::vector<std::int32_t> narrow = {2, 4, 5};
  const Offsets wide = {2, 4, 5};
  check(Csr<double>::from_arrays(2, 2, narrow.data(), columns.data(), values.data()), {0, 2, 3},
        {0, 1, 1}, {2, 3, 4});
  check(Csr<double>::from_arrays(2, 2, wide.data(), columns.data(), values.data()), {0, 2, 3},
        {0, 1, 1}, {2, 3, 4});
}

TEST_CASE("arrays that are no matrix are refused, and what is wrong is named") {
  const auto refused = [](ErrorCode code, std::int64_t rows, std::int64_t cols,
                          const Offsets& offsets, const Columns& columns, const Values& values) {
    return refusal(code, [&] { Csr<double>(rows, cols, offsets, columns, values); });
  };
  const auto misuse = ErrorCode::invalid_argument;
  CHECK(refused(misuse, 2, 2, {0, 1}, {0}, {1}) == "offsets: 2 elements, but 2 rows need 3");
  CHECK(refused(misuse, 1, 2, {1, 2}, {0, 1}, {1, 2}) == "offsets: the first is 1, it must be 0");
  CHECK(refused(misuse, 2, 2, {0, 2, 1}, {0, 1}, {1, 2}) ==
        "offsets: row 1 ends at 1, before it begins at 2");
  CHECK(refused(misuse, 1, 2, {0, 2}, {0}, {1}) ==
        "1 columns and 1 values, but the offsets end at 2");
  CHECK(refused(ErrorCode::bad_input, 1, 2, {0, 1}, {2}, {1}) ==
        "row 0: column 2 lies outside [0, 2)");
  CHECK(refused(ErrorCode::bad_input, 1, 2, {0, 1}, {-1}, {1}) ==
        "row 0: column -1 lies outside [0, 2)");
  CHECK(refusal(misuse, [] { Csr<double>(-1, 2, {0}, {}, {}); }) != "");
  CHECK(refusal(misuse, [] {
          Csr<double>::from_arrays<std::int64_t>(1, 1, nullptr, nullptr, nullptr);
        }) == "offsets: a null pointer where rows + 1 are needed");
  const std::vector<Triplet<double>> outside = {{0, 0, 1}, {0, 2, 1}};
  CHECK(refusal(ErrorCode::bad_input, [&] {
          Csr<double>::from_triplets(1, 2, outside);
        }).find("triplet 1: (0, 2) lies outside a 1 x 2 matrix") == 0);
}

TEST_CASE("more than 2^31 nonzeros are counted, and need wide offsets") {
  const std::int64_t nnz = 3'000'000'000;
  const Offsets many = {0, nnz / 2, nnz}, few = {0, 2, 3};
  const StandardBytes large = standard_bytes(many, 8), small = standard_bytes(few, 8);
  CHECK(small.csr == 3 * 4 + 3 * (4 + 8));
  CHECK(large.csr == 3 * 8 + nnz * (4 + 8));
  CHECK(small.coo == 3 * (4 + 4 + 8));
  CHECK(large.coo == nnz * (4 + 4 + 8));
}

TEST_CASE("a matrix is symmetric where pattern and values are") {
  const auto make = [](double lower, double upper) {
    return Csr<double>(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, upper, lower, 2});
  };
  CHECK(is_symmetric(make(3, 3)));
  CHECK(is_symmetric(make(0.0, -0.0)));
  CHECK_FALSE(is_symmetric(make(3, std::nextafter(3.0, 4.0))));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(is_symmetric(make(nan, nan)));
  CHECK_FALSE(is_symmetric(Csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 3, 2})));
  CHECK_FALSE(is_symmetric(Csr<double>(1, 2, {0, 1}, {0}, {1})));
}

}  // namespace
}  // namespace tansolve::test
