// SPDX-License-Identifier: BSD-3-Clause
// What every backend must do for blocks of vectors and for the vector work of least squares.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/bidiagonal.hpp>
#include <tansolve/kernels/block.hpp>
#include <tansolve/kernels/reference/bidiagonal_kernels.hpp>
#include <tansolve/kernels/reference/block_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "support/backends.hpp"
#include "support/elements.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tansolve::test {

template <class Body>
bool refuses(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code() == ErrorCode::invalid_argument;
  }
  return false;
}

TEST_CASE_TEMPLATE_DEFINE("steps of least squares give the bits of the reference", S,
                          bidiagonal_elementwise) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> a(context), norm(context);
  write(context, T(0.3), a);
  const double eps = std::numeric_limits<T>::epsilon();
  for (const std::int64_t n : {0, 1, 4097, 20000})
    for (const T alpha : {T(0.7), T(0), std::numeric_limits<T>::infinity()}) {
      CAPTURE(n);
      CAPTURE(alpha);
      const auto hp = random_elements<T>(n, 1);
      auto hu = random_elements<T>(n, 2), hv = random_elements<T>(n, 3),
           hw = random_elements<T>(n, 4), hx = random_elements<T>(n, 5);
      const auto p = upload(context, hp);
      auto u = upload(context, hu), v = upload(context, hv), w = upload(context, hw),
           x = upload(context, hx);
      const auto check_norm = [&](const std::vector<T>& of) {
        const double expected = reference::norm2(n, of.data());
        CHECK(std::abs(read(context, norm) - expected) <= 64 * eps * expected);
      };

      bidiagonal_step(context, a, p, u.span(), norm);
      reference::bidiagonal_step(n, T(0.3), hp.data(), hu.data());
      CHECK(download(context, u) == hu);
      check_norm(hu);

      const LsqrScalars<T> lsqr = {alpha, T(1.1), T(-0.4)};
      lsqr_step(context, lsqr, v.span(), w.span(), x.span(), norm);
      reference::lsqr_step(n, lsqr, hv.data(), hw.data(), hx.data());
      CHECK(download(context, v) == hv);
      CHECK(download(context, w) == hw);
      CHECK(download(context, x) == hx);
      check_norm(hw);

      const LsmrScalars<T> lsmr = {alpha, T(0.2), T(1.1), T(-0.4)};
      lsmr_step(context, lsmr, v.span(), w.span(), u.span(), x.span());
      reference::lsmr_step(n, lsmr, hv.data(), hw.data(), hu.data(), hx.data());
      CHECK(download(context, v) == hv);
      CHECK(download(context, w) == hw);
      CHECK(download(context, u) == hu);
      CHECK(download(context, x) == hx);
    }
}

TEST_CASE_TEMPLATE_DEFINE("steps of least squares give numbers worked out by hand", S,
                          bidiagonal_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> a(context), norm(context);
  write(context, 2, a);
  auto u = upload<T>(context, {1, 2});
  bidiagonal_step(context, a, upload<T>(context, {5, 8}), u.span(), norm);  // 5 - 2, 8 - 4
  CHECK(download(context, u) == std::vector<T>{3, 4});
  CHECK(read(context, norm) == 5);

  auto v = upload<T>(context, {2, 4}), w = upload<T>(context, {1, 2}),
       x = upload<T>(context, {10, 20});
  lsqr_step(context, {2, 3, -2}, v.span(), w.span(), x.span(), norm);
  CHECK(download(context, v) == std::vector<T>{1, 2});    // {2, 4} / 2
  CHECK(download(context, x) == std::vector<T>{13, 26});  // + 3 w
  CHECK(download(context, w) == std::vector<T>{3, 6});    // v + 2 w
  CHECK(read(context, norm) == doctest::Approx(std::sqrt(45.0)).epsilon(1e-6));

  auto hbar = upload<T>(context, {1, 1});
  lsmr_step(context, {T(0.5), 1, 2, 1}, v.span(), w.span(), hbar.span(), x.span());
  CHECK(download(context, hbar) == std::vector<T>{2, 5});  // h - hbar
  CHECK(download(context, x) == std::vector<T>{17, 36});   // + 2 hbar
  CHECK(download(context, v) == std::vector<T>{2, 4});     // {1, 2} / 0.5
  CHECK(download(context, w) == std::vector<T>{-1, -2});   // v - h
}

TEST_CASE_TEMPLATE_DEFINE("norms of least squares neither overflow nor underflow", S,
                          bidiagonal_range) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> zero(context), norm(context);
  write(context, 0, zero);
  for (const T size : {std::numeric_limits<T>::max() / 8, std::numeric_limits<T>::min()}) {
    auto u = upload<T>(context, {0, 0}), w = upload<T>(context, {0, 0}),
         x = upload<T>(context, {0, 0});
    auto p = upload<T>(context, {3 * size, -4 * size});
    bidiagonal_step(context, zero, p, u.span(), norm);
    CHECK(read(context, norm) == doctest::Approx(5.0 * size).epsilon(1e-6));
    lsqr_step(context, {1, 0, 0}, p.span(), w.span(), x.span(), norm);
    CHECK(read(context, norm) == doctest::Approx(5.0 * size).epsilon(1e-6));
  }
}

