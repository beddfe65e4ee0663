// SPDX-License-Identifier: BSD-3-Clause
// What the vector work of IDR(s) must do on every backend.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/idr.hpp>
#include <tansolve/kernels/reference/idr_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "support/backends.hpp"
#include "support/elements.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tansolve::test {

/// Families of s vectors and a state on a backend.
template <class T, class B>
class IdrSetting {
 public:
  using Family = std::vector<std::vector<T>>;

  IdrSetting(Context<B>& context, const Family& p, const Family& g, const Family& u,
             const IdrState& state)
      : context_(&context), state_(context, doubles) {
    copy_from_host<double>(context, {reinterpret_cast<const double*>(&state), doubles},
                           state_.span());
    for (std::size_t i = 0; i < p.size(); ++i)
      for (const auto* family : {&p, &g, &u}) vectors_.push_back(upload(context, (*family)[i]));
    for (std::size_t i = 0; i < p.size(); ++i) {
      p_.push_back(vectors_[3 * i]);
      g_.push_back(vectors_[3 * i + 1]);
      u_.push_back(vectors_[3 * i + 2]);
    }
  }
  IdrSpace<T, B> space() {
    return {{reinterpret_cast<IdrState*>(state_.span().data()), 1}, p_, g_, u_};
  }
  Vector<T, B>& p(std::int64_t i) { return vectors_[3 * i]; }
  Vector<T, B>& g(std::int64_t i) { return vectors_[3 * i + 1]; }
  Vector<T, B>& u(std::int64_t i) { return vectors_[3 * i + 2]; }
  IdrState state() const {
    IdrState state;
    copy_to_host<double>(*context_, state_, {reinterpret_cast<double*>(&state), doubles});
    return state;
  }

 private:
  static constexpr std::size_t doubles = sizeof(IdrState) / sizeof(double);

  Context<B>* context_;
  Vector<double, B> state_;
  std::vector<Vector<T, B>> vectors_;
  std::vector<Span<T, B>> p_, g_, u_;
};

/// P'G = 2 and the state of one vector that has been worked out by hand.
inline IdrState state_of_one() {
  IdrState state;
  state.sigma = 2;
  state.omega = 0.5;
  state.m[0][0] = 2;
  return state;
}

TEST_CASE_TEMPLATE_DEFINE("a cycle of idr gives numbers worked out by hand", S, idr_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const bool preconditioned : {false, true}) {
    IdrSetting<T, B> setting(context, {{1, 0}}, {{2, 0}}, {{1, 1}}, state_of_one());
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    auto v = upload<T>(context, {0, 0});
    idr_begin(context, setting.space(), r);
    CHECK(setting.state().f[0] == 6);
    CHECK(setting.state().r_norm == 10);
    if (preconditioned) {
      idr_rest(context, setting.space(), 0, r, v.span());  // r - 3 g
      CHECK(download(context, v) == std::vector<T>{0, 8});
      idr_direction(context, setting.space(), 0, v);
    } else {
      idr_rest_direction(context, setting.space(), 0, r);
    }
    CHECK(download(context, setting.u(0)) == std::vector<T>{3, 7});  // v / 2 + 3 u
    copy_from_host<T>(context, std::vector<T>{4, 2}, setting.g(0).span());
    idr_image(context, setting.space(), 0);
    CHECK(setting.state().m[0][0] == 4);
    CHECK(setting.state().beta == 1.5);  // 6 / 4
    idr_step(context, setting.space(), 0, x.span(), r.span());
    CHECK(download(context, x) == std::vector<T>{9, 22});
    CHECK(download(context, r) == std::vector<T>{0, 5});
    Scalar<T, B> rt(context), t_norm(context);
    write(context, 40, rt);
    write(context, static_cast<T>(std::sqrt(80.0)), t_norm);
    const auto t = upload<T>(context, {4, 8}), y = upload<T>(context, {1, 2});
    idr_last_step(context, setting.space(), rt, t_norm, preconditioned ? y.span() : r.span(), t,
                  x.span(), r.span());  // omega = 40 / 80
    const auto moved = download(context, x), left = download(context, r);
    CHECK(moved[0] == doctest::Approx(preconditioned ? 10 : 9));
    CHECK(moved[1] == doctest::Approx(preconditioned ? 24 : 27));
    CHECK(left[0] == doctest::Approx(-2));
    CHECK(left[1] == doctest::Approx(1));
    const IdrState state = setting.state();
    CHECK(state.omega == doctest::Approx(0.5));
    CHECK(state.f[0] == doctest::Approx(-2));
    CHECK(state.c[0] == doctest::Approx(-0.5));
    CHECK(state.seen.end == IdrEnd::none);
    CHECK(state.seen.steps == 2);
    CHECK(state.seen.r_norms[0] == doctest::Approx(5));
    CHECK(state.seen.r_norms[1] == doctest::Approx(std::sqrt(5.0)));
  }
}

