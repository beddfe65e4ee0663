// SPDX-License-Identifier: BSD-3-Clause
// MINRES: the symmetric Lanczos process and the QR factors of its tridiagonal matrix.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/solvers/batches.hpp>
#include <tansolve/solvers/consistency.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/minres.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace tansolve {
namespace {

using detail::Breakdown;

/// One run from r, which the first vector of the workspace holds. It makes A V_k = U_(k+1) T_k
/// grow: v_i = M u_i and u_i'v_j = 0 for i != j, 1 for i = j; without M, v = u. Vectors of even and
/// of odd number take turns in two places. Norms of vectors become beta where M is none, else the
/// roots of u'Mu.
template <class T, class B>
class MinresRun {
 public:
  MinresRun(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work,
            double r_norm, double enough, Span<T, B> x)
      : A_(&A),
        M_(M),
        work_(&work),
        r_norm_(r_norm),
        enough_(enough),
        x_(x),
        batches_(A, M, 1, [this](std::int64_t i) { iterate(i); }) {}

  /// Makes u_1 and v_1, and the first state, whose phi_bar is beta_1 = (r'Mr)^(1/2) / ||r||.
  /// Returns why nothing comes of it, if so.
  MinresEnd start() {
    Context<B>& context = A_->context();
    write(context, static_cast<T>(r_norm_), length_);
    divide(context, length_, u(0));
    for (const Span<T, B>& zero : {u(1), d(0), d(1)}) fill(context, 0, zero);
    write(context, 0, beta(0));
    MinresState state;
    state.phi_bar = M_ == nullptr ? 1 : precondition();
    copy_from_host<T>(context, as_scalars<const T>(state),
                      {work_->scalar(0).data(), state_scalars});
    if (state.phi_bar > 0) return MinresEnd::none;
    return state.phi_bar < 0    ? MinresEnd::indefinite
           : state.phi_bar == 0 ? MinresEnd::blind
                                : MinresEnd::not_finite;
  }

  /// Issues the next iterations, at most that many, and reads what they left. Returns how many were
  /// issued so far.
  std::int64_t look(std::int64_t most) {
    const std::int64_t issued = batches_.issue(most);
    copy_to_host<T>(A_->context(), work_->scalars(0, sizeof(Seen) / sizeof(T)),
                    as_scalars<T>(seen_));
    return issued;
  }
  /// What iteration i left.
  MinresEnd end_after(std::int64_t i) const { return seen_.states[slot(i + 1)].end; }
  double residual_after(std::int64_t i) const {
    return r_norm_ * seen_.states[slot(i + 1)].phi_bar *
           (M_ != nullptr ? static_cast<double>(seen_.q_norms[slot(i + 1)]) : 1.0);
  }

  /// Free between two looks.
  Span<T, B> spare() { return p(batches_.issued()); }
  Scalar<T, B>& spare_scalar() { return length_; }

 private:
  struct Seen {
    std::array<MinresState, detail::batch_size> states;
    std::array<T, detail::batch_size> q_norms;
  };
  static constexpr std::int64_t state_scalars = sizeof(MinresState) / sizeof(T),
                                first_q_norm = detail::batch_size * state_scalars,
                                first_free = first_q_norm + detail::batch_size;

  template <class S, class Object>
  static std::span<S> as_scalars(Object& object) {
    return {reinterpret_cast<S*>(&object), sizeof(Object) / sizeof(T)};
  }
  static std::int64_t slot(std::int64_t i) { return i % detail::batch_size; }

  Span<T, B> u(std::int64_t i) { return work_->vector(i % 2); }
  Span<T, B> d(std::int64_t i) { return work_->vector(3 + i % 2); }
  Span<T, B> v(std::int64_t i) { return M_ == nullptr ? u(i) : work_->vector(2 + 3 * (i % 2)); }
  Span<T, B> p(std::int64_t i) { return M_ == nullptr ? work_->vector(2) : v(i + 1); }
  Span<T, B> q() { return work_->vector(6); }
  Span<MinresState, B> state(std::int64_t i) {
    return {reinterpret_cast<MinresState*>(work_->scalar(0).data()) + slot(i), 1};
  }
  Scalar<T, B>& q_norm(std::int64_t i) { return work_->scalar(first_q_norm + slot(i)); }
  Scalar<T, B>& beta(std::int64_t i) { return work_->scalar(first_free + i % 2); }

  /// v_1 and q = r / phi_bar. Returns phi_bar.
  double precondition() {
    Context<B>& context = A_->context();
    M_->apply_dot(u(0), v(0), length_);
    const double square = read(context, length_);
    if (!std::isfinite(square)) return std::numeric_limits<double>::quiet_NaN();
    const double norm = std::copysign(std::sqrt(std::abs(square)), square);
    write(context, static_cast<T>(norm), length_);
    divide(context, length_, u(0));
    divide(context, length_, v(0));
    copy(context, u(0), q());
    write(context, std::numeric_limits<T>::infinity(), q_norm(0));  // the first step is wanted
    return norm;
  }

