// SPDX-License-Identifier: BSD-3-Clause
// What solvers of least squares share: the Golub-Kahan process and the runs on it, each of which
// the true residuals judge.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/bidiagonal.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/solvers/least_squares.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/own_workspace.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace tansolve::detail {

/// Makes A V_k = U_(k+1) B_k grow, B_k lower bidiagonal with alpha on its diagonal and beta below
/// it, U and V of orthonormal columns as far as rounding lets them. 2 products, 7 passes over
/// vectors of A.rows() elements and 5 over those of A.cols(), 2 reductions, 1 transfer a step.
template <class T, class B>
class Bidiagonalization {
 public:
  Bidiagonalization(const LinearOperator<T, B>& A, LeastSquaresWorkspace<T, B>& work)
      : A_(&A), work_(&work.rows()), v_(work.cols().vector(0)), q_(work.cols().vector(1)) {}

  /// beta u_1 = r, which the first vector and scalar of the workspace hold with its norm, and
  /// alpha v_1 = A'u_1. Returns alpha_1.
  double start() {
    divide(A_->context(), beta_, u_);
    A_->apply_transposed(u_, v_);
    norm2(A_->context(), v_, alpha_);
    divide(A_->context(), alpha_, v_);
    return read(A_->context(), alpha_);
  }

  /// What u_1'A v_1 misses of alpha_1, relative to ||A v_1||: rounding, where A' is what it should
  /// be.
  double asymmetry() {
    A_->apply(v_, p_);
    dot(A_->context(), u_, p_, own_);
    const double product = read(A_->context(), own_), alpha = read(A_->context(), alpha_);
    norm2(A_->context(), p_, own_);
    return std::abs(product - alpha) / (alpha + read(A_->context(), own_));
  }

  struct Step {
    double beta, alpha;  ///< beta_(k+1) and alpha_(k+1)
    double own;          ///< the scalar that is the caller's
  };

  /// The next u, and alpha times the next v.
  Step step() {
    A_->apply(v_, p_);
    bidiagonal_step(A_->context(), alpha_, p_, u_, beta_);  // beta u = A v - alpha u
    divide(A_->context(), beta_, u_);
    A_->apply_transposed(u_, q_);
    bidiagonal_step(A_->context(), beta_, q_, v_, alpha_);  // alpha v = A'u - beta v
    copy_to_host<T>(A_->context(), work_->scalars(0, 3), seen_);
    return {seen_[0], seen_[1], seen_[2]};
  }

  Span<T, B> v() const { return v_; }
  Scalar<T, B>& own() { return own_; }

 private:
  const LinearOperator<T, B>* A_;
  Workspace<T, B>* work_;
  Span<T, B> u_ = work_->vector(0), p_ = work_->vector(1), v_, q_;
  Scalar<T, B>&beta_ = work_->scalar(0), &alpha_ = work_->scalar(1), &own_ = work_->scalar(2);
  std::array<T, 3> seen_;
};

/// How a run of a recurrence ended.
enum class BidiagonalEnd {
  consistent,     // its residual meets the tolerance
  least_squares,  // so does its A'r
  ill_conditioned,
  not_finite,
  overflow,
  stopped  // for a reason of Progress
};

/// One problem of least squares, solved by `Steps`, which turn B_k into steps of x.
template <class T, class B, class Steps>
class LeastSquaresSolve {
 public:
  LeastSquaresSolve(std::string_view solver, const LinearOperator<T, B>& A, Span<const T, B> b,
                    Span<T, B> x, const SolveOptions<T, B>& options, const LeastSquares<T>& problem,
                    LeastSquaresWorkspace<T, B>& work)
      : A_(&A),
        b_(b),
        x_(x),
        problem_(problem),
        work_(&work),
        progress_(solver, A, options, work.bytes()) {}

