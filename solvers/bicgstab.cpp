// SPDX-License-Identifier: BSD-3-Clause
// BiCGSTAB on the scaled residual, restarted where it breaks down or has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/bicgstab_breakdown.hpp>
#include <tansolve/solvers/recurrence.hpp>

namespace tansolve {

// Invariant: x and r with sigma r = b - A x up to rounding; r0, the residual that the run began
// with; residuals are orthogonal to r0 times polynomials in A', one degree more an iteration. Holds
// 5 vectors beside b and x (7 with M). An iteration: 2 products, 25 passes over vectors, the
// products' 4 included, 6 reductions, 3 reads by the host; M adds its 2 products and 2 passes for
// s't.
template <class T, class B>
Report bicgstab(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                std::type_identity_t<Span<T, B>> x,
                const std::type_identity_t<SolveOptions<T, B>>& options,
                std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("bicgstab", A, b, x, options);
  Context<B>& context = A.context();
  work.require("bicgstab", context, bicgstab_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), r0 = work.vector(1), p = work.vector(2);
  const Span<T, B> v = work.vector(3), t = work.vector(4), s = r;  // s takes the place of r
  const Span<T, B> y = M != nullptr ? work.vector(5) : p, z = M != nullptr ? work.vector(6) : s;
  Scalar<T, B>&first = work.scalar(0), &second = work.scalar(1);  // read together

  detail::Progress<T, B> progress("bicgstab", A, options, work.bytes());
  const auto run_from_r = [&](detail::Scaling<T> to) {
    copy(context, r, r0);
    copy(context, r, p);
    const double r0_norm = detail::norm_of<T, B>(context, r, first);
    double rho = r0_norm * r0_norm;  // r0'r
    detail::Run run;
    while (!(run.met || run.breakdown || progress.stopped())) {
      if (M != nullptr) M->apply(p, y);  // y = M p
      A.apply(y, v);                     // v = A M p
      dot(context, r0, v, first);
      norm2(context, v, second);
      const auto [r0_v, v_norm] = detail::read_scalars<2>(context, work, 0);
      const double alpha = rho / r0_v;
      run.breakdown = detail::no_alpha<T>(r0_v, r0_norm, v_norm, static_cast<T>(to.sigma * alpha));
      if (run.breakdown) break;
      axpby(context, static_cast<T>(-alpha), v, 1, s);  // s = r - alpha v
      if (M != nullptr) {
        M->apply(s, z);  // z = M s
        A.apply(z, t);   // t = A M s
        dot(context, s, t, first);
      } else {
        A.apply_dot(s, t, first);
      }
      norm2(context, t, second);
      const auto [st, t_norm] = detail::read_scalars<2>(context, work, 0);
      const double omega = t_norm > 0 ? st / double{t_norm} / t_norm : 0;  // least ||s - omega t||
      run.breakdown = detail::no_omega(st, t_norm, static_cast<T>(to.sigma * omega));
      if (run.breakdown) break;
      axpbypcz(context, static_cast<T>(to.sigma * alpha), y, static_cast<T>(to.sigma * omega), z, 1,
               x);
      axpby(context, static_cast<T>(-omega), t, 1, r);  // r = s - omega t
      dot(context, r0, r, first);
      norm2(context, r, second);
      const auto [r0_r, r_norm] = detail::read_scalars<2>(context, work, 0);
      if (std::isfinite(r_norm)) progress.record(to.sigma * r_norm);
      run.met = r_norm <= to.enough;
      if (run.met) break;
      run.breakdown = detail::no_direction<T>(r0_r, r0_norm, r_norm, omega);
      const double beta = r0_r / std::exchange(rho, r0_r) * (alpha / omega);
      if (!run.breakdown)  // p = r + beta (p - omega v)
        axpbypcz(context, 1, r, static_cast<T>(-beta * omega), v, static_cast<T>(beta), p);
    }
    return run;
  };
  return detail::solve_by_runs(progress, context, b, x, r, first, run_from_r);
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