  void iterate(std::int64_t i) {
    Context<B>& context = A_->context();
    const Span<T, B> next = u(i + 1);
    A_->apply_dot(v(i), p(i), alpha_);                                  // p = A v
    lanczos_step(context, alpha_, beta(i), p(i), u(i), next, length_);  // the next u, to be divided
    if (M_ != nullptr) M_->apply_dot(next, p(i), length_);              // and the next v
    const MinresStep<T, B> step = {
        state(i), state(i + 1), alpha_, length_, M_ != nullptr ? &q_norm(i) : nullptr,
        r_norm_,  enough_};
    minres_step(context, step, v(i), d(i), d(i + 1), x_, beta(i + 1));
    divide(context, beta(i + 1), next);
    if (M_ == nullptr) return;
    divide(context, beta(i + 1), v(i + 1));
    minres_residual(context, state(i + 1), next, q(), q_norm(i + 1));
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  Workspace<T, B>* work_;
  double r_norm_, enough_;
  Span<T, B> x_;
  Scalar<T, B>&alpha_ = work_->scalar(first_free + 2), &length_ = work_->scalar(first_free + 3);
  detail::Batches<T, B> batches_;
  Seen seen_;
};

// Invariant: A V_k = U_(k+1) T_k up to rounding with u_1 along the first r = b - A x, D_k R_k = V_k
// for the QR factors of T_k, and x has moved by ||r|| D_k (phi_1, ..., phi_k). Holds 5 vectors
// beside b and x (7 with M). An iteration: 1 product, 14 passes over vectors, the product's 2
// included, 3 reductions, 1 transfer, on a GPU 1 a batch; M adds its product, 7 passes and 2
// reductions. A run begins with 5 passes, with M a product and 8 passes more. Each time that the
// residual has fallen to a tenth, every 100 iterations, and at the end: 1 product, 6 passes, a
// look's iterations later at most. Iterations that were issued beyond the last wanted do not change
// x.
template <class T, class B>
MinresEnd run(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work,
              detail::Progress<T, B>& progress, double r_norm, Span<const T, B> b, Span<T, B> x) {
  MinresRun<T, B> minres_run(A, M, work, r_norm, progress.threshold(), x);
  MinresEnd end = minres_run.start();
  double residual = r_norm, trusted = r_norm;
  std::int64_t i = 0, checked = 0;  // the iteration after which it was last compared
  while (end == MinresEnd::none) {
    const std::int64_t issued = minres_run.look(progress.iterations_left());
    for (; i < issued && end == MinresEnd::none; ++i) {
      const bool stopped = progress.stopped();
      end = minres_run.end_after(i);
      if (end == MinresEnd::none) {
        residual = minres_run.residual_after(i);
        progress.record(residual);
        if (progress.meets(residual)) end = MinresEnd::met;
      }
      if (end != MinresEnd::none && stopped) end = MinresEnd::stopped;  // the earlier reason counts
    }
    if (end != MinresEnd::none) break;
    if (progress.stopped()) return MinresEnd::stopped;
    if (residual > trusted / 10 && i < checked + 100) continue;
    trusted = residual, checked = i;
    if (progress.true_residual(b, x, minres_run.spare(), minres_run.spare_scalar()) > 2 * residual)
      end = MinresEnd::drifted;
  }
  return end;
}

/// Why no other run would help, if none would: the last took the true residual from `previous` to
/// `truth`, and left r in the first vector of the workspace.
template <class T, class B>
std::optional<Breakdown> why_no_restart(const LinearOperator<T, B>& A, Workspace<T, B>& work,
                                        MinresEnd end, double previous, double truth,
                                        Span<const T, B> x) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  if (end == MinresEnd::indefinite)
    return Breakdown{Status::indefinite_preconditioner, "u'Mu < 0 for a Lanczos vector u"};
  if (end == MinresEnd::blind)
    return Breakdown{Status::breakdown, "r'Mr = 0 for a residual that is not 0"};
  if (end == MinresEnd::not_finite)
    return Breakdown{Status::not_finite, "a product with A or the preconditioner"};
  if (end == MinresEnd::overflow) return Breakdown{Status::not_finite, "the step overflows"};
  if (!std::isfinite(truth))
    return Breakdown{Status::not_finite, "the true residual of the returned x"};
  const RangeOverlap range = range_overlap<T, B>(A, work.vector(0), truth, x, work.vector(1),
                                                 work.vector(2), work.scalar(1));
  const auto inconsistent = detail::no_solution(range, eps);
  if (end == MinresEnd::singular && inconsistent) return inconsistent;
  if (truth <= previous / 2) return {};
  return Breakdown{Status::stagnated, "a restart no longer halves the true residual" +
                                          detail::perhaps_no_solution(range, eps)};
}

}  // namespace

template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options,
              std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("minres", A, b, x, options);
  work.require("minres", A.context(), minres_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), s = work.vector(1), t = work.vector(2);
  Scalar<T, B>& norm = work.scalar(0);

  detail::Progress<T, B> progress("minres", A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, s, t, work.scalar(1), norm));
  double truth = progress.start(b, x, r, norm);  // ||r||, r = b - A x
  bool converged = progress.meets(truth), broke_down = !std::isfinite(truth);
  std::optional<Breakdown> breakdown;
  std::int64_t runs = 0;
  while (!(converged || broke_down || progress.stopped())) {
    const MinresEnd end = run<T, B>(A, M, work, progress, truth, b, x);
    ++runs;
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, norm));
    converged = progress.meets(truth);
    if (!converged && end != MinresEnd::stopped)
      breakdown = why_no_restart<T, B>(A, work, end, previous, truth, x);
    broke_down = breakdown.has_value();
  }
  return progress.finish(x, norm, truth, false, breakdown ? &*breakdown : nullptr,
                         std::max<std::int64_t>(runs - 1, 0));
}

template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "minres", A, b, x, options, minres_workspace(A.rows(), options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return minres(A, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                  \
  template Report minres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report minres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