  Report solve() {
    truth_.residual = progress_.start(b_, x_, r_, norm_, problem_.damping != 0);
    bool converged = progress_.meets(truth_.residual), gave_up = !std::isfinite(truth_.residual);
    std::optional<Breakdown> why;
    std::int64_t runs = 0;
    while (!(converged || facts_.found || gave_up || progress_.stopped())) {
      const BidiagonalEnd end = run();
      ++runs;
      const Truth before = std::exchange(truth_, look());
      converged = progress_.meets(truth_.residual);
      if (!converged && !facts_.found) why = why_no_restart(end, before);
      gave_up = why.has_value();
    }
    if (facts_.found) why = Breakdown{Status::inconsistent, solution_text()};
    Report report = progress_.finish(x_, norm_, truth_.residual, false, why ? &*why : nullptr,
                                     std::max<std::int64_t>(runs - 1, 0));
    facts_.solution_norm = norm_of(x_);
    report.least_squares = facts_;
    return report;
  }

 private:
  /// Recomputed from b, A, A' and x; with damping, of the system (A; damping I) x = (b; damping
  /// x0).
  struct Truth {
    double residual, normal = std::numeric_limits<double>::infinity();  // relative to ||A|| ||r||
  };
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  BidiagonalEnd run() {
    Bidiagonalization<T, B> bidiagonal(*A_, *work_);
    const double r_norm = truth_.residual;
    fill(A_->context(), 0, step_);
    double alpha = bidiagonal.start();
    if (!std::isfinite(alpha)) return BidiagonalEnd::not_finite;
    if (alpha == 0) return BidiagonalEnd::least_squares;  // A'r = 0
    if (facts_.operator_norm == 0 && bidiagonal.asymmetry() > 1e4 * eps)
      progress_.warn("u'Av and (A'u)'v differ: apply_transposed is not the transpose of apply");
    Steps steps(A_->context(), *work_, bidiagonal.own(), alpha, problem_.damping);
    while (true) {
      const auto [beta, alpha_next, own] = bidiagonal.step();
      if (!std::isfinite(beta) || !std::isfinite(alpha_next)) return BidiagonalEnd::not_finite;
      facts_.operator_norm =
          std::max(facts_.operator_norm, std::hypot(alpha, beta, problem_.damping));  // ||A v||
      if (!steps.take(beta, alpha_next, own, r_norm, bidiagonal.v(), step_))
        return BidiagonalEnd::overflow;
      alpha = alpha_next;
      facts_.condition =  // a later run, being short, may see less
          std::max(facts_.condition, facts_.operator_norm * steps.inverse_norm());
      progress_.record(r_norm * steps.residual());
      // No run reduces the residual, or A'r, by more than rounding lets it.
      if (progress_.meets(r_norm * steps.residual()) || steps.residual() <= eps)
        return BidiagonalEnd::consistent;
      if (steps.normal() <=
          std::max(problem_.normal_rtol, eps) * facts_.operator_norm * steps.residual())
        return BidiagonalEnd::least_squares;
      if (progress_.stopped()) return BidiagonalEnd::stopped;
      if (facts_.condition > problem_.condition_limit) return BidiagonalEnd::ill_conditioned;
    }
  }

  /// Moves x by the step, unless that overflowed, and computes what is true of it.
  Truth look() {
    double step_norm = norm_of(step_);
    if (std::isfinite(step_norm))
      axpby(A_->context(), 1, step_, 1, x_);
    else
      fill(A_->context(), 0, step_), step_norm = 0;
    const T damping = static_cast<T>(problem_.damping);
    Truth truth{std::hypot(progress_.true_residual(b_, x_, r_, norm_), damping * step_norm)};
    A_->apply_transposed(r_, q_);
    if (damping != 0) axpby(A_->context(), -damping * damping, step_, 1, q_);
    facts_.normal_residual = norm_of(q_);
    const double size = facts_.operator_norm * truth.residual;
    truth.normal = facts_.normal_residual == 0 ? 0 : facts_.normal_residual / size;
    facts_.found = truth.normal <= problem_.normal_rtol;
    write(A_->context(), static_cast<T>(truth.residual), norm_);
    return truth;
  }