TEST_CASE_TEMPLATE_DEFINE("the vector work of idr gives the bits of the reference", S,
                          idr_elementwise) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  for (const std::int64_t n : {1, 4097, 20000})
    for (const int s : {1, 4, 5, 16}) {
      CAPTURE(n);
      CAPTURE(s);
      typename IdrSetting<T, B>::Family p, g, u;
      IdrState given;
      given.sigma = 0.25;
      given.omega = -0.7;
      given.beta = 1.3;
      given.r_norm = 1.1;
      for (int i = 0; i < s; ++i) {
        for (auto* family : {&p, &g, &u})
          family->push_back(random_elements<T>(n, 3 * i + std::size(*family)));
        given.m[i][i] = 1;
        given.c[i] = 0.3 - 0.1 * i;
        given.a[i] = -0.4 + 0.1 * i;
      }
      IdrSetting<T, B> setting(context, p, g, u, given);
      const int k = s / 2;
      std::vector<T*> hg, hu;
      for (int i = 0; i < s; ++i) hg.push_back(g[i].data()), hu.push_back(u[i].data());
      auto hr = random_elements<T>(n, 91), hx = random_elements<T>(n, 92);
      auto r = upload(context, hr), x = upload(context, hx);
      Vector<T, B> v(context, n);
      std::vector<T> hv(n);

      idr_rest(context, setting.space(), k, r, v.span());
      reference::idr_rest(n, k, s, given.c, hg.data(), hr.data(), hv.data());
      CHECK(download(context, v) == hv);
      idr_rest_direction(context, setting.space(), k, r);
      reference::idr_direction(n, k, s, given.omega, given.c, hv.data(), hu.data());
      CHECK(download(context, setting.u(k)) == u[k]);
      idr_direction(context, setting.space(), k, x);
      reference::idr_direction(n, k, s, given.omega, given.c, hx.data(), hu.data());
      CHECK(download(context, setting.u(k)) == u[k]);
      idr_step(context, setting.space(), k, x.span(), r.span());
      reference::idr_step(n, k, given.a, given.beta, given.sigma, hg.data(), hu.data(), hx.data(),
                          hr.data());
      CHECK(download(context, setting.g(k)) == g[k]);
      CHECK(download(context, setting.u(k)) == u[k]);
      CHECK(download(context, x) == hx);
      CHECK(download(context, r) == hr);
      const double eps = std::numeric_limits<T>::epsilon(), norm = reference::norm2(n, hr.data());
      CHECK(setting.state().r_norm == doctest::Approx(norm).epsilon(64 * eps));

      Scalar<T, B> rt(context), t_norm(context);
      write(context, 3, rt);
      write(context, 2, t_norm);
      const double omega = detail::idr_omega(3, 2, setting.state().r_norm);
      idr_last_step(context, setting.space(), rt, t_norm, r, v, x.span(), r.span());
      reference::idr_last_step(n, omega, given.sigma, hr.data(), hv.data(), hx.data(), hr.data());
      CHECK(download(context, x) == hx);
      CHECK(download(context, r) == hr);
      const IdrState state = setting.state();
      for (int i = 0; i < s; ++i)
        CHECK(std::abs(state.f[i] - reference::dot(n, p[i].data(), hr.data())) <=
              64 * eps * reference::norm2(n, p[i].data()) * reference::norm2(n, hr.data()));
    }
}

