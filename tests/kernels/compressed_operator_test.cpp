// SPDX-License-Identifier: BSD-3-Clause
// The fused product against the uncompressed one, bit for bit, on every instruction set of this
// machine.
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/update_values.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace tansolve;

namespace {

constexpr std::int64_t most_columns = 1'000'000;  // of x, beyond which a matrix is left out

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& value : x) value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return x;
}

/// Equal bits, but for the payload of a NaN, which processors choose as they like.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
    return value_bits(x) == value_bits(y) || (std::isnan(x) && std::isnan(y));
  });
}

template <class T>
std::vector<T> product(const LinearOperator<T, Host>& a, T alpha, std::vector<T> x, T beta,
                       std::vector<T> y) {
  if (alpha == T(1) && beta == T(0))
    a.apply(Span<T, Host>(x.data(), std::ssize(x)), Span<T, Host>(y.data(), std::ssize(y)));
  else
    a.apply(alpha, Span<T, Host>(x.data(), std::ssize(x)), beta,
            Span<T, Host>(y.data(), std::ssize(y)));
  return y;
}

/// Columns of a block, some wild, each like a product of its own.
template <class T>
void check_block(const LinearOperator<T, Host>& dtans, const std::vector<T>& x,
                 const std::vector<T>& wild) {
  for (const std::int64_t columns : {2, 11}) {
    CAPTURE(columns);
    std::vector<T> X, each;
    for (std::int64_t c = 0; c < columns; ++c) {
      auto column = c % 3 == 1 ? wild : x;
      for (T& element : column) element *= static_cast<T>(c + 1);
      const auto y = product(dtans, T(1), column, T(0), std::vector<T>(dtans.rows()));
      X.insert(X.end(), column.begin(), column.end());
      each.insert(each.end(), y.begin(), y.end());
    }
    std::vector<T> Y(columns * dtans.rows(), std::numeric_limits<T>::quiet_NaN());
    dtans.apply_block(columns, Span<const T, Host>(X.data(), std::ssize(X)),
                      Span<T, Host>(Y.data(), std::ssize(Y)));
    CHECK(same(Y, each));
  }
}

template <class T>
void check_products(const Csr<T>& matrix, const Plan& plan, const Histogram& histogram) {
  CAPTURE(traits(plan.coding).name);
  CAPTURE(plan.rows_per_lane);
  CAPTURE(static_cast<int>(plan.row_ends));
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto compressed = encode(matrix, plan, histogram);
  Context<Host> serial(1), threaded(3);
  const CsrOperator<T, Host> csr(serial, matrix);
  const auto x = random_vector<T>(matrix.cols(), 42);
  const auto y = random_vector<T>(matrix.rows(), 43);
  const std::vector<T> poison(matrix.rows(), nan);
  auto wild = x;  // what padding or an empty row touches by mistake shows as NaN
  for (std::size_t j = 0; j < wild.size(); j += 5) wild[j] = j % 2 == 0 ? nan : T(HUGE_VAL);
  for (const std::string& isa : supported_isas()) {
    CAPTURE(isa);
    for (Context<Host>* context : {&serial, &threaded}) {
      const CompressedOperator<T, Host> dtans(*context, compressed, isa);
      CHECK(same(product(dtans, T(1), x, T(0), poison), product(csr, T(1), x, T(0), poison)));
      CHECK(same(product(dtans, T(1), wild, T(0), poison), product(csr, T(1), wild, T(0), poison)));
      CHECK(same(product(dtans, T(-2.5), x, T(0), poison), product(csr, T(-2.5), x, T(0), poison)));
      CHECK(same(product(dtans, T(0.5), x, T(3), y), product(csr, T(0.5), x, T(3), y)));
      check_block(dtans, x, wild);
    }
  }
}

template <class T>
void check_every_plan(const Csr<T>& matrix) {
  const Histogram histogram = count_pairs(matrix);
  for (const Plan& plan : test::all_plans({1, 4, 7})) check_products(matrix, plan, histogram);
}

