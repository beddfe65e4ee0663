// SPDX-License-Identifier: BSD-3-Clause
// What the vector work and the scalar recurrences of Lanczos methods must do on every backend.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/kernels/reference/kernels.hpp>
#include <tansolve/kernels/reference/lanczos_kernels.hpp>

#include "support/backends.hpp"
#include "support/elements.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tansolve::test {

TEST_CASE_TEMPLATE_DEFINE("the vector work of Lanczos methods gives the bits of the reference", S,
                          lanczos_elementwise) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> alpha(context), beta(context), norm(context);
  const double eps = std::numeric_limits<T>::epsilon();
  const T a = T(0.3), b = T(-1.7);
  write(context, a, alpha);
  write(context, b, beta);
  for (const std::int64_t n : {0, 1, 4097, 20000}) {
    CAPTURE(n);
    const auto hp = random_elements<T>(n, 1), hu = random_elements<T>(n, 2);
    auto expected = random_elements<T>(n, 3), expected_x = random_elements<T>(n, 4);
    const auto p = upload(context, hp), u = upload(context, hu);
    auto old = upload(context, expected), x = upload(context, expected_x);
    lanczos_step(context, alpha, beta, p, u, old.span(), norm);
    reference::lanczos_step(n, a, b, hp.data(), hu.data(), expected.data());
    CHECK(download(context, old) == expected);
    const double reference_norm = reference::norm2(n, expected.data());
    CHECK(std::abs(read(context, norm) - reference_norm) <= 64 * eps * reference_norm);

    divide(context, alpha, x.span());
    reference::divide(n, a, expected_x.data());
    CHECK(download(context, x) == expected_x);
    write(context, T(0), norm);
    divide(context, norm, x.span());
    CHECK(download(context, x) == std::vector<T>(n));
  }
}

TEST_CASE_TEMPLATE_DEFINE("the vector work of Lanczos methods gives numbers worked out by hand", S,
                          lanczos_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> alpha(context), beta(context), norm(context);
  write(context, 2, alpha);
  write(context, 3, beta);
  const auto p = upload<T>(context, {10, 20}), u = upload<T>(context, {1, 2});
  auto old = upload<T>(context, {T(5) / 3, 4});
  lanczos_step(context, alpha, beta, p, u, old.span(), norm);  // 10 - 2 - 5, 20 - 4 - 12
  CHECK(download(context, old)[0] == doctest::Approx(3));
  CHECK(download(context, old)[1] == 4);
  CHECK(read(context, norm) == doctest::Approx(5));

  auto x = upload<T>(context, {130, 265});
  divide(context, alpha, x.span());
  CHECK(download(context, x) == std::vector<T>{65, T(132.5)});
}

/// Two states in the memory of a backend, and what a step between them is made of.
template <class T, class B>
struct MinresSetting {
  static constexpr std::int64_t size = sizeof(MinresState) / sizeof(T);

  MinresSetting(Context<B>& its_context, MinresState now, double a, double b)
      : context(its_context),
        memory(its_context, 2 * size),
        alpha(its_context),
        beta(its_context),
        u_norm(its_context),
        q_norm(its_context) {
    std::vector<T> elements(size);
    std::memcpy(elements.data(), &now, sizeof now);
    copy_from_host<T>(context, elements, memory.span().subspan(0, size));
    write(context, static_cast<T>(a), alpha);
    write(context, static_cast<T>(b), beta);
  }
  Span<MinresState, B> state(std::int64_t i) {
    return {reinterpret_cast<MinresState*>(memory.span().data()) + i, 1};
  }
  MinresStep<T, B> step(double r_norm, double enough, bool preconditioned = false) {
    return {state(0), state(1), alpha, beta, preconditioned ? &q_norm : nullptr, r_norm, enough};
  }
  MinresState next() {
    std::vector<T> elements(size);
    copy_to_host<T>(context, memory.span().subspan(size, size), elements);
    MinresState state;
    std::memcpy(static_cast<void*>(&state), elements.data(), sizeof state);
    return state;
  }

