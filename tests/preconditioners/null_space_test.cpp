// SPDX-License-Identifier: BSD-3-Clause
// Projections from null spaces, and the singular systems that they make solvable.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/null_space.hpp>

#include "support/backends.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace tansolve::test {

TEST_CASE_TEMPLATE("a null space takes its vectors out of others", S, Setting<double, Host, 2>,
                   Setting<float, Host, 1>, Setting<double, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  auto x = upload<T>(context, {1, 2, 3, 6});
  NullSpace<T, B>(context, 4).project(x);
  const std::vector<T> without_mean = {-2, -1, 0, 3};
  for (int i = 0; i < 4; ++i)
    CHECK(download(context, x)[i] == doctest::Approx(without_mean[i]).epsilon(1e-6));

  // Spanned by (1, 1, 0, 0) and (1, 2, 0, 0): what is left are the last two.
  std::vector<Vector<T, B>> two;
  two.push_back(upload<T>(context, {1, 1, 0, 0}));
  two.push_back(upload<T>(context, {1, 2, 0, 0}));
  x = upload<T>(context, {5, 7, 3, 6});
  NullSpace<T, B>(context, std::move(two)).project(x);
  const auto left = download(context, x);
  CHECK(std::abs(left[0]) + std::abs(left[1]) < 1e-5);
  CHECK(left[2] == 3);
  CHECK(left[3] == 6);
}

TEST_CASE("a null space refuses vectors that span no space of their number") {
  Context<Checked> context;
  const auto refused = [&](const std::vector<std::vector<double>>& all, const char* why) {
    std::vector<Vector<double, Checked>> vectors;
    for (const auto& vector : all) vectors.push_back(upload(context, vector));
    CHECK_THROWS_WITH_AS((NullSpace<double, Checked>(context, std::move(vectors))), why, Error);
  };
  const char* second =
      "null space: vector 1 (counting from 0) is not finite, 0 or depends on those before it";
  refused({}, "null space: no vectors, it takes at least 1");
  refused({{1, 2}, {-2, -4}}, second);
  refused({{1, 2}, {0, 0}}, second);
  refused({{1, 2}, {1, std::nan("")}}, second);
  refused({{1, 2}, {1, 1}, {1, 0}},
          "null space: vector 2 (counting from 0) is not finite, 0 or depends on those before it");
}

TEST_CASE("a projected operator leaves nothing of the null space in its products") {
  Context<Checked> context;
  const auto matrix = poisson<double>(2, 2);  // whatever it is
  const CsrOperator<double, Checked> a(context, matrix);
  const NullSpace<double, Checked> constants(context, 4);
  const Projected<double, Checked> projected(a, constants);
  CHECK(projected.name() == "csr, projected");
  const auto x = upload<double>(context, {1, 2, 3, 4});
  auto y = upload<double>(context, {0, 0, 0, 0});
  projected.apply(x, y);  // A x = (-1, 3, 7, 11), of mean 5
  const std::vector<double> expected = {-6, -2, 2, 6};
  for (int i = 0; i < 4; ++i)
    CHECK(download(context, y)[i] == doctest::Approx(expected[i]).epsilon(1e-14));
  CHECK_THROWS_WITH_AS((Projected<double, Checked>(a, NullSpace<double, Checked>(context, 5))),
                       "projected: csr is 4 x 4, the null space's vectors have 5 elements", Error);
}

}  // namespace tansolve::test
