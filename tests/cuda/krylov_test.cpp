// SPDX-License-Identifier: BSD-3-Clause
// Krylov methods, Richardson's iteration and refinement on the GPU: the host's answers, iterations
// and statuses, no allocation on the way.
#include "solvers/krylov.hpp"

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/refinement.hpp>
#include <tansolve/solvers/richardson.hpp>

namespace tansolve::test {
namespace {

/// What `solver` finds on the host and, twice, on the GPU for matrix x = b; the iterations may
/// differ by the part `slack`.
template <class T, class Solver>
void check_agreement(const Csr<T>& matrix, bool preconditioned, const Solver& solver,
                     double slack = 0.02) {
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
        1 + slack * static_cast<double>(expected.report.iterations));
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
      const auto sparing = [=](const auto& A, auto b, auto x, const auto& options) {
        return gmres(
            A, b, x, options,
            KrylovBasis{
                .restart = 40, .storage = storage, .reorthogonalize = Reorthogonalize::needed});
      };
      check_agreement(convection<double>(40, 30, 0.4), preconditioned, sparing);
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

TEST_CASE("fcg and bicgstab on the gpu agree with the host's, and repeat to the bit") {
  const auto by_fcg = [](const auto& A, auto b, auto x, const auto& options) {
    return fcg(A, b, x, options);
  };
  const auto by_bicgstab = [](const auto& A, auto b, auto x, const auto& options) {
    return bicgstab(A, b, x, options);
  };
  for (const bool preconditioned : {false, true}) {
    check_agreement(poisson<double>(40, 30), preconditioned, by_fcg);
    check_agreement(poisson<float>(40, 30), preconditioned, by_fcg);
    check_agreement(convection<double>(40, 30, 0.4), preconditioned, by_bicgstab);
    check_agreement(convection<float>(20, 10, 0.4), preconditioned, by_bicgstab);
  }
}

TEST_CASE("idr on the gpu agrees with the host's, and repeats to the bit") {
  for (const std::int64_t dimension : {1, 4, 7, 16}) {
    CAPTURE(dimension);
    const auto by_idr = [=](const auto& A, auto b, auto x, const auto& options) {
      return idr(A, b, x, options, {.dimension = dimension});
    };
    for (const bool preconditioned : {false, true}) {
      // Its roundings grow as BiCGSTAB's do.
      check_agreement(convection<double>(40, 30, 0.4), preconditioned, by_idr, 0.1);
      check_agreement(convection<float>(20, 10, 0.4), preconditioned, by_idr, 0.1);
    }
  }
}

TEST_CASE("richardson on the gpu agrees with the host's, and repeats to the bit") {
  const auto by_richardson = [](const auto& A, auto b, auto x, const auto& options) {
    return richardson(A, b, x, options);
  };
  check_agreement(convection<double>(8, 6, 0.4), true, by_richardson);
  check_agreement(convection<float>(8, 6, 0.4), true, by_richardson);
}

TEST_CASE("refinement on the gpu reaches the accuracy of fp64 with products in fp32") {
  Context<Cuda> gpu;
  for (const double wind : {0.0, 0.4}) {
    const auto matrix = convection<double>(40, 30, wind);
    const auto narrow = convert<float>(matrix);
    const CsrOperator<double, Cuda> a(gpu, matrix);
    const CsrOperator<float, Cuda> a32(gpu, narrow);
    for (const double scale : {1e-200, 1.0, 1e200}) {
      auto b = random_vector<double>(a.rows(), 1);
      for (double& element : b) element *= scale;
      const auto device_b = upload(gpu, b);
      auto x = upload(gpu, std::vector<double>(a.rows(), 0.0));
      const InnerSolver<Cuda> by_idr = [&](auto r, auto d) {
        return idr(a32, r, d, {.rtol = 1e-4});
      };
      const Report report = refine<Cuda>(a, by_idr, device_b, x, {.rtol = 1e-14});
      CHECK(report.converged());
      CHECK(report.iterations >= 3);
      CHECK(report.iterations <= 6);
      CHECK(report.inner_iterations > report.iterations);
      CHECK(report.operator_applications == report.iterations + 1);
      CHECK(report.history.back() == report.true_residual);
      CHECK(eigen_residual(matrix, b, download(gpu, x)) <= 1.1e-14 * to_eigen(b).norm());
    }
  }
}

TEST_CASE("short recurrences on the gpu stop where they are told, with the x of that iteration") {
  const auto matrix = poisson<double>(40, 30);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const std::vector<double> x0(matrix.rows());
  Context<Host> host;
  Context<Cuda> gpu;
  const CsrOperator<double, Host> host_a(host, matrix);
  const CsrOperator<double, Cuda> gpu_a(gpu, matrix);
  for (const std::int64_t limit : {0, 1, 11, 12, 13, 24, 25}) {
    CAPTURE(limit);
    const auto products = [&](const auto& solver) {
      const auto expected = run_from(host_a, x0, b, solver),
                 answer = run_from(gpu_a, x0, b, solver);
      CHECK(answer.report.status == Status::iteration_limit);
      CHECK(answer.report.iterations == limit);
      // In its first 25 iterations here BiCGSTAB multiplies rounding errors by up to 1e8.
      CHECK(
          within(answer.x, to_eigen(expected.x), (limit < 14 ? 1e-9 : 1e-6) * to_eigen(b).norm()));
      return answer.report.operator_applications - expected.report.operator_applications;
    };
    CHECK(products([&](const auto& A, auto db, auto x) {
            return bicgstab(A, db, x, {.rtol = 1e-14, .max_iterations = limit});
          }) == 0);
    CHECK(products([&](const auto& A, auto db, auto x) {
            return idr(A, db, x, {.rtol = 1e-14, .max_iterations = limit});
          }) == 0);
    if (limit > 13) continue;
    // The truth is computed where a batch ends, and thus less often.
    const std::int64_t fewer = -products([&](const auto& A, auto db, auto x) {
      return minres(A, db, x, {.rtol = 1e-14, .max_iterations = limit});
    });
    CHECK(fewer >= 0);
    CHECK(fewer <= limit / 11);
  }
}

TEST_CASE("krylov methods and richardson on the gpu report what the host reports") {
  Context<Host> host;
  Context<Cuda> gpu;
  const double inf = std::numeric_limits<double>::infinity();
  const auto check = [&](std::int64_t n, const std::vector<Triplet<double>>& triplets,
                         const std::vector<double>& b) {
    const auto matrix = Csr<double>::from_triplets(n, n, triplets);
    const CsrOperator<double, Host> host_a(host, matrix);
    const CsrOperator<double, Cuda> gpu_a(gpu, matrix);
    const auto same = [&](const auto& solver) {
      const std::vector<double> x0(b.size());
      const auto expected = run_from(host_a, x0, b, solver),
                 answer = run_from(gpu_a, x0, b, solver);
      CHECK(answer.report.status == expected.report.status);
      CHECK(answer.report.iterations == expected.report.iterations);
      for (std::size_t i = 0; i < b.size(); ++i) {
        CAPTURE(i);
        CHECK(answer.x[i] == doctest::Approx(expected.x[i]).epsilon(1e-15));
      }
    };
    same([](const auto& A, auto db, auto x) { return bicgstab(A, db, x); });
    same([](const auto& A, auto db, auto x) { return minres(A, db, x); });
    same([](const auto& A, auto db, auto x) { return idr(A, db, x, {}, {.dimension = 1}); });
    same([](const auto& A, auto db, auto x) { return idr(A, db, x); });
    same([](const auto& A, auto db, auto x) { return richardson(A, db, x); });
  };
  check(3, {}, {1, 0, 2});
  check(2, {{0, 1, 1.0}, {1, 0, 1.0}}, {1, 0});
  check(2, {{0, 0, 1.0}}, {1, 1});
  check(2, {{0, 0, inf}, {1, 1, 1.0}}, {1, 1});
  check(2, {{0, 0, 1e-200}, {1, 1, 2e-200}}, {1e200, 1e200});
  check(2, {{0, 0, 1.0}, {1, 1, 1.0}}, {nan_of<double>, 1});
  check(0, {}, {});
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

TEST_CASE("krylov methods and richardson on the gpu allocate nothing after their workspace") {
  const auto matrix = poisson<double>(30, 20);
  const std::int64_t n = matrix.rows();
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> a(gpu, matrix);
  const auto b = upload(gpu, random_vector<double>(n, 3));
  auto x = upload(gpu, std::vector<double>(n, 0.0));
  GmresWorkspace<double, Cuda> basis(gpu, n, {.storage = BasisStorage::fp16}, true);
  Workspace<double, Cuda> work(gpu, minres_workspace(n, false)),
      other(gpu, bicgstab_workspace(n, false)), shadow(gpu, idr_workspace(n, true)),
      stationary(gpu, richardson_workspace(n));
  const Jacobi<double, Cuda> jacobi(gpu, a);
  const SolveOptions<double, Cuda> helped{.rtol = 0.1, .preconditioner = &jacobi};
  const std::int64_t before = gpu.allocations();
  for (int i = 0; i < 6; ++i) {
    fill(gpu, 0, x.span());
    CHECK((i == 0   ? minres(a, b, x, {}, work)
           : i == 1 ? bicgstab(a, b, x, {}, other)
           : i == 2 ? gmres(a, b, x, {}, basis)
           : i == 3 ? fgmres(a, b, x, {}, basis)
           : i == 4 ? idr(a, b, x, helped, {}, shadow)
                    : richardson(a, b, x, helped, stationary))
              .converged());
  }
  CHECK(gpu.allocations() == before);
}

}  // namespace
}  // namespace tansolve::test
