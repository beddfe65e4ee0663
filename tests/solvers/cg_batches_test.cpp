// SPDX-License-Identifier: BSD-3-Clause
// The path of conjugate gradients that a GPU takes, where there is none.
#include "solvers/batches.hpp"

TYPE_TO_STRING_AS("recording Checked", tansolve::test::Recording);

namespace tansolve::test {

TANSOLVE_BATCHES(Recording);

TEST_CASE("a recording context gives the bits of one that looks at each iteration") {
  Context<Checked> recording(true), plain;
  const auto matrix = poisson<double>(14, 12);
  const CsrOperator<double, Checked> a(recording, matrix), same_a(plain, matrix);
  const Jacobi<double, Checked> jacobi(recording, a), same_jacobi(plain, same_a);
  const auto b = random_vector<double>(matrix.rows(), 3);
  for (const bool preconditioned : {false, true}) {
    const auto batched = solve(a, b, {.preconditioner = preconditioned ? &jacobi : nullptr});
    const auto single =
        solve(same_a, b, {.preconditioner = preconditioned ? &same_jacobi : nullptr});
    CHECK(batched.report.converged());
    CHECK(batched.report.iterations == single.report.iterations);
    CHECK(batched.report.history == single.report.history);
    CHECK(batched.x == single.x);
  }
}

TEST_CASE("a recording context is read once a batch") {
  const auto transfers = [](std::int64_t iterations) {
    Context<Checked> context(true);
    const auto matrix = poisson<double>(14, 12);
    const CsrOperator<double, Checked> a(context, matrix);
    const auto report =
        solve(a, random_vector<double>(matrix.rows(), 3), {.max_iterations = iterations}).report;
    REQUIRE(report.iterations == iterations);
    return context.counters().transfers;
  };
  CHECK(transfers(3 * detail::cg_ring) - transfers(detail::cg_ring) == 2);
}

}  // namespace tansolve::test
