// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients, plain and flexible, on the scaled residual, restarted from the true one
// where it has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/batches.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/cg_breakdown.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <cmath>
#include <utility>

namespace tansolve {
namespace {

// Invariant: x and r with sigma r = b - A x up to rounding, sigma = ||b - A x|| at the last restart
// as a power of two, so that no square of a residual leaves the range of T; A-conjugate directions
// p. x lags one step behind r, and takes it while the next direction is made of p; a last direction
// is made for that alone. Holds 3 vectors beside b and x (4 with M). An iteration: 1 product, 10
// passes over vectors, the product's 2 included, 2 reductions, 1 number read by the host, on a GPU
// 1 transfer a batch; M adds its product and 2 passes and a reduction for r'Mr. A run beside its
// iterations: 1 product, 16 passes. Iterations that were issued beyond the last wanted change
// neither x nor r.
//
// Where M changes from step to step, p is conjugate to the direction before it alone, by the beta
// of Polak and Ribiere, which needs no r_old: with q = A p,
//
//     z'(r - r_old) / (z_old' r_old) = -alpha z'q / (z_old' r_old) = -z'q / p'q.
//
// An iteration, and a run at its end, then takes 2 passes and a reduction more; a run begins with
// another pass.
template <class T, class B>
class ConjugateGradients {
 public:
  ConjugateGradients(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, bool flexible,
                     Workspace<T, B>& work, Span<T, B> x)
      : A_(&A), M_(M), flexible_(flexible), work_(&work), x_(x) {}

  Span<T, B> r() { return r_; }
  Scalar<T, B>& scalar() { return rr_[0]; }  ///< free between runs

  std::string asymmetry() { return probe_symmetry(*A_, r_, p_, q_, pq_[0], rr_[0]); }

  /// From r, until it is small enough.
  detail::Run run(detail::Scaling<T> to, detail::Progress<T, B>& progress) {
    Context<B>& context = A_->context();
    double latest = start(to);
    detail::Batches<T, B> batches(
        *A_, M_, 1, [this](std::int64_t i) { iterate(i); }, batch_);
    detail::SeenRings<1, T> seen(batch_);  // of rr
    detail::Run run;
    std::int64_t i = 0;
    while (!(run.met || run.breakdown || progress.stopped())) {
      const std::int64_t end = batches.issue(progress.iterations_left());
      seen.read(context, *work_);
      for (; i < end; ++i) {
        const double before = std::exchange(latest, seen(0, i + 2));
        const bool stopped = progress.stopped();
        if (std::isfinite(latest)) progress.record(sigma_ * std::sqrt(latest));
        if (latest > enough_ && std::isfinite(latest)) continue;
        if (stopped) break;  // what followed changed nothing, and the earlier reason counts
        run.met = latest <= enough_;
        if (!run.met)
          run.breakdown = detail::why_no_step(M_ != nullptr ? rho_.read(context, i + 1) : before,
                                              pq_.read(context, i + 1),
                                              detail::norm_of<T, B>(context, q_, pq_[i + 2]));
        break;
      }
    }
    turn(batches.issued());
    return run;
  }

 private:
  using Ring = detail::Ring<T, B>;

  /// The first direction is z, whatever beta, since p = 0. Returns r'r.
  double start(detail::Scaling<T> to) {
    Context<B>& context = A_->context();
    sigma_ = to.sigma;
    enough_ = static_cast<T>(to.enough * to.enough);
    dot(context, r_, r_, rr_[1]);
    fill(context, 0, p_);
    if (flexible_) fill(context, 0, q_);
    write(context, 0, rr_[0]);  // no step was wanted before the first
    write(context, 1, pq_[0]);
    write(context, 1, rho_[0]);
    return rr_.read(context, 1);
  }

  void iterate(std::int64_t i) {
    Context<B>& context = A_->context();
    if (M_ != nullptr) M_->apply_dot(r_, z_, rho_[i + 1]);  // z = M r, rho = r'z; else z = r
    turn(i);
    A_->apply_dot(p_, q_, pq_[i + 1]);  // q = A p, p'q its curvature
    cg_residual(context, step_before(i + 1), q_, r_,
                rr_[i + 2]);  // r -= alpha q, alpha = rho / p'q
  }

  /// x += sigma alpha p, p = z + beta p
  void turn(std::int64_t i) {
    Context<B>& context = A_->context();
    if (flexible_) {
      Scalar<T, B>& zq = work_->scalar(3 * detail::batch_size);
      dot(context, z_, q_, zq);
      cg_direction(context, step_before(i), {zq, pq_[i], -1}, rr_[i + 1], z_, p_, x_);
    } else {
      cg_direction(context, step_before(i), {rho_[i + 1], rho_[i]}, rr_[i + 1], z_, p_, x_);
    }
  }

  CgStep<T, B> step_before(std::int64_t i) { return {rho_[i], pq_[i], rr_[i], sigma_, enough_}; }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  bool flexible_;
  Workspace<T, B>* work_;
  Span<T, B> x_, r_ = work_->vector(0), p_ = work_->vector(1), q_ = work_->vector(2);
  Span<T, B> z_ = M_ != nullptr ? work_->vector(3) : r_;
  std::int64_t batch_ = detail::batch_for(*A_, M_, 3);  // an iteration sees 3 of a ring
  Ring rr_{*work_, 0, batch_}, pq_{*work_, 1, batch_};
  Ring rho_ = M_ != nullptr ? Ring(*work_, 2, batch_) : rr_;
  T sigma_ = 1, enough_ = 0;
};

template <class T, class B>
Report solve_by_conjugate_gradients(std::string_view name, bool flexible,
                                    const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                                    const SolveOptions<T, B>& options, Workspace<T, B>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system(name, A, b, x, options);
  work.require(
      name, A.context(),
      flexible ? fcg_workspace(A.rows(), M != nullptr) : cg_workspace(A.rows(), M != nullptr));
  detail::Progress<T, B> progress(name, A, options, work.bytes());
  ConjugateGradients<T, B> cg(A, M, flexible, work, x);
  if (options.probe_symmetry) progress.warn(cg.asymmetry());
  return detail::solve_by_runs(progress, A.context(), b, x, cg.r(), cg.scalar(),
                               [&](detail::Scaling<T> to) { return cg.run(to, progress); });
}

}  // namespace

template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options,
          std::type_identity_t<Workspace<T, B>>& work) {
  return solve_by_conjugate_gradients("cg", false, A, b, x, options, work);
}

template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options,
           std::type_identity_t<Workspace<T, B>>& work) {
  return solve_by_conjugate_gradients("fcg", true, A, b, x, options, work);
}

template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "cg", A, b, x, options, cg_workspace(A.rows(), options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return cg(A, b, x, options, work); });
}

template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "fcg", A, b, x, options, fcg_workspace(A.rows(), options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return fcg(A, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                               \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,  \
                     const SolveOptions<T, B>&, Workspace<T, B>&);               \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,  \
                     const SolveOptions<T, B>&);                                 \
  template Report fcg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report fcg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