TEST_CASE_TEMPLATE_DEFINE("cycles of idr make the residual orthogonal to its shadow", S,
                          idr_biorthogonal) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 5000;
  const int s = 5;
  typename IdrSetting<T, B>::Family p, zero(s, std::vector<T>(n));
  IdrState start;
  for (int i = 0; i < s; ++i) {
    p.push_back(random_elements<T>(n, i));
    const double norm = reference::norm2(n, p.back().data());
    for (T& element : p.back()) element = static_cast<T>(element / norm);
    start.m[i][i] = 1;
  }
  IdrSetting<T, B> setting(context, p, zero, zero, start);
  std::vector<T> hd(n);  // A is diagonal
  for (std::int64_t i = 0; i < n; ++i) hd[i] = static_cast<T>(1 + 0.03 * (i % 97));
  const auto d = upload(context, hd);
  const auto b = random_elements<T>(n, 77);
  auto r = upload(context, b), x = upload(context, std::vector<T>(n));
  Vector<T, B> t(context, n);
  Scalar<T, B> rt(context), t_norm(context);
  const double b_norm = reference::norm2(n, b.data());
  const auto overlap = [&](const Vector<T, B>& v, int i) {
    dot(context, setting.p(i), v, rt);
    return std::abs(read(context, rt)) / b_norm;
  };
  const double bound = 100 * std::numeric_limits<T>::epsilon();
  idr_begin(context, setting.space(), r);
  for (int cycle = 0; cycle < 2; ++cycle) {
    for (int k = 0; k < s; ++k) {
      idr_rest_direction(context, setting.space(), k, r);
      multiply(context, d, setting.u(k), setting.g(k).span());
      idr_image(context, setting.space(), k);
      idr_step(context, setting.space(), k, x.span(), r.span());
      for (int i = 0; i < k; ++i) CHECK(overlap(setting.g(k), i) <= bound);
      for (int i = 0; i <= k; ++i) CHECK(overlap(r, i) <= bound);
    }
    multiply(context, d, r, t.span());
    dot(context, r, t, rt);
    norm2(context, t, t_norm);
    idr_last_step(context, setting.space(), rt, t_norm, r, t, x.span(), r.span());
  }
  const auto hx = download(context, x), hr = download(context, r);
  double error = 0;
  for (std::int64_t i = 0; i < n; ++i)
    error = std::max(error, std::abs(static_cast<double>(b[i]) - hd[i] * hx[i] - hr[i]));
  CHECK(error <= bound * b_norm);
  CHECK(setting.state().seen.steps == 2 * (s + 1));
  CHECK(setting.state().r_norm < 0.01 * b_norm);
}