  Context<B>& context;
  Vector<T, B> memory;
  Scalar<T, B> alpha, beta, u_norm, q_norm;
};

/// A state in the middle, with a column that is worked out by hand below.
inline MinresState minres_state() {
  return {.gamma = 1,
          .phi_bar = 10,
          .c = 0.6,
          .s = 0.8,
          .delta_bar = 5,
          .epsilon_next = 1,
          .largest = 5,
          .v_norm = 1};
}

TEST_CASE_TEMPLATE_DEFINE("a step of minres gives numbers worked out by hand", S, minres_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const bool preconditioned : {false, true}) {
    MinresSetting<T, B> setting(context, minres_state(), 0, preconditioned ? 9 : 3);
    write(context, 2, setting.q_norm);
    const auto v = upload<T>(context, {10, 20}), d = upload<T>(context, {1, 2});
    auto d_old = upload<T>(context, {1, 1}), x = upload<T>(context, {100, 200});
    minres_step(context, setting.step(2, preconditioned ? 39 : 19, preconditioned), v, d,
                d_old.span(), x.span(), setting.u_norm);
    // delta = 0.6 * 5, gamma_bar = 0.8 * 5, gamma = 5, c = 4 / 5, phi = 0.8 * 10
    const MinresState next = setting.next();
    CHECK(next.end == MinresEnd::none);
    CHECK(next.delta == doctest::Approx(3));
    CHECK(next.gamma == doctest::Approx(5));
    CHECK(next.epsilon == 1);
    CHECK(next.c == doctest::Approx(0.8));
    CHECK(next.s == doctest::Approx(0.6));
    CHECK(next.phi == doctest::Approx(8));
    CHECK(next.phi_bar == doctest::Approx(6));
    CHECK(next.delta_bar == doctest::Approx(-1.8));
    CHECK(next.epsilon_next == doctest::Approx(2.4));
    CHECK(read(context, setting.u_norm) == 3);
    const auto moved = download(context, d_old), at = download(context, x);
    CHECK(moved[0] == doctest::Approx(1.2));  // (10 - 3 - 1) / 5
    CHECK(moved[1] == doctest::Approx(2.6));  // (20 - 6 - 1) / 5
    CHECK(at[0] == doctest::Approx(119.2));   // 100 + 16 * 1.2
    CHECK(at[1] == doctest::Approx(241.6));
    CHECK(next.d_norm == doctest::Approx(std::hypot(1.2, 2.6)));

    auto q = upload<T>(context, {5, 10});
    minres_residual(context, setting.state(1), d, q.span(), setting.q_norm);
    CHECK(download(context, q)[0] == doctest::Approx(2.2));  // 0.6 * 5 - 0.8 * 1
    CHECK(download(context, q)[1] == doctest::Approx(4.4));
    CHECK(read(context, setting.q_norm) == doctest::Approx(std::hypot(2.2, 4.4)));
  }
}

TEST_CASE_TEMPLATE_DEFINE("a step of minres gives the bits of the reference", S,
                          minres_elementwise) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const std::int64_t n : {0, 1, 4097, 20000}) {
    MinresSetting<T, B> setting(context, minres_state(), 0.3, 1.7);
    const auto hv = random_elements<T>(n, 1), hd = random_elements<T>(n, 2);
    auto expected = random_elements<T>(n, 3), expected_x = random_elements<T>(n, 4);
    auto d_old = upload(context, expected), x = upload(context, expected_x);
    const auto v = upload(context, hv), d = upload(context, hd);
    minres_step(context, setting.step(2, 0), v, d, d_old.span(), x.span(), setting.u_norm);
    const MinresState next = setting.next();
    reference::minres_step<T>(n,
                              {static_cast<T>(next.gamma), static_cast<T>(next.delta),
                               static_cast<T>(next.epsilon), static_cast<T>(2 * next.phi)},
                              hv.data(), hd.data(), expected.data(), expected_x.data());
    CHECK(download(context, d_old) == expected);
    CHECK(download(context, x) == expected_x);
    CHECK(next.d_norm == doctest::Approx(reference::norm2(n, expected.data())).epsilon(1e-5));
  }
}

