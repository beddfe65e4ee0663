// SPDX-License-Identifier: BSD-3-Clause
// Flexible CG, BiCGSTAB and IDR(s): right answers, known iteration counts, the claimed costs.
#include "solvers/methods.hpp"

#include "support/matrices.hpp"

#include <tansolve/codec/files.hpp>

#include <Eigen/IterativeLinearSolvers>

#include <array>
#include <string>

namespace tansolve::test {

#define TANSOLVE_SETTINGS                                                      \
  Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>, \
      Setting<float, Checked>

/// Checks that the report tells the truth, and x against the solution by a dense LU.
template <class T>
void check_answer(const Csr<T>& matrix, const std::vector<T>& b, const Answer<T>& answer,
                  double inverse_norm) {
  const Report& report = answer.report;
  CHECK(report.status == Status::converged);
  CHECK(report.true_residual <= report.threshold);
  CHECK(std::abs(report.true_residual - eigen_residual(matrix, b, answer.x)) <=
        100 * std::numeric_limits<T>::epsilon() * report.baseline);
  const Eigen::VectorXd expected = test::inverse(dense(matrix)) * to_eigen(b);
  CHECK((to_eigen(answer.x) - expected).norm() <= inverse_norm * report.threshold * 1.1);
}

TEST_CASE_TEMPLATE("short recurrences agree with a dense factorisation", S, TANSOLVE_SETTINGS) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto definite = poisson<T>(15, 11), skewed = convection<T>(15, 11, 0.4);
  std::vector<T> signs(40);
  for (int i = 0; i < 40; ++i) signs[i] = static_cast<T>(i % 3 == 0 ? -1 - i : 1 + i);
  const auto indefinite = diagonal_matrix(signs);
  for (const auto& method : methods<T, B>()) {
    CAPTURE(method.name);
    for (const auto* matrix : {&definite, &skewed, &indefinite}) {
      if (method.definite && matrix != &definite) continue;
      const CsrOperator<T, B> a(context, *matrix);
      const Jacobi<T, B> jacobi(context, a);
      const auto b = random_vector<T>(a.rows(), 1), x0 = random_vector<T>(a.rows(), 2);
      for (const LinearOperator<T, B>* M : {static_cast<const LinearOperator<T, B>*>(nullptr),
                                            static_cast<const LinearOperator<T, B>*>(&jacobi)}) {
        const auto answer = solve_by(method, a, b, {.preconditioner = M}, x0);
        check_answer(*matrix, b, answer, 10);  // the least singular values exceed 0.1
        CHECK(answer.report.solver == method.name);
        CHECK(answer.report.warnings.empty());
      }
    }
  }
}

/// A few steps of cg from 0, a different number each time: no linear operator.
class InnerSteps : public LinearOperator<double, Host> {
 public:
  explicit InnerSteps(const LinearOperator<double, Host>& A)
      : LinearOperator(A.context(), A.rows(), A.cols()), A_(&A) {}

 protected:
  void apply_impl(Span<const double, Host> r, Span<double, Host> z) const override {
    fill(context(), 0, z);
    cg(*A_, r, z, {.max_iterations = 3 + times_++ % 4, .probe_symmetry = false});
  }

 private:
  const LinearOperator<double, Host>* A_;
  mutable std::int64_t times_ = 0;
};

TEST_CASE("fcg takes as many iterations as cg, and few where the preconditioner changes") {
  Context<Host> context(2);
  const auto weight = [](std::int64_t i) { return 1.0 + static_cast<double>(i % 17); };
  const auto matrix = weighted_poisson<double>(40, 30, weight);
  const CsrOperator<double, Host> a(context, matrix);
  const Jacobi<double, Host> jacobi(context, a);
  const auto b = random_vector<double>(a.rows(), 3);
  const auto fcg = methods<double, Host>()[0];
  for (const LinearOperator<double, Host>* M :
       {static_cast<const LinearOperator<double, Host>*>(nullptr),
        static_cast<const LinearOperator<double, Host>*>(&jacobi)}) {
    const auto plain = solve(a, b, {.preconditioner = M}).report;
    const auto flexible = solve_by(fcg, a, b, {.preconditioner = M}).report;
    CHECK(flexible.converged());
    CHECK(std::abs(flexible.iterations - plain.iterations) <= plain.iterations / 50);
  }
  const InnerSteps steps(a), same_steps(a);
  const auto rigid =
      solve(a, b, {.max_iterations = 1000, .preconditioner = &steps, .probe_symmetry = false});
  const auto flexible =
      solve_by(fcg, a, b, {.max_iterations = 1000, .preconditioner = &same_steps});
  CHECK(flexible.report.converged());
  CHECK(2 * flexible.report.iterations < rigid.report.iterations);  // 413 and 971
}

