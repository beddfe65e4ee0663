// SPDX-License-Identifier: BSD-3-Clause
// The stationary iteration: hand-computed steps, its ways to end, its costs.
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/richardson.hpp>

#include "solvers/solving.hpp"

namespace tansolve::test {
namespace {

template <class T, class B>
Answer<T> solve_stationary(const LinearOperator<T, B>& A, const std::vector<T>& b,
                           const SolveOptions<T, B>& options = {}) {
  const auto device_b = upload(A.context(), b);
  auto x = upload(A.context(), std::vector<T>(b.size(), T(0)));
  Report report = richardson(A, device_b, x, options);
  return {std::move(report), download(A.context(), x)};
}

TEST_CASE_TEMPLATE("richardson takes one correction after another", S, Setting<double, Host, 2>,
                   Setting<double, Checked>, Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = diagonal_matrix<T>({0.5, 1});
  const CsrOperator<T, B> A(context, matrix);
  // Without M, x_k = (2 - 2^(1-k), 3): residuals are 2^-k in the first element.
  const auto [report, x] = solve_stationary<T, B>(A, {1, 3}, {.rtol = 0, .atol = 0.13});
  CHECK(report.status == Status::converged);
  CHECK(report.iterations == 3);
  CHECK(x == std::vector<T>{1.75, 3});
  REQUIRE(report.history.size() == 4);
  CHECK(report.history[0] == doctest::Approx(std::sqrt(10.0)));
  CHECK(report.history[1] == 0.5);
  CHECK(report.history[3] == 0.125);
  CHECK(report.true_residual == 0.125);
  CHECK(report.operator_applications == 4);

  const Jacobi<T, B> exact(context, A);
  const auto [at_once, y] = solve_stationary<T, B>(A, {1, 3}, {.preconditioner = &exact});
  CHECK(at_once.iterations == 1);
  CHECK(at_once.preconditioner_applications == 1);
  CHECK(y == std::vector<T>{2, 3});
}

TEST_CASE("richardson says how it ended where it does not converge") {
  Context<Checked> context;
  const auto status = [&](const std::vector<double>& d, const SolveOptions<double, Checked>& how) {
    const auto matrix = diagonal_matrix(d);
    const CsrOperator<double, Checked> A(context, matrix);
    const auto [report, x] = solve_stationary(A, std::vector<double>(d.size(), 1.0), how);
    for (const double element : x) CHECK(std::isfinite(element));
    return report.status;
  };
  CHECK(status({4, 1}, {}) == Status::diverged);  // -3 to the power k
  CHECK(status({1e200, 1}, {.divergence_factor = 1e300}) == Status::not_finite);
  CHECK(status({0.5, 1}, {.max_iterations = 3}) == Status::iteration_limit);
  CHECK(status({0.5, 1}, {.monitor = [](auto k, double) { return k < 2; }}) == Status::cancelled);
  CHECK(status({0.5, nan_of<double>}, {.max_iterations = 3}) == Status::not_finite);
}

TEST_CASE("richardson allocates nothing once its workspace is there, and passes 10 times a step") {
  Context<Checked> context;
  const auto matrix = poisson<double>(6, 7);
  const CsrOperator<double, Checked> A(context, matrix);
  const Jacobi<double, Checked> M(context, A);
  const auto b = upload(context, std::vector<double>(42, 1.0));
  auto x = upload(context, std::vector<double>(42, 0.0));
  Workspace<double, Checked> work(context, richardson_workspace(42));
  const auto run = [&](std::int64_t iterations) {
    fill(context, 0, x.span());
    context.counters() = {};
    richardson(A, b, x, {.max_iterations = iterations, .preconditioner = &M}, work);
    CHECK(context.counters().allocations == 0);
    return context.counters();
  };
  const Counters five = run(5), six = run(6);
  CHECK(six.products - five.products == 2);  // one of them M
  CHECK(six.elements - five.elements == (3 + 10) * 42);
}

}  // namespace
}  // namespace tansolve::test