TEST_CASE_TEMPLATE_DEFINE("products of blocks agree with the reference", S, block_products) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double eps = std::numeric_limits<double>::epsilon();
  for (const std::int64_t n : {0, 1, 255, 4097, 50000})
    for (const std::int64_t j : {1, 4, 7, 17})
      for (const std::int64_t k : {1, 3, 8, 9}) {
        CAPTURE(n);
        CAPTURE(j);
        CAPTURE(k);
        const auto hx = random_elements<T>(n * j, 1);
        auto hy = random_elements<T>(n * k, 2);
        const auto X = upload(context, hx);
        auto Y = upload(context, hy);
        Vector<double, B> G(context, j * k);
        gram<T>(context, j, X.span(), k, Y, G.span());
        std::vector<double> expected(j * k);
        reference::gram(n, j, hx.data(), k, hy.data(), expected.data());
        const auto found = download(context, G);
        double worst = 0;
        for (std::int64_t i = 0; i < j * k; ++i)
          worst = std::max(worst, std::abs(found[i] - expected[i]));
        CHECK(worst <= 20 * eps * static_cast<double>(n + 10));

        const auto hc = random_elements<T>(j * k, 3);
        const auto C = upload(context, hc);
        for (const T b : {T(1), T(-0.5), T(0)}) {
          if (b == 0) fill(context, std::numeric_limits<T>::quiet_NaN(), Y.span());
          combine(context, j, X, C, b, k, Y.span());
          reference::combine(n, j, hx.data(), hc.data(), b, k, hy.data());
          CHECK(download(context, Y) == hy);
        }
      }
}

TEST_CASE_TEMPLATE_DEFINE("products of blocks give numbers worked out by hand", S, block_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto X = upload<T>(context, {1, 2, 3, 4});  // (1 2)', (3 4)'
  auto y = upload<T>(context, {5, 6});
  Vector<double, B> G(context, 2);
  gram<T>(context, 2, X.span(), 1, y, G.span());
  CHECK(download(context, G) == std::vector<double>{17, 39});
  combine(context, 2, X, upload<T>(context, {10, 100}), -1, 1, y.span());
  CHECK(download(context, y) == std::vector<T>{305, 414});  // 10 + 300 - 5, 20 + 400 - 6
}

TEST_CASE_TEMPLATE_DEFINE("blocks and steps refuse unequal sizes and overlap", S, block_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> s(context), norm(context);
  auto two = upload<T>(context, {1, 2}), other = upload<T>(context, {1, 2}),
       third = upload<T>(context, {1, 2}), three = upload<T>(context, {1, 2, 3}),
       four = upload<T>(context, {1, 2, 3, 4});
  Vector<double, B> G(context, 2);
  CHECK(refuses([&] { bidiagonal_step(context, s, three, two.span(), norm); }));
  CHECK(refuses([&] { bidiagonal_step(context, s, two, two.span(), norm); }));
  CHECK(refuses([&] { lsqr_step(context, {}, two.span(), other.span(), two.span(), norm); }));
  CHECK(refuses(
      [&] { lsmr_step(context, {}, two.span(), other.span(), third.span(), three.span()); }));
  CHECK(refuses([&] { gram<T>(context, 2, three.span(), 1, two, G.span()); }));
  CHECK(refuses([&] { gram<T>(context, 2, four.span(), 1, three, G.span()); }));
  CHECK(refuses([&] { gram<T>(context, 1, two.span(), 1, two, G.span()); }));
  CHECK(refuses([&] { combine(context, 2, four, two, 1, 1, three.span()); }));
  CHECK(refuses([&] { combine(context, 2, four, three, 1, 1, two.span()); }));
  CHECK(refuses([&] { combine(context, 2, four, two, 1, 1, four.span().subspan(2, 2)); }));
  CHECK(refuses([&] { combine(context, 2, four, two, 1, 1, two.span()); }));
  CHECK_FALSE(refuses([&] { gram<T>(context, 2, four.span(), 1, two, G.span()); }));
}

#define TANSOLVE_BLOCK_CONFORMS(...)                              \
  TEST_CASE_TEMPLATE_INVOKE(bidiagonal_elementwise, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(bidiagonal_by_hand, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(bidiagonal_range, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(block_products, __VA_ARGS__);         \
  TEST_CASE_TEMPLATE_INVOKE(block_by_hand, __VA_ARGS__);          \
  TEST_CASE_TEMPLATE_INVOKE(block_refuses, __VA_ARGS__)

}  // namespace tansolve::test