TEST_CASE_TEMPLATE_DEFINE("a step of minres that is not to be taken changes nothing but its end", S,
                          minres_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto check = [&](MinresState now, double alpha, double beta, double r_norm, double enough,
                         bool preconditioned, MinresEnd end) {
    CAPTURE(static_cast<int>(end));
    MinresSetting<T, B> setting(context, now, alpha, beta);
    write(context, 1, setting.q_norm);
    const auto v = upload<T>(context, {10, 20}), d = upload<T>(context, {1, 2});
    auto d_old = upload<T>(context, {1, 1}), x = upload<T>(context, {100, 200});
    minres_step(context, setting.step(r_norm, enough, preconditioned), v, d, d_old.span(), x.span(),
                setting.u_norm);
    CHECK(setting.next().end == end);
    CHECK(setting.next().phi_bar == now.phi_bar);
    CHECK(download(context, d_old) == std::vector<T>{1, 1});
    CHECK(download(context, x) == std::vector<T>{100, 200});
  };
  const MinresState state = minres_state();
  MinresState ended = state, lost = state;
  ended.end = MinresEnd::drifted;
  lost.d_norm = 1e20;  // v_norm = 1, phi = phi_bar
  lost.phi = 10;
  check(state, 0, 3, 1, 10, false, MinresEnd::met);
  check(ended, 0, 3, 1, 0, false, MinresEnd::drifted);
  check(state, nan, 3, 1, 0, false, MinresEnd::not_finite);
  check(state, 0, nan, 1, 0, true, MinresEnd::not_finite);
  check(state, 0, -1, 1, 0, true, MinresEnd::indefinite);
  check(lost, 0, 3, 1, 0, false, MinresEnd::singular);
  check(state, 5 * 0.8 / 0.6, 0, 1, 0, false, MinresEnd::singular);  // gamma_bar = 0
  const double huge = std::numeric_limits<T>::max();
  check(state, 0, 3, huge, 0, false, MinresEnd::overflow);
}

TEST_CASE_TEMPLATE_DEFINE("the vector work of Lanczos methods refuses unequal sizes and overlap", S,
                          lanczos_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> s(context), norm(context);
  auto two = upload<T>(context, {1, 2}), three = upload<T>(context, {1, 2, 3});
  auto other = upload<T>(context, {1, 2}), third = upload<T>(context, {1, 2});
  const auto refused = [](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  MinresSetting<T, B> minres(context, minres_state(), 0, 3);
  const MinresStep<T, B> one = minres.step(1, 0);
  CHECK(refused([&] { lanczos_step(context, s, s, three, two, other.span(), norm); }));
  CHECK(refused([&] { lanczos_step(context, s, s, two, other, other.span(), norm); }));
  CHECK(refused([&] { minres_step(context, one, two, three, other.span(), third.span(), norm); }));
  CHECK(refused([&] { minres_step(context, one, two, two, other.span(), other.span(), norm); }));
  CHECK(refused([&] { minres_step(context, one, two, third, other.span(), third.span(), norm); }));
  CHECK(refused([&] { minres_residual(context, minres.state(0), two, two.span(), norm); }));
}

#define TANSOLVE_LANCZOS_CONFORMS(...)                         \
  TEST_CASE_TEMPLATE_INVOKE(lanczos_elementwise, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(lanczos_by_hand, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(minres_by_hand, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(minres_elementwise, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(minres_refuses, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(lanczos_refuses, __VA_ARGS__)

}  // namespace tansolve::test
