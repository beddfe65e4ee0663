// SPDX-License-Identifier: BSD-3-Clause
// What the vector work of BiCGSTAB must do on every backend.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/bicgstab_numbers.hpp>
#include <tansolve/kernels/reference/bicgstab_kernels.hpp>
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

/// The scalars of a step of BiCGSTAB on a backend.
template <class T, class B>
struct BicgstabSetting {
  BicgstabSetting(Context<B>& context, const detail::BicgstabNumbers<T>& of)
      : scalars{Scalar<T, B>(context), Scalar<T, B>(context), Scalar<T, B>(context),
                Scalar<T, B>(context), Scalar<T, B>(context), Scalar<T, B>(context),
                Scalar<T, B>(context), Scalar<T, B>(context), Scalar<T, B>(context)},
        numbers(of) {
    const T values[] = {of.r0_norm, of.rho, of.r_norm, of.r0_v, of.v_norm, of.st, of.t_norm};
    for (int i = 0; i < 7; ++i) write(context, values[i], scalars[i]);
  }
  BicgstabStep<T, B> step() {
    return {scalars[0], scalars[1], scalars[2],    scalars[3],    scalars[4],
            scalars[5], scalars[6], numbers.scale, numbers.enough};
  }
  Scalar<T, B>& rho_next() { return scalars[7]; }
  Scalar<T, B>& r_norm_next() { return scalars[8]; }

  std::array<Scalar<T, B>, 9> scalars;
  detail::BicgstabNumbers<T> numbers;
};

TEST_CASE_TEMPLATE_DEFINE("a step of bicgstab gives numbers worked out by hand", S,
                          bicgstab_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  // alpha = 6 / 3, omega = 2 / 2^2
  BicgstabSetting<T, B> setting(context, {.r0_norm = 1,
                                          .rho = 6,
                                          .r_norm = 5,
                                          .r0_v = 3,
                                          .v_norm = 4,
                                          .st = 2,
                                          .t_norm = 2,
                                          .scale = 10});
  const auto v = upload<T>(context, {1, 2}), t = upload<T>(context, {2, -4});
  const auto y = upload<T>(context, {1, 1}), z = upload<T>(context, {4, 2});
  const auto r0 = upload<T>(context, {1, 10});
  for (const bool preconditioned : {false, true}) {
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    auto p = upload<T>(context, {1, 3});
    bicgstab_half_step(context, setting.step(), v, r.span());
    CHECK(download(context, r) == std::vector<T>{4, 4});
    const Span<const T, B> along = preconditioned ? z.span() : r.span();
    bicgstab_step(context, setting.step(), y, along, t, r0, x.span(), r.span(), setting.rho_next(),
                  setting.r_norm_next());
    CHECK(download(context, x) ==
          (preconditioned ? std::vector<T>{40, 31} : std::vector<T>{40, 41}));
    CHECK(download(context, r) == std::vector<T>{3, 6});
    CHECK(read(context, setting.rho_next()) == 63);
    CHECK(read(context, setting.r_norm_next()) == doctest::Approx(std::sqrt(45.0)));
    bicgstab_direction(context, setting.step(), setting.rho_next(), setting.r_norm_next(), r, v,
                       p.span());
    CHECK(download(context, p) == std::vector<T>{24, 90});  // beta = 63 / 6 * 4: 3 + 42 * 0.5
  }
}

TEST_CASE_TEMPLATE_DEFINE("steps of bicgstab give the bits of the reference", S,
                          bicgstab_elementwise) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const double eps = std::numeric_limits<T>::epsilon();
  for (const std::int64_t n : {1, 4097, 20000}) {
    CAPTURE(n);
    const detail::BicgstabNumbers<T> of = {.r0_norm = 1,
                                           .rho = T(0.7),
                                           .r_norm = T(1.1),
                                           .r0_v = T(0.3),
                                           .v_norm = 1,
                                           .st = T(-1.3),
                                           .t_norm = T(1.9),
                                           .scale = T(0.25)};
    BicgstabSetting<T, B> setting(context, of);
    std::array<std::vector<T>, 5> host;
    for (std::size_t i = 0; i < 5; ++i) host[i] = random_elements<T>(n, i + 1);
    const auto& [hv, ht, hy, hz, hr0] = host;
    const auto v = upload(context, hv), t = upload(context, ht), y = upload(context, hy),
               z = upload(context, hz), r0 = upload(context, hr0);
    auto hr = random_elements<T>(n, 6), hx = random_elements<T>(n, 7),
         hp = random_elements<T>(n, 8);
    auto r = upload(context, hr), x = upload(context, hx), p = upload(context, hp);

    dot_and_norm(context, v, t, setting.rho_next(), setting.r_norm_next());
    Scalar<T, B> alone(context);
    dot(context, v, t, alone);
    const double norm = reference::norm2(n, ht.data());
    CHECK(std::abs(read(context, setting.rho_next()) - read(context, alone)) <=
          4 * eps * norm * reference::norm2(n, hv.data()));
    CHECK(std::abs(read(context, setting.r_norm_next()) - norm) <= 64 * eps * norm);

    bicgstab_half_step(context, setting.step(), v, r.span());
    reference::bicgstab_half_step(n, of.alpha(), hv.data(), hr.data());
    CHECK(download(context, r) == hr);
    bicgstab_step(context, setting.step(), y, z, t, r0, x.span(), r.span(), setting.rho_next(),
                  setting.r_norm_next());
    reference::bicgstab_step(n, of.alpha(), of.omega(), of.scale, hy.data(), hz.data(), ht.data(),
                             hx.data(), hr.data());
    CHECK(download(context, r) == hr);
    CHECK(download(context, x) == hx);
    const T rho_next = read(context, setting.rho_next());
    bicgstab_direction(context, setting.step(), setting.rho_next(), setting.r_norm_next(), r, v,
                       p.span());
    reference::bicgstab_direction(n, of.beta(rho_next), of.omega(), hr.data(), hv.data(),
                                  hp.data());
    CHECK(download(context, p) == hp);
  }
}

