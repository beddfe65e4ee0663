// SPDX-License-Identifier: BSD-3-Clause
// What every backend must do. A backend's test file includes this and instantiates the cases; they
// reach its memory by copy_from_host and copy_to_host alone. Over 400 lines because the cases share
// the vectors and readings that they are written in.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "support/backends.hpp"
#include "support/matrices.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tansolve::test {

inline const std::vector<std::int64_t> sizes = {0, 1, 7, 8, 9, 4095, 4096, 4097, 40000};

template <class T>
std::vector<T> random_elements(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> elements(n);
  for (T& element : elements) element = static_cast<T>(normal(random));
  return elements;
}

template <class Body>
ErrorCode code_thrown_by(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("nothing was thrown");
  return ErrorCode::internal;
}

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

TEST_CASE_TEMPLATE_DEFINE("vectors return what was copied into them", S, vectors_copy) {
  using T = typename S::T;
  auto context = S::context();
  for (const std::int64_t n : sizes) {
    const auto elements = random_elements<T>(n, 1);
    auto x = upload(context, elements);
    CHECK(x.size() == n);
    CHECK(download(context, x) == elements);
    auto moved = std::move(x);
    CHECK(download(context, moved) == elements);
  }
  Scalar<T, typename S::B> scalar(context);
  write(context, T(2.5), scalar);
  CHECK(read(context, scalar) == T(2.5));
}

TEST_CASE_TEMPLATE_DEFINE("copies and vectors refuse sizes that do not fit", S, vectors_refuse) {
  using T = typename S::T;
  using V = Vector<T, typename S::B>;
  auto context = S::context();
  V x(context, 3);
  std::vector<T> four(4);
  CHECK(code_thrown_by([&] { copy_from_host(context, four, x.span()); }) ==
        ErrorCode::invalid_argument);
  CHECK(code_thrown_by([&] { copy_to_host<T>(context, x, four); }) == ErrorCode::invalid_argument);
  CHECK(code_thrown_by([&] { V(context, -1); }) == ErrorCode::invalid_argument);
  CHECK(code_thrown_by([&] { V(context, std::int64_t{1} << 62); }) == ErrorCode::out_of_memory);
}

TEST_CASE_TEMPLATE_DEFINE("elementwise primitives give the bits of the reference", S, elementwise) {
  using T = typename S::T;
  auto context = S::context();
  for (const std::int64_t n : sizes) {
    const auto hx = random_elements<T>(n, 1), hy = random_elements<T>(n, 2);
    const auto x = upload(context, hx), y0 = upload(context, hy);
    auto y = upload(context, hy);
    auto expected = hy;

    axpby(context, T(0.3), x, T(-1.7), y.span());
    reference::axpby(n, T(0.3), hx.data(), T(-1.7), expected.data());
    CHECK(download(context, y) == expected);
    axpbypcz(context, T(0.3), x, T(-1.1), y0, T(0.9), y.span());
    reference::axpbypcz(n, T(0.3), hx.data(), T(-1.1), hy.data(), T(0.9), expected.data());
    CHECK(download(context, y) == expected);
    scale(context, T(0.7), y.span());
    reference::scale(n, T(0.7), expected.data());
    CHECK(download(context, y) == expected);
    multiply(context, x, y0, y.span());
    reference::multiply(n, hx.data(), hy.data(), expected.data());
    CHECK(download(context, y) == expected);
    copy(context, x, y.span());
    CHECK(download(context, y) == hx);
    using U = std::conditional_t<std::is_same_v<T, float>, double, float>;
    Vector<U, typename S::B> other(context, n);
    std::vector<U> converted(n);
    convert(context, T(0.3), x, other.span());
    reference::convert(n, T(0.3), hx.data(), converted.data());
    CHECK(download(context, other) == converted);
    fill(context, T(4), y.span());
    CHECK(download(context, y) == std::vector<T>(n, T(4)));
  }
}

