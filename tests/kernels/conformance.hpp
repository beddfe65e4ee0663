// SPDX-License-Identifier: BSD-3-Clause
// What every backend must do. A backend's test file includes this and instantiates the cases; they
// reach its memory by copy_from_host and copy_to_host alone.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "kernels/operator_conformance.hpp"
#include "support/backends.hpp"
#include "support/elements.hpp"
#include "support/matrices.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tansolve::test {

inline const std::vector<std::int64_t> sizes = {0, 1, 7, 8, 9, 4095, 4096, 4097, 40000};

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
  cg_direction(context, step, {rho_new, rho}, s, r, p.span(), step_x.span());
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
    cg_direction(context, {rho, pq, rr, c, 0}, {rho, rho}, rr_next, r, p.span(), x.span());
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
    cg_direction(context, step, {one, one}, rr_next, q, p.span(), x.span());
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
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, {s, s}, t, four, head, tail); }));
  CHECK(refused([&] { cg_residual(context, {s, t, s, 1, 0}, four, head, u); }));

  CHECK(refused([&] { copy(context, head, tail); }));
  CHECK(refused([&] { axpby(context, 1, whole, 1, whole); }));
  CHECK(refused([&] { multiply(context, three, tail, head); }));
  CHECK(refused([&] { axpbypcz(context, 1, three, 1, tail, 1, head); }));
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, {s, s}, t, three, head, tail); }));
  CHECK(refused([&] { cg_direction(context, {s, t, s, 1, 0}, {s, s}, t, tail, head, whole); }));
  CHECK(refused([&] { cg_residual(context, {s, t, s, 1, 0}, tail, head, u); }));
  CHECK_NOTHROW(dot(context, head, tail, s));
  CHECK(read(context, s) == 20);
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
