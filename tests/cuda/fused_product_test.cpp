// SPDX-License-Identifier: BSD-3-Clause
// The fused product on the GPU against the uncompressed one of the host: both sum a row in the
// order of its columns, so that they differ by roundings alone.
#include "cuda/products.hpp"
#include "support/backends.hpp"
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/update_values.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// Blocks of up to eight columns and beyond, every third of which is wild.
template <class T>
void check_blocks(Context<Cuda>& context, const LinearOperator<T, Cuda>& a, const Csr<T>& matrix,
                  const std::vector<T>& tame, const std::vector<T>& wild) {
  const std::vector<T> poison(matrix.rows(), std::numeric_limits<T>::quiet_NaN());
  for (const std::int64_t columns : {3, 13}) {
    CAPTURE(columns);
    std::vector<T> all;
    std::vector<Expected<T>> expected;
    for (std::int64_t c = 0; c < columns; ++c) {
      auto x = c % 3 == 1 ? wild : tame;
      for (T& element : x) element *= static_cast<T>(c + 1);
      expected.emplace_back(matrix, T(1), x, T(0), poison);
      all.insert(all.end(), x.begin(), x.end());
    }
    const auto X = upload(context, all);
    Vector<T, Cuda> Y(context, columns * matrix.rows());
    fill(context, std::numeric_limits<T>::quiet_NaN(), Y.span());
    a.apply_block(columns, X, Y);
    const auto found = download(context, Y);
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto first = found.begin() + c * matrix.rows();
      CHECK(expected[c].agrees(std::vector<T>(first, first + matrix.rows())));
    }
  }
}

template <class T>
void check_products(Context<Cuda>& context, const Csr<T>& matrix, const Plan& plan,
                    const Histogram& histogram) {
  CAPTURE(traits(plan.coding).name);
  CAPTURE(plan.rows_per_lane);
  CAPTURE(static_cast<int>(plan.row_ends));
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto compressed = encode(matrix, plan, histogram);
  const CompressedOperator<T, Cuda> a(context, compressed);
  const RowPatterns<T>& patterns = compressed.parts().arrays.patterns;
  CHECK(a.device_bytes() <=
        compressed.storage().total() + detail::DeviceMatrix<T>::extra_bytes +
            detail::ArrayMatrix<T>::pattern_bytes * patterns.count() +
            detail::ArrayMatrix<T>::entry_bytes * std::ssize(patterns.offsets) +
            detail::ArrayMatrix<T>::slice_bytes * std::ssize(compressed.parts().slice_offsets) +
            static_cast<std::int64_t>(sizeof(T)) * detail::most_block_columns *
                compressed.parts().arrays.order.pieces());
  const auto hx = uniform_vector<T>(matrix.cols(), 42), hy = uniform_vector<T>(matrix.rows(), 43);
  const std::vector<T> poison(matrix.rows(), nan);
  auto wild = hx;  // what padding or an empty row touches by mistake shows as NaN
  for (std::size_t j = 0; j < wild.size(); j += 5) wild[j] = j % 2 == 0 ? nan : T(HUGE_VAL);
  const auto x = upload(context, hx), w = upload(context, wild);

  auto y = upload(context, poison);
  a.apply(x, y);
  const auto product = download(context, y);
  CHECK(Expected<T>(matrix, 1, hx, 0, poison).agrees(product));
  a.apply(w, y);
  CHECK(Expected<T>(matrix, 1, wild, 0, poison).agrees(download(context, y)));
  fill(context, nan, y.span());
  a.apply(T(-2.5), x, T(0), y);
  CHECK(Expected<T>(matrix, -2.5, hx, 0, poison).agrees(download(context, y)));
  copy_from_host(context, hy, y.span());
  a.apply(T(0.5), x, T(3), y);
  CHECK(Expected<T>(matrix, 0.5, hx, 3, hy).agrees(download(context, y)));

  check_blocks(context, a, matrix, hx, wild);
  if (matrix.rows() != matrix.cols()) return;
  Scalar<T, Cuda> xy(context);
  fill(context, nan, y.span());
  a.apply_dot(x, y, xy);
  CHECK(same(download(context, y), product));
  long double exact = 0;
  double size = 0;
  for (std::size_t i = 0; i < hx.size(); ++i) {
    exact += static_cast<long double>(hx[i]) * product[i];
    size += std::abs(static_cast<double>(hx[i]) * product[i]);
  }
  const double found = read(context, xy), sum = static_cast<double>(exact);
  CHECK(((std::isnan(sum) && std::isnan(found)) || static_cast<T>(sum) == found ||
         std::abs(found - sum) <= 4 * std::numeric_limits<T>::epsilon() * size));
}

