// SPDX-License-Identifier: BSD-3-Clause
// What an operator must do on every backend; invoked by conformance.hpp.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "support/backends.hpp"
#include "support/elements.hpp"
#include "support/matrices.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace tansolve::test {

/// A user's own operator, 2 I, in the fewest lines.
template <class T, class B>
class Twice : public LinearOperator<T, B> {
 public:
  using LinearOperator<T, B>::LinearOperator;

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override {
    copy(this->context(), x, y);
    scale(this->context(), 2, y);
  }
};

TEST_CASE_TEMPLATE_DEFINE("csr products give the bits of the reference", S, csr_products) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    if (matrix.cols() > 1'000'000) continue;  // gigabytes of x
    CAPTURE(name);
    const CsrOperator<T, B> a(context, matrix);
    const auto hx = random_elements<T>(matrix.cols(), 3), hu = random_elements<T>(matrix.rows(), 4);
    const auto x = upload(context, hx), u = upload(context, hu);

    std::vector<T> expected(matrix.rows());
    auto y = upload(context, std::vector<T>(matrix.rows(), nan));
    a.apply(x, y);
    reference::product(matrix, hx.data(), expected.data());
    CHECK(same(download(context, y), expected));

    copy(context, u, y.span());
    expected = hu;
    a.apply(T(-1.5), x, T(0.25), y);
    reference::product(matrix, T(-1.5), hx.data(), T(0.25), expected.data());
    CHECK(same(download(context, y), expected));

    fill(context, nan, y.span());
    a.apply(T(2), x, T(0), y);
    reference::product(matrix, T(2), hx.data(), T(0), expected.data());
    CHECK(same(download(context, y), expected));

    std::vector<T> transposed(matrix.cols());
    auto v = upload(context, std::vector<T>(matrix.cols(), nan));
    a.apply_transposed(u, v);
    reference::transposed_product(matrix, hu.data(), transposed.data());
    CHECK(same(download(context, v), transposed));

    std::vector<T> diagonal(std::min(matrix.rows(), matrix.cols()));
    auto d = upload(context, std::vector<T>(diagonal.size(), nan));
    a.diagonal(d);
    reference::diagonal(matrix, diagonal.data());
    CHECK(same(download(context, d), diagonal));
  }
}

TEST_CASE_TEMPLATE_DEFINE("apply_dot gives the product, and the bits of dot", S, csr_apply_dot) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  std::vector<Csr<T>> matrices;
  for (const auto& [name, matrix] : nasty_matrices<T>())
    if (matrix.rows() == matrix.cols()) matrices.push_back(matrix);
  matrices.push_back(random_matrix<T>(50000, 50000, 5, 6, normal));
  for (const auto& matrix : matrices) {
    CAPTURE(matrix.rows());
    CAPTURE(matrix.nnz());
    const CsrOperator<T, B> a(context, matrix);
    const auto x = upload(context, random_elements<T>(matrix.cols(), 3));
    Vector<T, B> y(context, matrix.rows()), z(context, matrix.rows());
    Scalar<T, B> xy(context), xz(context);
    a.apply_dot(x, y, xy);
    a.apply(x, z);
    dot(context, x, z, xz);
    CHECK(same(download(context, y), download(context, z)));
    CHECK(same<T>({read(context, xy)}, {read(context, xz)}));
  }
}

TEST_CASE_TEMPLATE_DEFINE("a block product gives the bits of one product a column", S, csr_block) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    if (matrix.cols() > 1'000'000) continue;
    CAPTURE(name);
    const CsrOperator<T, B> a(context, matrix);
    for (const std::int64_t columns : {0, 1, 3, 17}) {
      CAPTURE(columns);
      const auto X = upload(context, random_elements<T>(columns * matrix.cols(), 3));
      Vector<T, B> Y(context, columns * matrix.rows()), Z(context, columns * matrix.rows());
      const std::int64_t before = a.applications();
      a.apply_block(columns, X, Y);
      CHECK(a.applications() == before + columns);
      for (std::int64_t c = 0; c < columns; ++c)
        a.apply(X.span().subspan(c * matrix.cols(), matrix.cols()),
                Z.span().subspan(c * matrix.rows(), matrix.rows()));
      CHECK(same(download(context, Y), download(context, Z)));
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("operators refuse wrong shapes and overlap, naming them", S, op_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix =
      Csr<T>::from_triplets(2, 3, std::vector<Triplet<T>>{{0, 0, T(1)}, {1, 2, T(2)}});
  const CsrOperator<T, B> a(context, matrix);
  Vector<T, B> two(context, 2), three(context, 3), other_three(context, 3), five(context, 5);
  Scalar<T, B> s(context);
  const auto refused = [](const auto& body) {
    return code_thrown_by(body) == ErrorCode::invalid_argument;
  };
  CHECK(refused([&] { a.apply(two, three); }));
  CHECK(refused([&] { a.apply(1, three, 0, other_three); }));
  CHECK(refused([&] { a.apply_transposed(three, two); }));
  CHECK(refused([&] { a.apply_dot(three, two, s); }));
  CHECK(refused([&] { a.apply_block(2, three, two); }));
  CHECK(refused([&] { a.apply_block(-1, three, two); }));
  CHECK(refused([&] { a.apply_block(1, five.span().subspan(0, 3), five.span().subspan(2, 2)); }));
  CHECK(refused([&] { a.diagonal(three); }));
  CHECK(refused([&] { a.apply(five.span().subspan(0, 3), five.span().subspan(2, 2)); }));
  CHECK_NOTHROW(a.apply(five.span().subspan(0, 3), five.span().subspan(3, 2)));
  CHECK(a.applications() == 1);
  CHECK_THROWS_WITH_AS(a.apply(two, three),
                       "apply of csr (2 x 3): takes a vector of 3 elements into one of 2, but was "
                       "given 2 and 3",
                       Error);
}

TEST_CASE_TEMPLATE_DEFINE("a user's operator needs one function", S, user_operator) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const Twice<T, B> a(context, 3, 3);
  const auto x = upload<T>(context, {1, 2, 3});
  const T nan = std::numeric_limits<T>::quiet_NaN();
  auto y = upload<T>(context, {nan, nan, nan});
  a.apply(x, y);
  CHECK(download(context, y) == std::vector<T>{2, 4, 6});
  a.apply(3, x, -1, y);
  CHECK(download(context, y) == std::vector<T>{4, 8, 12});
  fill(context, nan, y.span());
  a.apply(3, x, 0, y);
  CHECK(download(context, y) == std::vector<T>{6, 12, 18});
  Scalar<T, B> xy(context);
  a.apply_dot(x, y, xy);
  CHECK(read(context, xy) == 28);
  Vector<T, B> Y(context, 6);
  a.apply_block(2, upload<T>(context, {1, 2, 3, 4, 5, 6}), Y);
  CHECK(download(context, Y) == std::vector<T>{2, 4, 6, 8, 10, 12});
  CHECK(a.applications() == 6);
  CHECK(code_thrown_by([&] { a.apply_transposed(x, y); }) == ErrorCode::not_supported);
  CHECK(code_thrown_by([&] { a.diagonal(y); }) == ErrorCode::not_supported);
}

}  // namespace tansolve::test
