// SPDX-License-Identifier: BSD-3-Clause
// GMRES, flexible GMRES and MINRES on the GPU: the host's answers and iterations, no allocation on
// the way.
#include "solvers/krylov.hpp"

namespace tansolve::test {
namespace {

/// What `solver` finds on the host and, twice, on the GPU for matrix x = b.
template <class T, class Solver>
void check_agreement(const Csr<T>& matrix, bool preconditioned, const Solver& solver) {
  CAPTURE(preconditioned);
  const auto b = random_vector<T>(matrix.rows(), 7);
  const std::vector<T> x0(matrix.rows());
  const auto run = [&](auto& context) {
    using B = std::conditional_t<std::is_same_v<std::decay_t<decltype(context)>, Context<Cuda>>,
                                 Cuda, Host>;
    const CsrOperator<T, B> a(context, matrix);
    const Jacobi<T, B> jacobi(context, a);
    SolveOptions<T, B> options;
    if (preconditioned) options.preconditioner = &jacobi;
    return run_from(a, x0, b,
                    [&](const auto& A, auto db, auto x) { return solver(A, db, x, options); });
  };
  Context<Host> host;
  Context<Cuda> gpu;
  const auto expected = run(host), first = run(gpu), second = run(gpu);
  CHECK(first.report.status == Status::converged);
  CHECK(first.report.true_residual <= first.report.threshold);
  CHECK(std::abs(first.report.iterations - expected.report.iterations) <=
        1 + expected.report.iterations / 50);
  CHECK(std::ssize(first.report.history) == first.report.iterations + 1);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(first.report.history[i] == doctest::Approx(expected.report.history[i]).epsilon(1e-4));
  CHECK(first.x == second.x);
  CHECK(first.report.history == second.report.history);
}

TEST_CASE("gmres on the gpu agrees with the host's, and repeats to the bit") {
  for (const BasisStorage storage : {BasisStorage::working, BasisStorage::fp32, BasisStorage::fp16})
    for (const bool preconditioned : {false, true}) {
      const auto fixed = [=](const auto& A, auto b, auto x, const auto& options) {
        return gmres(A, b, x, options, KrylovBasis{.restart = 40, .storage = storage});
      };
      const auto flexible = [=](const auto& A, auto b, auto x, const auto& options) {
        return fgmres(A, b, x, options, KrylovBasis{.restart = 20, .storage = storage});
      };
      check_agreement(convection<double>(40, 30, 0.4), preconditioned, fixed);
      check_agreement(convection<double>(40, 30, 0.4), preconditioned, flexible);
      check_agreement(convection<float>(40, 30, 0.4), preconditioned, fixed);
    }
}

TEST_CASE("minres on the gpu agrees with the host's, and repeats to the bit") {
  const auto by_minres = [](const auto& A, auto b, auto x, const auto& options) {
    return minres(A, b, x, options);
  };
  for (const bool preconditioned : {false, true}) {
    check_agreement(poisson<double>(40, 30), preconditioned, by_minres);
    check_agreement(poisson<float>(40, 30), preconditioned, by_minres);
  }
}

TEST_CASE("gmres on the gpu stops where it is told, with the x of that iteration") {
  const auto matrix = convection<double>(40, 30, 0.4);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const std::vector<double> x0(matrix.rows());
  Context<Host> host;
  Context<Cuda> gpu;
  const CsrOperator<double, Host> host_a(host, matrix);
  const CsrOperator<double, Cuda> gpu_a(gpu, matrix);
  for (const std::int64_t limit : {0, 1, 5, 6, 7, 30, 31}) {
    CAPTURE(limit);
    const auto cancel = [&](std::int64_t i, double) { return i < limit; };
    const auto expected = run_from(host_a, x0, b, [&](const auto& A, auto db, auto x) {
      return gmres(A, db, x, {.max_iterations = limit});
    });
    const auto limited = run_from(gpu_a, x0, b, [&](const auto& A, auto db, auto x) {
      return gmres(A, db, x, {.max_iterations = limit});
    });
    const auto cancelled = run_from(gpu_a, x0, b, [&](const auto& A, auto db, auto x) {
      return gmres(A, db, x, {.monitor = cancel});
    });
    CHECK(limited.report.status == Status::iteration_limit);
    CHECK(cancelled.report.status == Status::cancelled);
    CHECK(cancelled.report.iterations == limit);
    CHECK(limited.x == cancelled.x);
    CHECK(within(limited.x, to_eigen(expected.x), 1e-10 * to_eigen(b).norm()));
  }
}

TEST_CASE("gmres and minres on the gpu allocate nothing after their workspace") {
  const auto matrix = poisson<double>(30, 20);
  const std::int64_t n = matrix.rows();
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> a(gpu, matrix);
  const auto b = upload(gpu, random_vector<double>(n, 3));
  auto x = upload(gpu, std::vector<double>(n, 0.0));
  GmresWorkspace<double, Cuda> basis(gpu, n, {.storage = BasisStorage::fp16}, true);
  Workspace<double, Cuda> work(gpu, minres_workspace(n, false));
  const std::int64_t before = gpu.allocations();
  for (int i = 0; i < 3; ++i) {
    fill(gpu, 0, x.span());
    CHECK((i == 0   ? minres(a, b, x, {}, work)
           : i == 1 ? gmres(a, b, x, {}, basis)
                    : fgmres(a, b, x, {}, basis))
              .converged());
  }
  CHECK(gpu.allocations() == before);
}

}  // namespace
}  // namespace tansolve::test