TEST_CASE_TEMPLATE_DEFINE("primitives give the numbers worked out by hand", S, by_hand) {
  using T = typename S::T;
  auto context = S::context();
  Scalar<T, typename S::B> s(context), rho(context), rho_new(context), pq(context);
  const auto x = upload<T>(context, {1, 2, 3}), y = upload<T>(context, {4, 5, 6});
  dot(context, x, y, s);
  CHECK(read(context, s) == 32);
  norm2(context, upload<T>(context, {3, -4}), s);
  CHECK(read(context, s) == 5);

  auto z = upload<T>(context, {10, 20, 30});
  axpby(context, 2, x, T(0.5), z.span());
  CHECK(download(context, z) == std::vector<T>{7, 14, 21});
  axpbypcz(context, 2, x, -1, y, 3, z.span());
  CHECK(download(context, z) == std::vector<T>{19, 41, 63});

  // alpha = 2 / 4; x += 10 alpha p; r -= alpha q; r'r = 1 + 4
  Scalar<T, typename S::B> rr(context);
  write(context, 13, rr);
  write(context, 2, rho);
  write(context, 4, pq);
  auto step_x = upload<T>(context, {1, 1}), r = upload<T>(context, {2, 3});
  auto p = upload<T>(context, {1, 2});
  const auto q = upload<T>(context, {2, 10});
  const CgStep<T, typename S::B> step = {rho, pq, rr, 10, 12};
  cg_residual(context, step, q, r.span(), s);
  CHECK(download(context, r) == std::vector<T>{1, -2});
  CHECK(read(context, s) == 5);

  // beta = 6 / 2
  write(context, 6, rho_new);
  cg_direction(context, step, rho_new, s, r, p.span(), step_x.span());
  CHECK(download(context, step_x) == std::vector<T>{6, 11});
  CHECK(download(context, p) == std::vector<T>{4, 4});
}

TEST_CASE_TEMPLATE_DEFINE("dot and norm2 agree with the reference up to rounding", S, reductions) {
  using T = typename S::T;
  auto context = S::context();
  Scalar<T, typename S::B> s(context);
  for (const std::int64_t n : sizes) {
    const auto hx = random_elements<T>(n, 1), hy = random_elements<T>(n, 2);
    const auto x = upload(context, hx), y = upload(context, hy);
    double size = 0;
    for (std::int64_t i = 0; i < n; ++i) size += std::abs(static_cast<double>(hx[i]) * hy[i]);
    const double eps = std::numeric_limits<T>::epsilon();
    dot(context, x, y, s);
    CHECK(std::abs(read(context, s) - reference::dot(n, hx.data(), hy.data())) <= 4 * eps * size);
    norm2(context, x, s);
    const double norm = reference::norm2(n, hx.data());
    CHECK(std::abs(read(context, s) - norm) <= 64 * eps * norm);
  }
}

TEST_CASE_TEMPLATE_DEFINE("norm2 neither overflows nor underflows, and shows NaN", S, norm2_range) {
  using T = typename S::T;
  using Limits = std::numeric_limits<T>;
  auto context = S::context();
  Scalar<T, typename S::B> s(context);
  const auto norm = [&](std::vector<T> elements) {
    norm2(context, upload(context, elements), s);
    return static_cast<double>(read(context, s));
  };
  const T huge = Limits::max() / 8, tiny = Limits::min();
  CHECK(norm({3 * huge, 4 * huge}) == doctest::Approx(5.0 * huge).epsilon(1e-6));
  CHECK(norm({3 * tiny, -4 * tiny}) == doctest::Approx(5.0 * tiny).epsilon(1e-6));
  CHECK(norm({3 * Limits::denorm_min(), 4 * Limits::denorm_min()}) == 5.0 * Limits::denorm_min());
  CHECK(norm({tiny, 1}) == 1);
  CHECK(norm(std::vector<T>(10000, tiny)) == doctest::Approx(100.0 * tiny).epsilon(1e-6));
  CHECK(norm({0, -0.0}) == 0);
  CHECK(norm({}) == 0);
  CHECK(std::isinf(norm({1, -Limits::infinity()})));
  CHECK(std::isinf(norm({Limits::max(), Limits::max()})));
  CHECK(std::isnan(norm({1, Limits::quiet_NaN()})));
  CHECK(std::isnan(norm({Limits::infinity(), Limits::quiet_NaN()})));
}

TEST_CASE_TEMPLATE_DEFINE("a step of cg that is not to be taken keeps x and r", S, cg_refuses) {
  using T = typename S::T;
  using Limits = std::numeric_limits<T>;
  auto context = S::context();
  Scalar<T, typename S::B> rho(context), pq(context), rr(context), rr_next(context);
  write(context, 25, rr);
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN();
  struct Case {
    T rho, pq, scale;
  };
  for (const auto& [a, b, c] : std::vector<Case>{{1, 0, 1},
                                                 {1, -1, 1},
                                                 {1, nan, 1},
                                                 {1, inf, 1},
                                                 {-1, 1, 1},
                                                 {0, 1, 1},
                                                 {nan, 1, 1},
                                                 {inf, 1, 1},
                                                 {1, Limits::denorm_min(), 1},
                                                 {4, 1, Limits::max()},
                                                 {0, 0, 1}}) {
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    write(context, a, rho);
    write(context, b, pq);
    auto x = upload<T>(context, {1, 2}), r = upload<T>(context, {3, 4});
    auto p = upload<T>(context, {1, 1});
    const auto q = upload<T>(context, {1, 1});
    cg_residual(context, {rho, pq, rr, c, 0}, q, r.span(), rr_next);
    CHECK(std::isnan(read(context, rr_next)));
    CHECK(download(context, r) == std::vector<T>{3, 4});
    cg_direction(context, {rho, pq, rr, c, 0}, rho, rr_next, r, p.span(), x.span());
    CHECK(download(context, x) == std::vector<T>{1, 2});
    CHECK(download(context, p) == std::vector<T>{1, 1});
  }
}