  /// Why no other run would help, if none would.
  std::optional<Breakdown> why_no_restart(BidiagonalEnd end, const Truth& before) const {
    if (end == BidiagonalEnd::stopped) return {};
    if (end == BidiagonalEnd::not_finite)
      return Breakdown{Status::not_finite, "a product with A or its transpose"};
    if (end == BidiagonalEnd::overflow) return Breakdown{Status::not_finite, "the step overflows"};
    const std::string normal = fmt::format("||A'r|| = {:.1e} ||A|| ||r||", truth_.normal);
    if (end == BidiagonalEnd::ill_conditioned)
      return Breakdown{Status::breakdown,
                       fmt::format("the condition of A is estimated as {:.1e}, condition_limit is "
                                   "{:.1e}; {}",
                                   facts_.condition, problem_.condition_limit, normal)};
    const bool improved =
        truth_.residual <= before.residual / 2 || truth_.normal <= before.normal / 2;
    if (improved && problem_.damping == 0) return {};  // with damping, x0 would be another one
    return Breakdown{
        Status::stagnated,
        "the true residual meets neither tolerance where the recurrence's does; " + normal};
  }

  std::string solution_text() const {
    if (problem_.damping == 0)
      return fmt::format("x is a least-squares solution: ||A'r|| = {:.1e} ||A|| ||r||",
                         truth_.normal);
    return fmt::format("x is the solution damped by {:g}: the gradient is {:.1e} ||A|| ||r||",
                       problem_.damping, truth_.normal);
  }

  double norm_of(Span<const T, B> vector) {
    norm2(A_->context(), vector, work_->rows().scalar(2));
    return read(A_->context(), work_->rows().scalar(2));
  }

  const LinearOperator<T, B>* A_;
  Span<const T, B> b_;
  Span<T, B> x_;
  LeastSquares<T> problem_;
  LeastSquaresWorkspace<T, B>* work_;
  Progress<T, B> progress_;
  Span<T, B> r_ = work_->rows().vector(0);
  Span<T, B> q_ = work_->cols().vector(1), step_ = work_->cols().vector(2);
  Scalar<T, B>& norm_ = work_->rows().scalar(0);
  LeastSquaresFacts facts_ = {.normal_residual = std::numeric_limits<double>::quiet_NaN()};
  Truth truth_ = {};
};

/// Checks the problem and the workspace, then solves it.
template <class Steps, class T, class B>
Report solve_least_squares(std::string_view solver, LeastSquaresMethod method,
                           const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                           const SolveOptions<T, B>& options, const LeastSquares<T>& problem,
                           LeastSquaresWorkspace<T, B>& work) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", solver, why));
  };
  require_system(solver, A, b, x, options);
  if (options.preconditioner != nullptr)
    refuse("there is no preconditioner for least squares; scale the columns of A instead");
  for (const auto& [name, value] :
       {std::pair{"damping", problem.damping}, std::pair{"normal_rtol", problem.normal_rtol},
        std::pair{"condition_limit", problem.condition_limit}})
    if (!(value >= 0)) refuse(fmt::format("{} is {}, it must not be negative", name, value));
  work.require(solver, A.context(), A.rows(), A.cols(), method);
  return LeastSquaresSolve<T, B, Steps>(solver, A, b, x, options, problem, work).solve();
}

/// The same with a workspace of its own.
template <class Steps, class T, class B>
Report solve_least_squares(std::string_view solver, LeastSquaresMethod method,
                           const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                           const SolveOptions<T, B>& options, const LeastSquares<T>& problem) {
  require_system(solver, A, b, x, options);
  return solve_with_own(
      [&] { return LeastSquaresWorkspace<T, B>(A.context(), A.rows(), A.cols(), method); },
      [&](auto& work) {
        return solve_least_squares<Steps>(solver, method, A, b, x, options, problem, work);
      });
}

}  // namespace tansolve::detail
