// SPDX-License-Identifier: BSD-3-Clause
// Bases on the host's backends, and the half-precision numbers in them.
#include "kernels/second_pass_conformance.hpp"

#include <algorithm>

namespace tansolve::test {

TANSOLVE_KRYLOV_CONFORMS(Setting<double, Host, 1>, Setting<double, Host, 2>,
                         Setting<float, Host, 2>, Setting<double, Checked>,
                         Setting<float, Checked>);
TANSOLVE_SECOND_PASS_CONFORMS(Setting<double, Host, 2>, Setting<float, Host, 2>,
                              Setting<double, Checked>, Setting<float, Checked>);

TEST_CASE("UnitHalf rounds to nearest, ties to even, down to 2^-39") {
  const auto stored = [](double value) { return static_cast<double>(UnitHalf(value)); };
  CHECK(stored(1) == 1);
  CHECK(stored(-1) == -1);
  CHECK(stored(0) == 0);
  CHECK(std::signbit(stored(-0.0)));
  CHECK(stored(1 + 0x1p-11) == 1);               // a tie: to the even one
  CHECK(stored(1 + 3 * 0x1p-11) == 1 + 0x1p-9);  // a tie: up
  CHECK(stored(1 + 0x1.01p-11) == 1 + 0x1p-10);  // above the tie
  CHECK(stored(0x1.ffcp-1) == 0x1.ffcp-1);
  CHECK(stored(0x1.ffep-1) == 1);             // a tie that carries into the exponent
  CHECK(stored(0x1.ffcp-29) == 0x1.ffcp-29);  // the last with all its bits
  CHECK(stored(-0x1p-39) == -0x1p-39);        // the least
  CHECK(stored(0x1p-40) == 0);
  CHECK(stored(0x1.8p-40) == 0x1p-39);
  CHECK(stored(0x1.8p-39) == 0x1p-38);  // a tie between 1 and 2 of the least
}

TEST_CASE("UnitHalf errs by at most 2^-11 of a number") {
  std::mt19937_64 random(1);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const double size = std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53,
                                   -static_cast<int>(random() % 29) - 1);
    const double value = random() % 2 == 0 ? size : -size;
    worst = std::max(worst, std::abs(static_cast<double>(UnitHalf(value)) - value) / size);
  }
  CHECK(worst <= 0x1.0001p-11);
  CHECK(worst >= 0.99 * 0x1p-11);
}

TEST_CASE("the checked backend counts the passes that a basis claims") {
  Context<Checked> context;
  const std::int64_t n = 100, k = 3;
  Basis<double, Checked> basis(context, n, 4, BasisStorage::fp32);
  Vector<double, Checked> w(context, n), h(context, k), g(context, k);
  Scalar<double, Checked> norm(context);
  write(context, 1, norm);
  fill(context, 0, w.span());
  for (std::int64_t j = 0; j < 4; ++j) basis.store(j, norm, w.span());
  const auto passes = [&](const auto& call) {
    context.counters() = {};
    call();
    CHECK(context.counters().allocations == 0);
    return context.counters().elements / n;
  };
  CHECK(passes([&] { basis.store(0, norm, w.span()); }) == 3);
  CHECK(passes([&] { basis.project(w, h.span()); }) == k + 1);
  CHECK(context.counters().reductions == k);
  CHECK(passes([&] { basis.subtract_project(h, w.span(), g.span()); }) == k + 2);
  CHECK(context.counters().reductions == k);
  CHECK(passes([&] { basis.subtract(g, w.span(), norm); }) == k + 2);
  CHECK(context.counters().reductions == 1);
  write(context, 1, norm);
  const auto long_h = upload<double>(context, {3, 4, 0}),
             short_h = upload<double>(context, {0, 0, 0});
  CHECK(passes([&] { basis.subtract_again(short_h, w.span(), g.span(), norm); }) == 0);
  CHECK(context.counters().reductions == 0);
  CHECK(passes([&] { basis.subtract_again(long_h, w.span(), g.span(), norm); }) == 2 * k + 3);
  CHECK(context.counters().reductions == k + 1);
  CHECK(passes([&] { basis.combine(h, w.span()); }) == k + 1);
}

// The first outputs that other implementations of SplitMix64 give from the state 1234567.
TEST_CASE("random elements are SplitMix64's") {
  const std::vector<std::uint64_t> outputs = {6457827717110365317U, 3203168211198807973U,
                                              9817491932198370423U, 4593380528125082431U,
                                              16408922859458223821U};
  for (std::int64_t i = 0; i < std::ssize(outputs); ++i)
    CHECK(detail::random_element(1234567, i) ==
          static_cast<double>(outputs[i] >> 11) * 0x1p-52 - 1);
}

}  // namespace tansolve::test