/// The iterations of Eigen's BiCGSTAB with its diagonal preconditioner.
std::int64_t eigen_iterations(const Csr<double>& matrix, const std::vector<double>& b) {
  const Eigen::SparseMatrix<double> sparse = to_eigen(matrix);
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double>> solver(sparse);
  solver.setTolerance(1e-8);
  const Eigen::VectorXd x = solver.solve(to_eigen(b));
  REQUIRE(solver.info() == Eigen::Success);
  return solver.iterations();
}

TEST_CASE("bicgstab takes as many iterations as Eigen's, to a tenth, and idr no more products") {
  Context<Host> context(2);
  const auto compare = [&](const std::string& name, const Csr<double>& matrix) {
    CAPTURE(name);
    const CsrOperator<double, Host> a(context, matrix);
    const Jacobi<double, Host> jacobi(context, a);
    const std::vector<double> ones(a.rows(), 1.0);
    std::vector<double> b(a.rows());
    a.apply({ones.data(), a.rows()}, {b.data(), a.rows()});
    const auto [bicgstab, idr] = [&]() -> std::array<Report, 2> {
      const auto both = general_methods<double, Host>();
      return {solve_by(both[0], a, b, {.preconditioner = &jacobi}).report,
              solve_by(both[1], a, b, {.preconditioner = &jacobi}).report};
    }();
    CHECK(bicgstab.converged());
    CHECK(idr.converged());
    const auto eigen = static_cast<double>(eigen_iterations(matrix, b));
    CHECK(std::abs(static_cast<double>(bicgstab.iterations) - eigen) <= 0.1 * eigen);
    CHECK(static_cast<double>(idr.iterations) <= 1.1 * (2 * eigen));
  };
  compare("convection", convection<double>(40, 30, 0.4));
  const auto folder = real_matrices();
  if (!folder) {
    MESSAGE("skipped on real matrices: TANSOLVE_MATRICES names no folder");
    return;
  }
  for (const std::string name : {"airFoil2D_p_A", "sherman3", "bcsstk13", "crystm01"})
    compare(name, read_matrix(*folder / (name + ".mtx.gz")));
}

/// What the iterations beyond the `less`-th, up to the `more`-th, cost.
Counters cost_between(const Method<double, Checked>& method, bool preconditioned, std::int64_t less,
                      std::int64_t more, std::int64_t n) {
  Counters cost;
  const auto matrix = convection<double>(n, 1, method.definite ? 0 : 0.4);
  for (const std::int64_t iterations : {more, less}) {
    Context<Checked> context;
    const CsrOperator<double, Checked> a(context, matrix);
    const Jacobi<double, Checked> jacobi(context, a);
    SolveOptions<double, Checked> options{.rtol = 0, .max_iterations = iterations};
    if (preconditioned) options.preconditioner = &jacobi;
    const auto b = random_vector<double>(n, 3);
    const auto device_b = upload(context, b);
    auto x = upload(context, std::vector<double>(n, 0.0));
    context.counters() = {};
    CHECK(method.solve(a, device_b, x, options).status == Status::iteration_limit);
    const std::int64_t sign = iterations == more ? 1 : -1;
    const Counters& seen = context.counters();
    cost.products += sign * seen.products;
    cost.reductions += sign * seen.reductions;
    cost.elements += sign * seen.elements;
    cost.transfers += sign * seen.transfers;
    cost.allocations += sign * seen.allocations;
  }
  return cost;
}

