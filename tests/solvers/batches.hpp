// SPDX-License-Identifier: BSD-3-Clause
// How conjugate gradients end where the host looks only every batch_size iterations: on a GPU, and
// on a Checked context that plays one. What is expected comes from solves that look at each.
#pragma once

#include <tansolve/solvers/fcg.hpp>

#include "solvers/solving.hpp"

#include <chrono>
#include <thread>

namespace tansolve::test {

/// A Checked context that plays a GPU.
struct Recording {
  using B = Checked;
  static Context<Checked> context() { return Context<Checked>(true); }
};

/// The same with a value type.
struct RecordingDouble : Recording {
  using T = double;
};

struct Plain {
  static Report solve(const auto& A, auto b, auto x, const auto& options) {
    return cg(A, b, x, options);
  }
};
struct Flexible {
  static Report solve(const auto& A, auto b, auto x, const auto& options) {
    return fcg(A, b, x, options);
  }
};

/// Where and how to solve.
template <class Where, class How>
struct By : Where, How {};

template <class S, class B>
Answer<double> answer(const LinearOperator<double, B>& A, const std::vector<double>& b,
                      const std::type_identity_t<SolveOptions<double, B>>& options = {}) {
  const auto device_b = upload(A.context(), b);
  auto x = upload(A.context(), std::vector<double>(A.cols(), 0.0));
  Report report = S::solve(A, device_b.span(), x.span(), options);
  return {std::move(report), download(A.context(), x)};
}

/// A matrix whose fused product, the one inside the iterations, is `factor` times too large.
template <class B>
class Exaggerated : public LinearOperator<double, B> {
 public:
  Exaggerated(Context<B>& context, const Csr<double>& matrix, double factor)
      : LinearOperator<double, B>(context, matrix.rows(), matrix.cols()),
        honest_(context, matrix),
        factor_(factor) {}
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const double, B> x, Span<double, B> y) const override {
    honest_.apply(x, y);
  }
  void apply_dot_impl(Span<const double, B> x, Span<double, B> y,
                      Scalar<double, B>& xy) const override {
    honest_.apply(x, y);
    scale(this->context(), factor_, y);
    dot(this->context(), x, y, xy);
  }

 private:
  CsrOperator<double, B> honest_;
  double factor_;
};

/// Solves the diagonal system d x = b; the preconditioner is diagonal, too, from the inverse of m.
template <class S, class B>
Answer<double> solve_diagonal_on(Context<B>& context, const std::vector<double>& d,
                                 const std::vector<double>& b, SolveOptions<double, B> options = {},
                                 const std::vector<double>& m = {}) {
  const auto matrix = diagonal_matrix(d);
  const CsrOperator<double, B> a(context, matrix);
  if (m.empty()) return answer<S>(a, b, options);
  const Jacobi<double, B> jacobi(context, upload(context, m));
  options.preconditioner = &jacobi;
  return answer<S>(a, b, options);
}

/// x as close to the other as roundings leave it in so well-conditioned a system.
inline bool close(const std::vector<double>& x, const std::vector<double>& y) {
  return (to_eigen(x) - to_eigen(y)).norm() <= 1e-8 * to_eigen(y).norm();
}

/// Eigenvalues from 1 to 100 and one of -1, along which b has little: the residual's part there
/// grows while the others shrink, until a direction of negative curvature is met in the second
/// batch.
template <class S>
struct LateBreakdown {
  LateBreakdown() {
    for (int i = 0; i < 60; ++i) d.push_back(1 + 99 * i / 59.0);
    b.assign(d.size(), 1.0);
    d.push_back(-1);
    b.push_back(0.03);
    Context<Checked> context;
    expected = solve_diagonal_on<S>(context, d, b);
  }
  std::vector<double> d, b;
  Answer<double> expected;
};

