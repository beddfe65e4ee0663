// SPDX-License-Identifier: BSD-3-Clause
// Faults that users of other solvers have reported, held against every solver on every backend.
#pragma once

#include "solvers/every_solver.hpp"

#include <optional>

namespace tansolve::test {

/// A matrix whose product of number `bad`, counted from 1, is full of NaN.
template <class T, class B>
class Poisoned : public LinearOperator<T, B> {
 public:
  Poisoned(Context<B>& context, const Csr<T>& matrix, std::int64_t bad)
      : LinearOperator<T, B>(context, matrix.rows(), matrix.cols()),
        honest_(context, matrix),
        bad_(bad) {}

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override {
    honest_.apply(x, y);
    if (++products_ == bad_) fill(this->context(), nan_of<T>, y);
  }

 private:
  CsrOperator<T, B> honest_;
  std::int64_t bad_;
  mutable std::int64_t products_ = 0;
};

/// A well-conditioned definite system, which every solver solves.
template <class S>
struct GoodSystem {
  using T = typename S::T;
  using B = typename S::B;
  Context<B> context = S::context();
  Csr<T> matrix = poisson<T>(12, 10);  // more iterations than a GPU carries out between two looks
  CsrOperator<T, B> a{context, matrix};
  std::vector<T> b = random_vector<T>(120, 1), x0 = random_vector<T>(120, 2);