TEST_CASE_TEMPLATE_DEFINE("a step of bicgstab that is not to be taken changes nothing", S,
                          bicgstab_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const T nan = std::numeric_limits<T>::quiet_NaN(), huge = std::numeric_limits<T>::max();
  const T tiny = std::numeric_limits<T>::epsilon() / 4;
  using Numbers = detail::BicgstabNumbers<T>;
  const Numbers good = {.r0_norm = 1,
                        .rho = 6,
                        .r_norm = 5,
                        .r0_v = 3,
                        .v_norm = 4,
                        .st = 2,
                        .t_norm = 2,
                        .scale = 10};
  const auto check = [&](const Numbers& numbers, bool wanted, bool half) {
    BicgstabSetting<T, B> setting(context, numbers);
    const auto v = upload<T>(context, {1, 2});
    auto r = upload<T>(context, {6, 8}), x = upload<T>(context, {0, 1});
    auto p = upload<T>(context, {1, 3});
    bicgstab_half_step(context, setting.step(), v, r.span());
    CHECK(download(context, r) == (half ? std::vector<T>{4, 4} : std::vector<T>{6, 8}));
    const auto before = download(context, r);
    bicgstab_step(context, setting.step(), v, v, v, v, x.span(), r.span(), setting.rho_next(),
                  setting.r_norm_next());
    CHECK(download(context, x) == std::vector<T>{0, 1});
    CHECK(download(context, r) == before);
    CHECK(same<T>({read(context, setting.rho_next()), read(context, setting.r_norm_next())},
                  wanted ? std::vector<T>{nan, nan} : std::vector<T>{numbers.rho, numbers.r_norm}));
    bicgstab_direction(context, setting.step(), setting.rho_next(), setting.r_norm_next(), r, v,
                       p.span());
    CHECK(download(context, p) == std::vector<T>{1, 3});
  };
  const auto with = [&](T Numbers::*which, T value) {
    Numbers changed = good;
    changed.*which = value;
    return changed;
  };
  check(with(&Numbers::enough, 5), false, false);
  check(with(&Numbers::r_norm, nan), false, false);
  check(with(&Numbers::rho, 5 * tiny), false, false);
  check(with(&Numbers::rho, 0), false, false);
  check(with(&Numbers::r0_v, 4 * tiny), true, false);
  check(with(&Numbers::r0_v, nan), true, false);
  check(with(&Numbers::v_norm, huge * 2), true, false);
  check(with(&Numbers::scale, huge), true, false);
  check(with(&Numbers::st, nan), true, true);
  check(with(&Numbers::t_norm, nan), true, true);

  // omega = 0: x and r move, and no direction follows.
  BicgstabSetting<T, B> setting(context, with(&Numbers::st, 0));
  const auto v = upload<T>(context, {1, 2});
  auto r = upload<T>(context, {4, 4}), x = upload<T>(context, {0, 1}),
       p = upload<T>(context, {1, 3});
  bicgstab_step(context, setting.step(), v, v, v, v, x.span(), r.span(), setting.rho_next(),
                setting.r_norm_next());
  CHECK(download(context, x) == std::vector<T>{20, 41});
  CHECK(read(context, setting.rho_next()) == 0);
  bicgstab_direction(context, setting.step(), setting.rho_next(), setting.r_norm_next(), r, v,
                     p.span());
  CHECK(download(context, p) == std::vector<T>{1, 3});
}

TEST_CASE_TEMPLATE_DEFINE("the vector work of bicgstab refuses unequal sizes and overlap", S,
                          bicgstab_sizes) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> s(context), norm(context);
  auto two = upload<T>(context, {1, 2}), three = upload<T>(context, {1, 2, 3});
  auto other = upload<T>(context, {1, 2}), third = upload<T>(context, {1, 2});
  BicgstabSetting<T, B> bicgstab(context, {});
  const BicgstabStep<T, B> step = bicgstab.step();
  const auto refused = [](const auto& body) {
    return code_thrown_by(body) == ErrorCode::invalid_argument;
  };
  CHECK(refused([&] { dot_and_norm(context, two, three, s, norm); }));
  CHECK(refused([&] { bicgstab_half_step(context, step, two, two.span()); }));
  CHECK(refused([&] {
    bicgstab_step(context, step, two, two, two, other, third.span(), other.span(), s, norm);
  }));
  CHECK(refused([&] {
    bicgstab_step(context, step, two, third, two, two, third.span(), other.span(), s, norm);
  }));
  CHECK(refused([&] { bicgstab_direction(context, step, s, norm, two, three, other.span()); }));
}

#define TANSOLVE_BICGSTAB_CONFORMS(...)                         \
  TEST_CASE_TEMPLATE_INVOKE(bicgstab_by_hand, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(bicgstab_elementwise, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(bicgstab_refuses, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(bicgstab_sizes, __VA_ARGS__)

}  // namespace tansolve::test