TEST_CASE_TEMPLATE_DEFINE("a batch of iterations stops at the limit, with the x of that iteration",
                          S, batch_limit) {
  auto context = S::context();
  Context<Checked> one_by_one;
  const auto matrix = poisson<double>(14, 12);
  const CsrOperator<double, typename S::B> a(context, matrix);
  const CsrOperator<double, Checked> same_a(one_by_one, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  for (const std::int64_t limit : {0, 1, 11, 12, 13, 24, 30}) {
    CAPTURE(limit);
    const auto expected = answer<S>(same_a, b, {.max_iterations = limit});
    const auto [report, x] = answer<S>(a, b, {.max_iterations = limit});
    CHECK(report.status == Status::iteration_limit);
    CHECK(report.iterations == limit);
    CHECK(std::ssize(report.history) == limit + 1);
    CHECK(report.operator_applications == expected.report.operator_applications);
    CHECK(report.true_residual == doctest::Approx(expected.report.true_residual).epsilon(1e-9));
    CHECK((to_eigen(x) - to_eigen(expected.x)).norm() <= 1e-10 * to_eigen(b).norm());
  }
}

TEST_CASE_TEMPLATE_DEFINE("a batch that converges is left where the tolerance is met", S,
                          batch_converges) {
  auto context = S::context();
  const auto [report, x] = solve_diagonal_on<S>(context, {1, 2, 5, 1, 2, 5, 5},
                                                {1, 2, 5, 2, 4, 10, 15}, {.rtol = 1e-12});
  CHECK(report.converged());
  CHECK(report.iterations == 3);  // distinct eigenvalues
  CHECK(report.history.size() == 4);
  CHECK(close(x, {1, 1, 1, 2, 2, 2, 3}));
}

TEST_CASE_TEMPLATE_DEFINE("a batch reports an indefinite preconditioner", S, batch_indefinite_m) {
  auto context = S::context();
  const auto indefinite = solve_diagonal_on<S>(context, {2, 3}, {1, 2}, {}, {1, -1});
  CHECK(indefinite.report.status == Status::indefinite_preconditioner);
  CHECK(indefinite.report.detail.find("r'Mr = -") == 0);
  CHECK(indefinite.report.iterations == 0);
  CHECK(indefinite.x == std::vector<double>{0, 0});
  const auto blind = solve_diagonal_on<S>(context, {2, 3}, {1, 1}, {}, {1, -1});
  CHECK(blind.report.status == Status::breakdown);
  CHECK(blind.report.detail.find("r'Mr = 0") == 0);
}

TEST_CASE_TEMPLATE_DEFINE("a batch reports a breakdown in the second, with the x before it", S,
                          batch_breakdown) {
  const LateBreakdown<S> late;
  REQUIRE(late.expected.report.status == Status::indefinite_operator);
  REQUIRE(late.expected.report.iterations > detail::batch_size + 2);
  REQUIRE(late.expected.report.iterations < 2 * detail::batch_size);
  auto context = S::context();
  const auto [report, x] = solve_diagonal_on<S>(context, late.d, late.b);
  CHECK(report.status == Status::indefinite_operator);
  CHECK(report.detail.find("p'Ap = -") == 0);
  CHECK(report.iterations == late.expected.report.iterations);
  CHECK(report.true_residual == doctest::Approx(late.expected.report.true_residual).epsilon(1e-8));
  CHECK(close(x, late.expected.x));
}

TEST_CASE_TEMPLATE_DEFINE("a monitor that cancels before a breakdown in the same batch is heeded",
                          S, batch_cancelled) {
  const LateBreakdown<S> late;
  const std::int64_t last = detail::batch_size + 2;
  REQUIRE(late.expected.report.iterations > last);
  auto context = S::context();
  std::int64_t calls = 0;
  const auto [report, x] = solve_diagonal_on<S>(context, late.d, late.b,
                                                {.monitor = [&](std::int64_t iteration, double) {
                                                  ++calls;
                                                  return iteration < last;
                                                }});
  CHECK(report.status == Status::cancelled);
  CHECK(report.iterations == late.expected.report.iterations);  // what the batch went on to do
  CHECK(calls == last + 1);
  CHECK(close(x, late.expected.x));
}

TEST_CASE_TEMPLATE_DEFINE("a batch reports divergence, unless it goes on to converge", S,
                          batch_diverges) {
  // The first step, about 1, leaves an error of 1e6 times 0.001 along the last eigenvalue.
  std::vector<double> d, b;
  for (int i = 0; i < 40; ++i) {
    d.push_back(std::pow(10, 6 * i / 39.0));
    b.push_back(i == 0 ? 1 : 1e-4);
  }
  auto context = S::context();
  const auto lost = solve_diagonal_on<S>(context, d, b, {.divergence_factor = 10});
  CHECK(lost.report.status == Status::diverged);
  CHECK(lost.report.iterations == detail::batch_size);
  CHECK(*std::ranges::max_element(lost.report.history) > 10 * lost.report.history[0]);
  const auto found = solve_diagonal_on<S>(context, {1, 1e6}, {1, 1e-3}, {.divergence_factor = 400});
  CHECK(found.report.history[1] > 400);
  CHECK(found.report.converged());
}

TEST_CASE_TEMPLATE_DEFINE("a batch reports the time limit", S, batch_time) {
  auto context = S::context();
  const auto matrix = poisson<double>(20, 20);
  const CsrOperator<double, typename S::B> a(context, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto none = answer<S>(a, b, {.time_limit = 0}).report;
  CHECK(none.status == Status::time_limit);
  CHECK(none.iterations == 0);
  const auto slow = [](std::int64_t iteration, double) {
    if (iteration == detail::batch_size + 3) std::this_thread::sleep_for(std::chrono::seconds(1));
    return true;
  };
  const auto [report, x] = answer<S>(a, b, {.time_limit = 0.9, .monitor = slow});
  CHECK(report.status == Status::time_limit);
  CHECK(report.iterations == 2 * detail::batch_size);
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-9));
}

