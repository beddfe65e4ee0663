// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB on the scaled residual, restarted where it breaks down or has drifted.
#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/batches.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/bicgstab_breakdown.hpp>
#include <tansolve/solvers/recurrence.hpp>

namespace tansolve {
namespace {

// Invariant: x and r with sigma r = b - A x up to rounding; r0, the residual that the run began
// with; residuals are orthogonal to r0 times polynomials in A', one degree more an iteration. Holds
// 5 vectors beside b and x (7 with M). An iteration: 2 products, 21 passes over vectors, the
// products' 4 included, 6 reductions, 6 numbers read by the host in 1 transfer, on a GPU 1 a batch;
// M adds its 2 products and 2 passes. A run beside its iterations: 1 product, 13 passes. Iterations
// that were issued beyond the last wanted change neither x nor r.
template <class T, class B>
class Bicgstab {
 public:
  Bicgstab(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work,
           Span<T, B> x)
      : A_(&A), M_(M), work_(&work), x_(x) {}

  Span<T, B> r() { return r_; }
  Scalar<T, B>& scalar() { return r0_norm_; }  ///< free between runs, as are p and v
  detail::ProbeSpace<T, B> probe() { return {A_, p_, v_}; }

  /// From r, until it is small enough.
  detail::Run run(detail::Scaling<T> to, detail::Progress<T, B>& progress) {
    detail::BicgstabNumbers<T> now = start(to);
    detail::Batches<T, B> batches(*A_, M_, 2, [this](std::int64_t i) { iterate(i); });
    detail::SeenRings<6, T> seen;
    detail::Run run;
    std::int64_t i = 0;
    while (!(run.met || run.breakdown || progress.stopped())) {
      const std::int64_t end = batches.issue(progress.iterations_left());
      seen.read(A_->context(), *work_);
      for (; i < end; ++i) {
        now.r0_v = seen(2, i), now.v_norm = seen(3, i);
        now.st = seen(4, i), now.t_norm = seen(5, i);
        const auto next = now.next(seen(0, i + 1), seen(1, i + 1));
        const bool stopped = progress.stopped();
        if (std::isfinite(next.r_norm)) progress.record(to.sigma * next.r_norm);
        if (!next.wanted()) {
          if (stopped) break;  // what followed changed nothing, and the earlier reason counts
          run.met = next.r_norm <= enough_;
          if (!run.met) run.breakdown = detail::why_no_step(now, next);
          break;
        }
        now = next;
      }
    }
    return run;
  }

 private:
  using Ring = detail::Ring<T, B>;

  /// r0 = p = r. Returns the numbers before the first step.
  detail::BicgstabNumbers<T> start(detail::Scaling<T> to) {
    Context<B>& context = A_->context();
    sigma_ = to.sigma;
    enough_ = static_cast<T>(to.enough);
    copy(context, r_, r0_);
    copy(context, r_, p_);
    const T norm = detail::norm_of<T, B>(context, r_, r0_norm_);
    write(context, norm, r_norm_[0]);
    write(context, norm * norm, rho_[0]);
    return detail::BicgstabNumbers<T>{.r0_norm = norm, .scale = sigma_, .enough = enough_}.next(
        norm * norm, norm);
  }

  void iterate(std::int64_t i) {
    Context<B>& context = A_->context();
    const BicgstabStep<T, B> step = {r0_norm_, rho_[i],    r_norm_[i], r0_v_[i], v_norm_[i],
                                     st_[i],   t_norm_[i], sigma_,     enough_};
    if (M_ != nullptr) M_->apply(p_, y_);  // y = M p
    A_->apply(y_, v_);                     // v = A M p
    dot_and_norm(context, r0_, v_, r0_v_[i], v_norm_[i]);
    bicgstab_half_step(context, step, v_, r_);  // s = r - alpha v, in the place of r
    if (M_ != nullptr) {
      M_->apply(r_, z_);  // z = M s
      A_->apply(z_, t_);  // t = A M s
      dot_and_norm(context, r_, t_, st_[i], t_norm_[i]);
    } else {
      A_->apply_dot(r_, t_, st_[i]);
      norm2(context, t_, t_norm_[i]);
    }
    // r = s - omega t, of the least norm; p = r + beta (p - omega v)
    bicgstab_step(context, step, y_, z_, t_, r0_, x_, r_, rho_[i + 1], r_norm_[i + 1]);
    bicgstab_direction(context, step, rho_[i + 1], r_norm_[i + 1], r_, v_, p_);
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  Workspace<T, B>* work_;
  Span<T, B> x_, r_ = work_->vector(0), r0_ = work_->vector(1), p_ = work_->vector(2);
  Span<T, B> v_ = work_->vector(3), t_ = work_->vector(4);
  Span<T, B> y_ = M_ != nullptr ? work_->vector(5) : p_, z_ = M_ != nullptr ? work_->vector(6) : r_;
  Ring rho_{*work_, 0}, r_norm_{*work_, 1}, r0_v_{*work_, 2}, v_norm_{*work_, 3}, st_{*work_, 4},
      t_norm_{*work_, 5};
  Scalar<T, B>& r0_norm_ = work_->scalar(6 * detail::batch_size);
  T sigma_ = 1, enough_ = 0;
};

}  // namespace

template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options,
                std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("bicgstab", A, b, x, options);
  work.require("bicgstab", A.context(), bicgstab_workspace(A.rows(), M != nullptr));
  detail::Progress<T, B> progress("bicgstab", A, options, work.bytes());
  Bicgstab<T, B> bicgstab(A, M, work, x);
  return detail::solve_by_runs(
      progress, A.context(), b, x, bicgstab.r(), bicgstab.scalar(),
      [&](detail::Scaling<T> to) { return bicgstab.run(to, progress); }, bicgstab.probe());
}

template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "bicgstab", A, b, x, options, bicgstab_workspace(A.rows(), options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return bicgstab(A, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                    \
  template Report bicgstab(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                           const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report bicgstab(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                           const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