template <class T>
void check_every_plan(const Csr<T>& matrix) {
  Context<Cuda> context;
  const Histogram histogram = count_pairs(matrix);
  for (const Plan& plan : all_plans({1, 4, 7})) check_products(context, matrix, plan, histogram);
}

TEST_CASE_TEMPLATE("the fused product on the gpu agrees with the csr product on nasty matrices", T,
                   double, float) {
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    if (matrix.cols() > 1'000'000) continue;  // gigabytes of x
    CAPTURE(name);
    check_every_plan(matrix);
  }
}

TEST_CASE_TEMPLATE("the fused product on the gpu agrees with the csr product on structured ones", T,
                   double, float) {
  for (const std::string& specification : structured) {
    CAPTURE(specification);
    check_every_plan(convert<T>(generate(specification)));
  }
}

TEST_CASE_TEMPLATE("an operator on the gpu multiplies by new values once it is refreshed", T,
                   double, float) {
  const auto matrix = convert<T>(generate("varcoef7:9")),
             other = convert<T>(generate("varcoef7:9@2"));
  const Histogram histogram = count_pairs(matrix);
  Context<Cuda> context;
  const auto hx = uniform_vector<T>(matrix.cols(), 5);
  const std::vector<T> poison(matrix.rows(), std::numeric_limits<T>::quiet_NaN());
  const auto x = upload(context, hx);
  for (const Plan& plan : all_plans({2})) {
    CAPTURE(traits(plan.coding).name);
    auto compressed = encode(matrix, plan, histogram);
    CompressedOperator<T, Cuda> a(context, compressed);
    update_values(compressed, other);  // patterns become shapes
    auto y = upload(context, poison);
    a.apply(x, y);
    CHECK(Expected<T>(matrix, 1, hx, 0, poison).agrees(download(context, y)));
    a.refresh();
    y = upload(context, poison);
    a.apply(x, y);
    CHECK(Expected<T>(other, 1, hx, 0, poison).agrees(download(context, y)));
  }
}

TEST_CASE_TEMPLATE("the fused product on the gpu takes unowned slots for symbol 0", T, double,
                   float) {
  // One pair, left of the diagonal, in rows 4096 and on: whoever took its delta for 0 would read x
  // beyond its end. Words of ones hold the last slot, which that one symbol never owns.
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 4096; i < 4160; ++i) triplets.push_back({i, i - 4096, T(3)});
  const auto matrix = Csr<T>::from_triplets(4160, 64, triplets);
  Context<Cuda> context;
  for (const CodingTraits& coding : all_codings) {
    if (!is_stream(coding.coding)) continue;
    CAPTURE(coding.name);
    auto parts = encode(matrix, {coding.coding, 1}, count_pairs(matrix)).parts();
    for (auto& word : parts.words) word = 0xffffffff;
    const CompressedMatrix<T> crafted(parts);
    const CompressedOperator<T, Cuda> a(context, crafted);
    const auto hx = uniform_vector<T>(matrix.cols(), 6);
    const auto x = upload(context, hx);
    Vector<T, Cuda> y(context, matrix.rows());
    a.apply(x, y);
    CHECK(
        Expected<T>(matrix, 1, hx, 0, std::vector<T>(matrix.rows())).agrees(download(context, y)));
  }
}

TEST_CASE_TEMPLATE("lanes take several rows of large matrices of patterns", T, double, float) {
  Context<Cuda> context;
  const auto check = [&](const Csr<T>& matrix) {
    check_products(context, matrix, {.coding = Coding::patterns}, count_pairs(matrix));
  };
  for (const char* specification : {"poisson5:803x701", "poisson5:601x503", "poisson5:301x202"})
    check(convert<T>(generate(specification)));
  // Three kinds of rows in turn, of which some miss entries; a base of more than 32.
  for (const std::int64_t rows : {std::int64_t{300'007}, std::int64_t{600'011}}) {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> columns;
    std::vector<T> values;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < (i % 3 == 1 ? 37 : 4); ++k)
        if (i % 1001 < 990 || k % 3 == 1) {
          columns.push_back(static_cast<std::int32_t>(i + k * (1 + i % 3)));
          values.push_back(static_cast<T>(1 + k % 5));
        }
      offsets.push_back(std::ssize(columns));
    }
    check(Csr<T>(rows, rows + 200, std::move(offsets), std::move(columns), std::move(values)));
  }
}