TEST_CASE_TEMPLATE_DEFINE("batches restart from the true residual, and say where that stagnates", S,
                          batch_restarts) {
  auto context = S::context();
  const auto matrix = poisson<double>(10, 10);
  const auto b = random_vector<double>(100, 1);
  // Each run of the recurrence leaves a thousandth of the residual.
  const Exaggerated<typename S::B> slightly(context, matrix, 1.001);
  const auto restarted = answer<S>(slightly, b);
  CHECK(restarted.report.converged());
  CHECK(restarted.report.restarts == 2);
  CHECK(eigen_residual(matrix, b, restarted.x) <= 1e-8 * restarted.report.baseline);
  // Each leaves two thirds.
  const Exaggerated<typename S::B> grossly(context, matrix, 3);
  const auto [report, x] = answer<S>(grossly, b);
  CHECK(report.status == Status::stagnated);
  CHECK(report.residual <= report.threshold);
  CHECK(report.true_residual == doctest::Approx(report.baseline * 2 / 3).epsilon(1e-6));
  CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-6));
}

#define TANSOLVE_BATCHES(...)                                 \
  TEST_CASE_TEMPLATE_INVOKE(batch_limit, __VA_ARGS__);        \
  TEST_CASE_TEMPLATE_INVOKE(batch_converges, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(batch_indefinite_m, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(batch_breakdown, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(batch_cancelled, __VA_ARGS__);    \
  TEST_CASE_TEMPLATE_INVOKE(batch_diverges, __VA_ARGS__);     \
  TEST_CASE_TEMPLATE_INVOKE(batch_time, __VA_ARGS__);         \
  TEST_CASE_TEMPLATE_INVOKE(batch_restarts, __VA_ARGS__)

}  // namespace tansolve::test

TYPE_TO_STRING_AS("double, recording Checked", tansolve::test::RecordingDouble);