TEST_CASE_TEMPLATE_DEFINE("idr stops where it cannot go on, and then changes nothing", S,
                          idr_stops) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const T nan = std::numeric_limits<T>::quiet_NaN(), huge = std::numeric_limits<T>::max();
  const T tiny = std::numeric_limits<T>::epsilon() / 4;
  Scalar<T, B> rt(context), t_norm(context);
  const auto check_ended = [&](IdrSetting<T, B>& setting, Vector<T, B>& x, Vector<T, B>& r,
                               IdrEnd end) {
    const IdrState before = setting.state();
    CHECK(before.seen.end == end);
    const auto x_before = download(context, x), r_before = download(context, r);
    const auto g_before = download(context, setting.g(0)),
               u_before = download(context, setting.u(0));
    idr_rest_direction(context, setting.space(), 0, r);
    idr_image(context, setting.space(), 0);
    idr_step(context, setting.space(), 0, x.span(), r.span());
    write(context, 1, rt);
    write(context, 1, t_norm);
    idr_last_step(context, setting.space(), rt, t_norm, r, setting.g(0), x.span(), r.span());
    CHECK(download(context, x) == x_before);
    CHECK(same(download(context, r), r_before));
    CHECK(same(download(context, setting.g(0)), g_before));
    CHECK(download(context, setting.u(0)) == u_before);
    CHECK(setting.state().seen.steps == before.seen.steps);
    CHECK(setting.state().seen.end == end);
  };
  const auto image = [&](const std::vector<T>& g, double sigma) {
    IdrState state = state_of_one();
    state.sigma = sigma;
    IdrSetting<T, B> setting(context, {{1, 0}}, {g}, {{3, 7}}, state);
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    idr_begin(context, setting.space(), r);
    idr_image(context, setting.space(), 0);
    check_ended(setting, x, r, IdrEnd::no_step);
    return setting.state().seen;
  };
  CHECK(image({0, 2}, 1).norm == 2);
  CHECK(image({tiny, 1}, 1).divisor == tiny);
  CHECK(std::isnan(image({nan, 1}, 1).divisor));
  CHECK(std::isinf(image({1, 2}, huge).length));

  const auto last = [&](T product, T norm, double sigma) {
    IdrState state = state_of_one();
    state.sigma = sigma;
    IdrSetting<T, B> setting(context, {{1, 0}}, {{2, 0}}, {{1, 1}}, state);
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    idr_begin(context, setting.space(), r);
    write(context, product, rt);
    write(context, norm, t_norm);
    idr_last_step(context, setting.space(), rt, t_norm, r, setting.g(0), x.span(), r.span());
    check_ended(setting, x, r, IdrEnd::no_omega);
  };
  last(0, 1, 1);
  last(nan, 1, 1);
  last(1, huge * 2, 1);
  last(10, 1, huge);

  IdrState state = state_of_one();
  state.enough = 5;
  for (const T poison : {T(4), nan}) {
    state.seen = {};
    IdrSetting<T, B> setting(context, {{1, 0}}, {{4, 2}}, {{3, 7}}, state);
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    idr_begin(context, setting.space(), r);
    idr_image(context, setting.space(), 0);
    copy_from_host<T>(context, std::vector<T>{poison, 2}, setting.g(0).span());
    idr_step(context, setting.space(), 0, x.span(), r.span());
    check_ended(setting, x, r, poison == 4 ? IdrEnd::met : IdrEnd::not_finite);
    CHECK(setting.state().seen.steps == (poison == 4 ? 1 : 0));
  }
}

TEST_CASE_TEMPLATE_DEFINE("the vector work of idr refuses unequal sizes and overlap", S,
                          idr_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  IdrSetting<T, B> setting(context, {{1, 0}, {0, 1}}, {{2, 0}, {1, 2}}, {{1, 1}, {2, 1}},
                           state_of_one());
  const auto space = setting.space();
  Scalar<T, B> rt(context), t_norm(context);
  auto two = upload<T>(context, {1, 2}), other = upload<T>(context, {1, 2}),
       three = upload<T>(context, {1, 2, 3});
  const auto refused = [](const auto& body) {
    return code_thrown_by(body) == ErrorCode::invalid_argument;
  };
  CHECK(refused([&] { idr_begin(context, space, three); }));
  CHECK(refused([&] { idr_rest(context, space, 0, two, two.span()); }));
  CHECK(refused([&] { idr_rest(context, space, 2, two, other.span()); }));
  CHECK(refused([&] { idr_rest(context, space, 0, two, setting.g(1).span()); }));
  CHECK(refused([&] { idr_direction(context, space, -1, two); }));
  CHECK(refused([&] { idr_direction(context, space, 0, setting.u(0)); }));
  CHECK(refused([&] { idr_rest_direction(context, space, 1, three); }));
  CHECK(refused([&] { idr_image(context, space, 2); }));
  CHECK(refused([&] { idr_step(context, space, 0, two.span(), two.span()); }));
  CHECK(refused([&] { idr_step(context, space, 0, two.span(), setting.g(0).span()); }));
  CHECK(refused(
      [&] { idr_last_step(context, space, rt, t_norm, two, two, other.span(), two.span()); }));
  IdrSpace<T, B> short_of_u = space;
  short_of_u.u = space.u.first(1);
  CHECK(refused([&] { idr_image(context, short_of_u, 0); }));
}

#define TANSOLVE_IDR_CONFORMS(...)                          \
  TEST_CASE_TEMPLATE_INVOKE(idr_by_hand, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(idr_elementwise, __VA_ARGS__);  \
  TEST_CASE_TEMPLATE_INVOKE(idr_biorthogonal, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(idr_stops, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(idr_refuses, __VA_ARGS__)

}  // namespace tansolve::test