/// Rows of 0 to 11 entries and, where every `period`-th slice is, of 40 more.
template <class T, class Value>
Csr<T> uneven_matrix(std::int64_t rows, std::int64_t period, const Value& value) {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t length = i * i % 12 + (i / 32 % period == 5 ? 40 : 0);
    for (std::int64_t k = 0; k < length; ++k) {
      columns.push_back(static_cast<std::int32_t>(i + k * (1 + i % 3)));
      values.push_back(static_cast<T>(value(std::ssize(columns))));
    }
    offsets.push_back(std::ssize(columns));
  }
  return Csr<T>(rows, rows + 200, std::move(offsets), std::move(columns), std::move(values));
}

TEST_CASE_TEMPLATE("uneven slices of fields of every kind are multiplied once each", T, double,
                   float) {
  Context<Cuda> context;
  const std::int64_t period =
      std::int64_t{context.properties().multiprocessors} * detail::packed_threads / 32;
  const auto random = uniform_vector<double>(1'000'003, 8);
  const auto in = [&](std::int64_t i) { return random[i % std::ssize(random)]; };
  const auto check = [&](const auto& value) {
    const auto matrix = uneven_matrix<T>(3 * 32 * period + 17, period, value);
    const Histogram histogram = count_pairs(matrix);
    const auto hx = uniform_vector<T>(matrix.cols(), 42);
    const auto x = upload(context, hx);
    const std::vector<T> poison(matrix.rows(), std::numeric_limits<T>::quiet_NaN());
    const Expected<T> expected(matrix, 1, hx, 0, poison);
    for (const Coding coding : {Coding::packed, Coding::shapes}) {
      CAPTURE(traits(coding).name);
      const auto compressed = encode(matrix, {.coding = coding}, histogram);
      const CompressedOperator<T, Cuda> a(context, compressed);
      auto y = upload(context, poison);
      a.apply(x, y);
      CHECK(expected.agrees(download(context, y)));
    }
  };
  check([&](std::int64_t i) { return in(i); });
  check([&](std::int64_t i) { return 1.5 + std::abs(in(i)); });
  check([&](std::int64_t i) { return std::ldexp(in(i), static_cast<int>(i % 120) - 60); });
  check([&](std::int64_t i) { return i % 7; });
  check([&](std::int64_t i) { return i % 1'000'003; });
  check([&](std::int64_t i) { return 1 + i % 3001; });
  check([&](std::int64_t i) { return i % 5003 == 7 ? 1e30 : 1 + in(i) / 4; });
  check([&](std::int64_t i) { return i % 5003 == 7 ? HUGE_VAL : 1 + in(i) / 4; });
}

TEST_CASE_TEMPLATE("long rows are added up piece by piece, in x'y too", T, double, float) {
  Context<Cuda> context;
  const auto matrix = convert<T>(generate("laplacian:ba:40000:6"));
  REQUIRE(encode(matrix, {.coding = Coding::packed}, count_pairs(matrix))
              .parts()
              .arrays.order.pieces() > 0);
  check_products(context, matrix, {.coding = Coding::packed}, count_pairs(matrix));
}

TEST_CASE("products repeat to the bit, and do not allocate") {
  Context<Cuda> context;
  const auto matrix = generate("laplacian:ba:20000:8");
  const auto compressed = encode(matrix, {Coding::joint, 2}, count_pairs(matrix));
  const CompressedOperator<double, Cuda> a(context, compressed);
  const auto x = upload(context, uniform_vector<double>(matrix.cols(), 1));
  Vector<double, Cuda> y(context, matrix.rows());
  Scalar<double, Cuda> xy(context);
  a.apply_dot(x, y, xy);
  const auto first = download(context, y);
  const double first_xy = read(context, xy);
  const std::int64_t allocations = context.allocations();
  for (int i = 0; i < 10; ++i) {
    a.apply_dot(x, y, xy);
    CHECK(download(context, y) == first);
    CHECK(read(context, xy) == first_xy);
  }
  CHECK(context.allocations() == allocations);
}

TEST_CASE("the diagonal of a compressed matrix reaches the gpu") {
  Context<Cuda> context;
  const auto matrix = generate("varcoef7:5");
  const auto compressed = encode(matrix, {Coding::joint, 3}, count_pairs(matrix));
  std::vector<double> expected(matrix.rows());
  reference::diagonal(matrix, expected.data());
  Vector<double, Cuda> d(context, matrix.rows());
  CompressedOperator<double, Cuda>(context, compressed).diagonal(d);
  CHECK(download(context, d) == expected);
}

}  // namespace
}  // namespace tansolve::test