/// Rows alike in runs (lanes in step), unlike in others, and lengths that change in between.
const std::vector<std::string> structured = {
    "poisson5:70x3",  "poisson7:9",    "poisson27:11", "convdiff7:6",
    "varcoef7:6",     "fem3:4",        "fem3u:3",      "band:500:9:20:4",
    "band:500:4:3:0", "heisenberg:10", "er:400:6",     "laplacian:ba:600:6",
    "rmat:8:9"};

}  // namespace

TEST_CASE_TEMPLATE("the fused product has the bits of the csr product on nasty matrices", T, double,
                   float) {
  for (const auto& [name, matrix] : test::nasty_matrices<T>()) {
    if (matrix.cols() > most_columns) continue;
    CAPTURE(name);
    check_every_plan(matrix);
  }
}

TEST_CASE_TEMPLATE("the fused product has the bits of the csr product on structured matrices", T,
                   double, float) {
  for (const std::string& specification : structured) {
    CAPTURE(specification);
    check_every_plan(convert<T>(generate(specification)));
  }
}

TEST_CASE_TEMPLATE("apply_dot has the bits of the csr operator's on any number of threads", T,
                   double, float) {
  // Where chunks of rows are shared out evenly, where one of them has nearly all nonzeros, where
  // slices cross them (7 rows a lane), and where there is only a part of one.
  std::vector<Csr<T>> matrices;
  for (const char* specification :
       {"band:50000:5:300:4", "poisson7:30", "poisson5:20", "poisson5:1"})
    matrices.push_back(convert<T>(generate(specification)));
  std::vector<Triplet<T>> dense;
  for (std::int64_t i = 0; i < 30000; ++i) dense.push_back({i < 29000 ? 17 : i, i, T(i % 7)});
  std::ranges::sort(dense, {}, &Triplet<T>::row);
  matrices.push_back(Csr<T>::from_triplets(30000, 30000, dense));
  matrices.push_back(Csr<T>::from_triplets(0, 0, {}));
  for (const Csr<T>& matrix : matrices)
    for (const int rows_per_lane : {1, 7, 16}) {
      CAPTURE(matrix.rows());
      CAPTURE(rows_per_lane);
      const auto compressed =
          encode(matrix, {Coding::joint, rows_per_lane, RowEnds::crossing}, count_pairs(matrix));
      const auto x = random_vector<T>(matrix.cols(), 8);
      const auto apply_dot = [&](const LinearOperator<T, Host>& a) {
        std::vector<T> y(matrix.rows(), std::numeric_limits<T>::quiet_NaN());
        Scalar<T, Host> xy(a.context());
        a.apply_dot({x.data(), std::ssize(x)}, {y.data(), std::ssize(y)}, xy);
        y.push_back(read(a.context(), xy));
        return y;
      };
      Context<Host> serial(1);
      const auto expected = apply_dot(CsrOperator<T, Host>(serial, matrix));
      for (const int threads : {1, 2, 3, 7}) {
        Context<Host> context(threads);
        CHECK(same(apply_dot(CompressedOperator<T, Host>(context, compressed)), expected));
      }
    }
}

TEST_CASE_TEMPLATE("the checked backend's product agrees with the fused one", T, double, float) {
  const auto matrix = convert<T>(generate("laplacian:ba:300:6"));
  const auto compressed = encode(matrix, {Coding::byte, 2}, count_pairs(matrix));
  Context<Checked> checked;
  Context<Host> host;
  const CompressedOperator<T, Checked> suspicious(checked, compressed);
  const CompressedOperator<T, Host> fused(host, compressed);
  const auto x = random_vector<T>(matrix.cols(), 1);
  Vector<T, Checked> cx(checked, matrix.cols()), cy(checked, matrix.rows());
  copy_from_host(checked, x, cx.span());
  suspicious.apply(cx, cy);
  const auto expected = product(fused, T(1), x, T(0), std::vector<T>(matrix.rows()));
  std::vector<T> y(matrix.rows());
  copy_to_host(checked, cy, std::span(y));
  CHECK(same(y, expected));

  Scalar<T, Checked> xy(checked), dotted(checked);
  checked.counters() = {};
  suspicious.apply_dot(cx, cy, xy);
  CHECK(checked.counters().elements == 2 * matrix.rows());
  CHECK(checked.counters().reductions == 1);
  copy_to_host(checked, cy, std::span(y));
  CHECK(same(y, expected));
  dot(checked, cx, cy, dotted);
  CHECK(read(checked, xy) == read(checked, dotted));
}

