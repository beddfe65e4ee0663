// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB on the scaled residual, restarted where it breaks down or has drifted.
#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/batches.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/bicgstab_breakdown.hpp>
#include <tansolve/solvers/recurrence.hpp>

namespace tansolve {

// Invariant: x and r with sigma r = b - A x up to rounding; r0, the residual that the run began
// with; residuals are orthogonal to r0 times polynomials in A', one degree more an iteration. Holds
// 5 vectors beside b and x (7 with M). An iteration: 2 products, 21 passes over vectors, the
// products' 4 included, 6 reductions, 6 numbers read by the host in 1 transfer, on a GPU 1 a batch;
// M adds its 2 products and 2 passes. Iterations that were issued beyond the last wanted change
// neither x nor r.
template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options,
                std::type_identity_t<Workspace<T, B>>& work) {
  using Ring = detail::Ring<T, B>;
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("bicgstab", A, b, x, options);
  Context<B>& context = A.context();
  work.require("bicgstab", context, bicgstab_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), r0 = work.vector(1), p = work.vector(2);
  const Span<T, B> v = work.vector(3), t = work.vector(4);
  const Span<T, B> y = M != nullptr ? work.vector(5) : p, z = M != nullptr ? work.vector(6) : r;
  const Ring rho(work, 0), r_norm(work, 1), r0_v(work, 2), v_norm(work, 3), st(work, 4),
      t_norm(work, 5);
  Scalar<T, B>& r0_norm = work.scalar(6 * detail::batch_size);
  detail::SeenRings<6, T> seen;

  detail::Progress<T, B> progress("bicgstab", A, options, work.bytes());
  const auto run_from_r = [&](detail::Scaling<T> to) {
    const T enough = static_cast<T>(to.enough);
    const auto step = [&](std::int64_t i) {
      return BicgstabStep<T, B>{r0_norm, rho[i],    r_norm[i], r0_v[i], v_norm[i],
                                st[i],   t_norm[i], to.sigma,  enough};
    };
    const auto iterate = [&](std::int64_t i) {
      if (M != nullptr) M->apply(p, y);  // y = M p
      A.apply(y, v);                     // v = A M p
      dot_and_norm(context, r0, v, r0_v[i], v_norm[i]);
      bicgstab_half_step(context, step(i), v, r);  // s = r - alpha v, in the place of r
      if (M != nullptr) {
        M->apply(r, z);  // z = M s
        A.apply(z, t);   // t = A M s
        dot_and_norm(context, r, t, st[i], t_norm[i]);
      } else {
        A.apply_dot(r, t, st[i]);
        norm2(context, t, t_norm[i]);
      }
      // r = s - omega t, of the least norm; p = r + beta (p - omega v)
      bicgstab_step(context, step(i), y, z, t, r0, x, r, rho[i + 1], r_norm[i + 1]);
      bicgstab_direction(context, step(i), rho[i + 1], r_norm[i + 1], r, v, p);
    };
    detail::Batches<T, B> batches(A, M, 2, iterate);

    copy(context, r, r0);
    copy(context, r, p);
    const T norm = detail::norm_of<T, B>(context, r, r0_norm);
    write(context, norm, r_norm[0]);
    write(context, norm * norm, rho[0]);
    detail::BicgstabNumbers<T> now =
        detail::BicgstabNumbers<T>{.r0_norm = norm, .scale = to.sigma, .enough = enough}.next(
            norm * norm, norm);
    detail::Run run;
    std::int64_t i = 0;
    while (!(run.met || run.breakdown || progress.stopped())) {
      const std::int64_t end = batches.issue(progress.iterations_left());
      seen.read(context, work);
      for (; i < end; ++i) {
        now.r0_v = seen(2, i), now.v_norm = seen(3, i);
        now.st = seen(4, i), now.t_norm = seen(5, i);
        const auto next = now.next(seen(0, i + 1), seen(1, i + 1));
        const bool stopped = progress.stopped();
        if (std::isfinite(next.r_norm)) progress.record(to.sigma * next.r_norm);
        if (!next.wanted()) {
          if (stopped) break;  // what followed changed nothing, and the earlier reason counts
          run.met = next.r_norm <= enough;
          if (!run.met) run.breakdown = detail::why_no_step(now, next);
          break;
        }
        now = next;
      }
    }
    return run;
  };
  return detail::solve_by_runs(progress, context, b, x, r, r0_norm, run_from_r,
                               detail::ProbeSpace<T, B>{&A, p, v});
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