TEST_CASE_TEMPLATE_DEFINE("steps beyond the last that is wanted change nothing", S, cg_idles) {
  using T = typename S::T;
  auto context = S::context();
  Scalar<T, typename S::B> one(context), rr(context), rr_next(context);
  write(context, 1, one);
  const CgStep<T, typename S::B> step = {one, one, rr, 1, 25};
  const auto q = upload<T>(context, {1, 1});
  for (const T before : {T(25), T(24), T(0), std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN()}) {
    auto x = upload<T>(context, {1, 2}), r = upload<T>(context, {3, 4});
    auto p = upload<T>(context, {5, 6});
    write(context, before, rr);
    cg_residual(context, step, q, r.span(), rr_next);
    CHECK(same<T>({read(context, rr_next)}, {before}));
    CHECK(download(context, r) == std::vector<T>{3, 4});
    cg_direction(context, step, one, rr_next, q, p.span(), x.span());
    const bool broken = !std::isfinite(before);
    CHECK(download(context, p) == (broken ? std::vector<T>{5, 6} : std::vector<T>{6, 7}));
    CHECK(download(context, x) == std::vector<T>{1, 2});
  }
}

TEST_CASE_TEMPLATE_DEFINE("axpby and axpbypcz with a last factor of 0 overwrite NaN", S,
                          axpby_overwrites) {
  using T = typename S::T;
  auto context = S::context();
  const auto x = upload<T>(context, {1, 2});
  auto y = upload<T>(context, std::vector<T>(2, std::numeric_limits<T>::quiet_NaN()));
  axpby(context, 3, x, 0, y.span());
  CHECK(download(context, y) == std::vector<T>{3, 6});
  fill(context, std::numeric_limits<T>::quiet_NaN(), y.span());
  axpbypcz(context, 3, x, -1, x, 0, y.span());
  CHECK(download(context, y) == std::vector<T>{2, 4});
}

TEST_CASE_TEMPLATE_DEFINE("primitives refuse unequal sizes and overlap", S, primitives_refuse) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> s(context), t(context), u(context);
  auto three = upload<T>(context, {1, 2, 3}), four = upload<T>(context, {1, 2, 3, 4});
  const auto head = four.span().subspan(0, 3), tail = four.span().subspan(1, 3);
  const Span<T, B> whole = three;
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  const auto refused = [](const auto& body) {
    return code_thrown_by(body) == ErrorCode::invalid_argument;
  };
  CHECK(refused([&] { copy(context, four, whole); }));
  CHECK(refused([&] { axpby(context, 1, four, 1, whole); }));
  CHECK(refused([&] { multiply(context, three, four, whole); }));
  CHECK(refused([&] { axpbypcz(context, 1, three, 1, four, 1, whole); }));
  CHECK(refused([&] { convert(context, T(1), four, Vector<Other, B>(context, 3).span()); }));
  CHECK(refused([&] { dot(context, three, four, s); }));
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, s, t, four, head, tail); }));
  CHECK(refused([&] { cg_residual(context, {s, t, s, 1, 0}, four, head, u); }));

  CHECK(refused([&] { copy(context, head, tail); }));
  CHECK(refused([&] { axpby(context, 1, whole, 1, whole); }));
  CHECK(refused([&] { multiply(context, three, tail, head); }));
  CHECK(refused([&] { axpbypcz(context, 1, three, 1, tail, 1, head); }));
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, s, t, three, head, tail); }));
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, s, t, tail, head, whole); }));
  CHECK(refused([&] { cg_residual(context, {s, t, s, 1, 0}, tail, head, u); }));
  CHECK_NOTHROW(dot(context, head, tail, s));
  CHECK(read(context, s) == 20);
}

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

#define TANSOLVE_CONFORMS(...)                               \
  TEST_CASE_TEMPLATE_INVOKE(vectors_copy, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(vectors_refuse, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(elementwise, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(by_hand, __VA_ARGS__);           \
  TEST_CASE_TEMPLATE_INVOKE(reductions, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(norm2_range, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(cg_refuses, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(cg_idles, __VA_ARGS__);          \
  TEST_CASE_TEMPLATE_INVOKE(axpby_overwrites, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(primitives_refuse, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(csr_products, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(csr_apply_dot, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(csr_block, __VA_ARGS__);         \
  TEST_CASE_TEMPLATE_INVOKE(op_refuses, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(user_operator, __VA_ARGS__)

}  // namespace tansolve::test