TEST_CASE_TEMPLATE(
    "slots that no symbol owns mean symbol 0 to the fused product as to the reference", T, double,
    float) {
  // One pair, left of the diagonal, in rows 4096 and on: whoever took its delta for 0 would read x
  // beyond its end. Words of ones hold the last slot, which that one symbol never owns.
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 4096; i < 4160; ++i) triplets.push_back({i, i - 4096, T(3)});
  const auto matrix = Csr<T>::from_triplets(4160, 64, triplets);
  for (const CodingTraits& coding : all_codings) {
    if (!is_stream(coding.coding)) continue;
    CAPTURE(coding.name);
    auto parts = encode(matrix, {coding.coding, 1}, count_pairs(matrix)).parts();
    for (auto& word : parts.words) word = 0xffffffff;
    const CompressedMatrix<T> crafted(parts);
    CHECK(test::same_bits(crafted.decode(), matrix));
    Context<Host> context(1);
    const CsrOperator<T, Host> csr(context, matrix);
    const auto x = random_vector<T>(matrix.cols(), 6);
    const std::vector<T> y(matrix.rows());
    for (const std::string& isa : supported_isas())
      CHECK(same(product(CompressedOperator<T, Host>(context, crafted, isa), T(1), x, T(0), y),
                 product(csr, T(1), x, T(0), y)));
  }
}

TEST_CASE_TEMPLATE("the diagonal of a compressed matrix is that of the matrix", T, double, float) {
  for (const char* specification : {"varcoef7:5", "er:300:4", "heisenberg:8"}) {
    const auto matrix = convert<T>(generate(specification));
    const auto compressed = encode(matrix, {Coding::joint, 3}, count_pairs(matrix));
    Context<Host> context;
    std::vector<T> expected(matrix.rows()), found(matrix.rows());
    CsrOperator<T, Host>(context, matrix).diagonal({expected.data(), matrix.rows()});
    CompressedOperator<T, Host>(context, compressed).diagonal({found.data(), matrix.rows()});
    CHECK(same(found, expected));
  }
}

TEST_CASE("instruction sets are forced by name or by variable, and unknown ones refused") {
  const auto matrix = generate("poisson5:4");
  const auto compressed = encode(matrix, {Coding::byte, 1}, count_pairs(matrix));
  Context<Host> context;
  const auto make = [&](const std::string& isa) {
    CompressedOperator<double, Host>(context, compressed, isa);
  };
  CHECK(supported_isas().size() >= 1);
  CHECK_NOTHROW(make("scalar"));
  CHECK_THROWS_WITH_AS(make("mmx"), doctest::Contains("scalar"), Error);
  setenv("TANSOLVE_ISA", "no-such-set", 1);
  CHECK_THROWS_WITH_AS(make(""), doctest::Contains("no-such-set"), Error);
  unsetenv("TANSOLVE_ISA");
  CHECK_NOTHROW(make(""));
}

TEST_CASE_TEMPLATE("an operator that is refreshed multiplies by the new values", T, double, float) {
  const auto matrix = convert<T>(generate("varcoef7:7")),
             other = convert<T>(generate("varcoef7:7@2"));
  const Histogram histogram = count_pairs(matrix);
  Context<Host> context(2);
  const CsrOperator<T, Host> csr(context, other);
  const auto x = random_vector<T>(matrix.cols(), 8);
  const std::vector<T> y(matrix.rows());
  for (const Plan& plan : test::all_plans({2})) {
    CAPTURE(traits(plan.coding).name);
    auto compressed = encode(matrix, plan, histogram);
    CompressedOperator<T, Host> dtans(context, compressed);
    update_values(compressed, other);
    dtans.refresh();
    CHECK(same(product(dtans, T(1), x, T(0), y), product(csr, T(1), x, T(0), y)));
  }
}