  Answer<T> solve(const AnySolver<T, B>& solver, const SolveOptions<T, B>& options = {}) const {
    return run_from(
        a, x0, b, [&](const auto& A, auto db, auto x) { return solver.solve(A, db, x, options); });
  }
};

TEST_CASE_TEMPLATE_DEFINE("b = 0 and an exact guess need no iteration and make no NaN", S,
                          fault_nothing_to_do) {
  using T = typename S::T;
  GoodSystem<S> good;
  const std::vector<T> zero(120);
  auto exact = zero;
  exact[17] = 1;
  auto image = zero;  // A times that, without rounding
  for (std::int64_t k = good.matrix.offsets()[17]; k < good.matrix.offsets()[18]; ++k)
    image[good.matrix.columns()[k]] = good.matrix.values()[k];
  for (const auto& solver : every_solver<T, typename S::B>()) {
    CAPTURE(solver.name);
    for (const double rtol : {0.0, 1e-8}) {
      const auto run = [&](const std::vector<T>& x0, const std::vector<T>& b) {
        return run_from(good.a, x0, b, [&](const auto& A, auto db, auto x) {
          return solver.solve(A, db, x, {.rtol = rtol});
        });
      };
      for (const auto& x0 : {zero, good.x0}) {
        const auto [report, x] = run(x0, zero);
        CHECK(report.converged());
        CHECK(report.iterations == 0);
        CHECK(report.true_residual == 0);
        CHECK(x == zero);
      }
      const auto [report, x] = run(exact, image);
      CHECK(report.converged());
      CHECK(report.iterations == 0);
      CHECK(report.residual == 0);
      CHECK(x == exact);
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("what is not finite is named, and told apart from a limit", S,
                          fault_not_finite) {
  using T = typename S::T;
  using B = typename S::B;
  GoodSystem<S> good;
  const T inf = std::numeric_limits<T>::infinity();
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto check = [&](const LinearOperator<T, B>& A, const std::vector<T>& x0,
                           const std::vector<T>& b, const std::string& where) {
      const auto [report, x] = run_from(A, x0, b, [&](const auto& a, auto db, auto dx) {
        return solver.solve(a, db, dx, {.max_iterations = 40});
      });
      CHECK(report.status == Status::not_finite);
      CHECK(report.detail.find(where) == 0);
      CHECK(report.iterations == 0);
      CHECK(same(x, x0));
    };
    auto b = good.b, x0 = good.x0;
    b[7] = nan_of<T>;
    check(good.a, good.x0, b, "b[7] = nan");
    b[7] = -inf;
    check(good.a, good.x0, b, "b[7] = -inf");
    x0[9] = nan_of<T>;
    check(good.a, x0, good.b, "x0[9] = nan");
    const auto bad = with_values(
        good.matrix, [=](auto i, auto j, T value) { return i == 3 && j == 3 ? inf : value; });
    check(CsrOperator<T, B>(good.context, bad), good.x0, good.b, "(b - A x0)[3] = ");

    // Where a product turns out to be full of NaN on the way, the x before it is kept.
    const Poisoned<T, B> poisoned(good.context, good.matrix, 6);
    const auto answer = run_from(poisoned, good.x0, good.b, [&](const auto& A, auto db, auto x) {
      return solver.solve(A, db, x, {.probe_symmetry = false});
    });
    CHECK(answer.report.status == Status::not_finite);
    CHECK(answer.report.iterations < 6);
    check_truth(good.matrix, good.b, answer);
    CHECK(answer.report.true_residual <= answer.report.initial_residual);
  }
}

TEST_CASE_TEMPLATE_DEFINE("zeros on the diagonal and empty rows do no harm", S, fault_diagonal) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  // Pairs of unknowns that are exchanged: no diagonal at all, eigenvalues i and -i.
  std::vector<Triplet<T>> pairs, gap;
  for (std::int64_t i = 0; i < 8; ++i) {
    pairs.push_back({i, i ^ 1, static_cast<T>(1 + i / 2)});
    if (i != 5) gap.push_back({i, i, static_cast<T>(1 + i)});
  }
  const auto exchange = Csr<T>::from_triplets(8, 8, pairs),
             holey = Csr<T>::from_triplets(8, 8, gap);
  const CsrOperator<T, B> a(context, exchange), h(context, holey);
  const std::vector<T> b = {1, 2, 3, 4, 5, 6, 7, 8}, zero(8);
  auto reachable = b;
  reachable[5] = 0;
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto run = [&](const CsrOperator<T, B>& A, const std::vector<T>& rhs) {
      return run_from(A, zero, rhs, [&](const auto& op, auto db, auto x) {
        return solver.solve(op, db, x, {.max_iterations = 100});
      });
    };
    const auto swapped = run(a, b);
    if (solver.takes == Takes::definite) {
      check_truth(exchange, b, swapped);
      CHECK(swapped.report.status == Status::indefinite_operator);
    } else if (solver.name.find("res") != std::string::npos) {  // minres, gmres
      check_converged(exchange, b, swapped);
    } else {
      check_truth(exchange, b, swapped);
    }
    check_converged(holey, reachable, run(h, reachable));
    const auto none = run(h, b);
    CHECK_FALSE(none.report.converged());
    // x may overflow along the null vector, which A x does not show; others leave their last step.
    if (none.report.detail.find("x[5] = ") == 0)
      CHECK(none.report.status == Status::not_finite);
    else
      check_truth(holey, b, none);
    CHECK(none.report.true_residual >= 6 * (1 - 1e-6));
  }
}

TEST_CASE_TEMPLATE_DEFINE("a space that ends early holds the answer", S, fault_early_end) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = diagonal_matrix<T>({1, 2, 5, 1, 2, 5, 5});
  const CsrOperator<T, B> a(context, matrix);
  const std::vector<T> b = {1, 2, 5, 2, 4, 10, 15};
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto answer = run_from(a, std::vector<T>(7), b, [&](const auto& A, auto db, auto x) {
      return solver.solve(A, db, x, {});
    });
    check_converged(matrix, b, answer);
    const bool rounded = solver.name.find("a basis of") != std::string::npos;
    if (!rounded && solver.name != "idr") CHECK(answer.report.iterations == 3);
    CHECK(answer.report.iterations <= 14);
  }
}

TEST_CASE_TEMPLATE_DEFINE("no residual of a recurrence is taken for the true one", S,
                          fault_false_residual) {
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = with_condition(40, 1e12, 5);  // x of 1e12 ||b||: A x errs by 1e-4 ||b||
  const CsrOperator<double, B> a(context, matrix);
  const auto b = random_vector<double>(40, 1);
  for (const auto& solver : every_solver<double, B>()) {
    CAPTURE(solver.name);
    const auto answer =
        run_from(a, std::vector<double>(40), b, [&](const auto& A, auto db, auto x) {
          return solver.solve(A, db, x, {.rtol = 1e-13, .max_iterations = 2000});
        });
    check_truth(matrix, b, answer);
    CHECK_FALSE(answer.report.converged());
  }
}