TEST_CASE("iterations cost what the sources say") {
  const std::int64_t n = 200;
  const auto check = [&](int which, bool preconditioned, std::int64_t iterations, Counters each) {
    const auto method = methods<double, Checked>()[which];
    CAPTURE(method.name);
    CAPTURE(preconditioned);
    const std::int64_t cycles = 3;
    const Counters cost =
        cost_between(method, preconditioned, 2 * iterations, (2 + cycles) * iterations, n);
    CHECK(cost.products == cycles * each.products);
    CHECK(cost.reductions == cycles * each.reductions);
    CHECK(cost.elements == cycles * each.elements * n);
    CHECK(cost.transfers == cycles * each.transfers);
    CHECK(cost.allocations == 0);
  };
  // Jacobi takes 3 passes.
  check(0, false, 1, {.products = 1, .reductions = 3, .elements = 12, .transfers = 1});
  check(0, true, 1, {.products = 2, .reductions = 4, .elements = 12 + 2 + 3, .transfers = 1});
  check(1, false, 1, {.products = 2, .reductions = 6, .elements = 21, .transfers = 1});
  check(1, true, 1, {.products = 4, .reductions = 6, .elements = 21 + 2 + 2 * 3, .transfers = 1});
  check(2, false, 5, {.products = 5, .reductions = 31, .elements = 112, .transfers = 5});
  check(2, true, 5,
        {.products = 10, .reductions = 31, .elements = 112 + 10 + 5 * 3, .transfers = 5});
}

TEST_CASE("short recurrences solve again and again in one workspace of the size they tell") {
  Context<Checked> context;
  const auto matrix = poisson<double>(12, 12);
  const std::int64_t n = matrix.rows();
  const CsrOperator<double, Checked> a(context, matrix);
  const Jacobi<double, Checked> jacobi(context, a);
  const auto b = upload(context, random_vector<double>(n, 3));
  auto x = upload(context, std::vector<double>(n, 0.0));
  const auto check = [&](const WorkspaceShape& shape, std::int64_t vectors, const auto& solve) {
    CHECK(shape.vectors == vectors);
    Workspace<double, Checked> work(context, shape);
    const std::int64_t built = context.counters().allocations;
    for (int repeat = 0; repeat < 2; ++repeat) {
      fill(context, 0, x.span());
      const Report report = solve(work);
      CHECK(report.converged());
      CHECK(report.workspace_bytes == shape.bytes<double>());
    }
    CHECK(context.counters().allocations == built);
  };
  for (const bool helped : {false, true}) {
    SolveOptions<double, Checked> options;
    if (helped) options.preconditioner = &jacobi;
    check(fcg_workspace(n, helped), helped ? 4 : 3,
          [&](auto& work) { return fcg(a, b, x, options, work); });
    check(bicgstab_workspace(n, helped), helped ? 7 : 5,
          [&](auto& work) { return bicgstab(a, b, x, options, work); });
    check(idr_workspace(n, helped, {.dimension = 2}), helped ? 9 : 8,
          [&](auto& work) { return idr(a, b, x, options, {.dimension = 2}, work); });
  }
}

TEST_CASE("short recurrences give the same bits for 1 and 2 threads, and every time") {
  const auto matrix = poisson<double>(200, 150);
  const auto b = random_vector<double>(matrix.rows(), 3);
  for (std::size_t which = 0; which < 3; ++which) {
    std::vector<Answer<double>> answers;
    for (const int threads : {1, 2, 2}) {
      Context<Host> context(threads);
      const CsrOperator<double, Host> a(context, matrix);
      const auto method = methods<double, Host>()[which];
      answers.push_back(solve_by(method, a, b, {.max_iterations = 30}));
    }
    for (const auto& answer : answers) {
      CHECK(answer.x == answers[0].x);
      CHECK(answer.report.history == answers[0].report.history);
    }
  }
}

TEST_CASE("short recurrences solve systems scaled by 1e200 and 1e-200") {
  Context<Host> context(1);
  for (const auto& method : methods<double, Host>())
    for (const double a_scale : {1e-200, 1.0, 1e200})
      for (const double b_scale : {1e-200, 1.0, 1e200}) {
        if (a_scale != 1 && b_scale != 1 && a_scale != b_scale) continue;  // x of 1e400 or 1e-400
        CAPTURE(method.name);
        CAPTURE(a_scale);
        CAPTURE(b_scale);
        const auto matrix =
            weighted_poisson<double>(20, 20, [&](std::int64_t) { return std::sqrt(a_scale); });
        auto b = random_vector<double>(400, 3);
        for (double& element : b) element *= b_scale;
        const CsrOperator<double, Host> a(context, matrix);
        const Jacobi<double, Host> jacobi(context, a);
        for (const bool helped : {false, true})
          CHECK(
              solve_by(method, a, b, {.rtol = 1e-10, .preconditioner = helped ? &jacobi : nullptr})
                  .report.converged());
      }
}

}  // namespace tansolve::test