TEST_CASE_TEMPLATE_DEFINE("a system solved within its limits is said to be, and no other", S,
                          fault_limits) {
  using T = typename S::T;
  using B = typename S::B;
  const GoodSystem<S> good;
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto free = good.solve(solver);
    const std::int64_t needed = free.report.iterations;
    CHECK(free.report.converged());
    const auto exactly = good.solve(solver, {.max_iterations = needed});
    CHECK(exactly.report.converged());
    CHECK(exactly.report.iterations == needed);
    const auto less = good.solve(solver, {.max_iterations = needed - 1});
    CHECK(less.report.status == Status::iteration_limit);
    CHECK(less.report.iterations == needed - 1);
    check_truth(good.matrix, good.b, less);
    const auto late = good.solve(solver, {.time_limit = 0});
    CHECK(late.report.status == Status::time_limit);
    const auto cancelled =
        good.solve(solver, {.monitor = [](std::int64_t i, double) { return i < 2; }});
    CHECK(cancelled.report.status == Status::cancelled);
    const auto diverged = good.solve(solver, {.divergence_factor = 1e-3});
    CHECK(diverged.report.status == Status::diverged);
    for (const auto* answer : {&late, &cancelled, &diverged})
      check_truth(good.matrix, good.b, *answer);
    // No memory is taken by the limit.
    const auto most = good.solve(solver, {.max_iterations = std::int64_t{1} << 60});
    CHECK(most.report.workspace_bytes == free.report.workspace_bytes);
  }
}

TEST_CASE_TEMPLATE_DEFINE("results do not depend on what is watched, nor on the run", S,
                          fault_watched) {
  using T = typename S::T;
  using B = typename S::B;
  const GoodSystem<S> good;
  for (const auto& solver : every_solver<T, B>()) {
    CAPTURE(solver.name);
    const auto plain = good.solve(solver);
    const auto again = good.solve(solver);
    CHECK(again.x == plain.x);
    CHECK(again.report.history == plain.report.history);
    const auto unseen = good.solve(solver, {.record_history = false});
    CHECK(unseen.report.history.empty());
    CHECK(unseen.report.status == plain.report.status);
    CHECK(unseen.report.iterations == plain.report.iterations);
    CHECK(unseen.report.true_residual == plain.report.true_residual);
    CHECK(unseen.x == plain.x);
    std::int64_t calls = 0;
    const auto watched =
        good.solve(solver, {.monitor = [&](std::int64_t, double) { return ++calls > 0; }});
    CHECK(watched.x == plain.x);
    CHECK(calls == plain.report.iterations + 1);
    CHECK(std::ssize(plain.report.history) == plain.report.iterations + 1);
  }
}

TEST_CASE_TEMPLATE_DEFINE("a basis beyond memory is refused before anything is done", S,
                          fault_memory) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = std::int64_t{1} << 36;
  const auto refusal = [&](const auto& build) -> std::string {
    try {
      build();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::out_of_memory);
      return error.what();
    }
    return "";
  };
  CHECK(refusal([&] {
          GmresWorkspace<T, B>(context, n, {.restart = 300}, false);
        }).find("gmres: restart is 300, lower it or narrow the storage: ") == 0);
  CHECK(refusal([&] {
          BlockGmresWorkspace<T, B>(context, n, 4, {.restart = 300});
        }).find("pseudo_block_gmres: restart is 300 for each of 4 columns") == 0);
}

#define TANSOLVE_EVERY_FAULT(...)                              \
  TEST_CASE_TEMPLATE_INVOKE(fault_nothing_to_do, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(fault_not_finite, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(fault_diagonal, __VA_ARGS__);      \
  TEST_CASE_TEMPLATE_INVOKE(fault_early_end, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(fault_limits, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(fault_watched, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(fault_memory, __VA_ARGS__)

}  // namespace tansolve::test
