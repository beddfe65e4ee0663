// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients with a beta that makes directions conjugate whatever the preconditioner did.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/cg_breakdown.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/recurrence.hpp>

namespace tansolve {

// Invariant: that of cg, but that p is A-conjugate to the direction before it alone. With q = A p,
//
//     z'(r - r_old) / (z_old' r_old) = -alpha z'q / (z_old' r_old) = -z'q / p'q,
//
// so that the beta of Polak and Ribiere needs no r_old. Holds 3 vectors beside b and x (4 with M).
// An iteration: 1 product, 13 passes over vectors, the product's 2 included, 3 reductions, 2 reads
// by the host; M adds its product and 2 passes and a reduction for r'Mr.
template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options,
           std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("fcg", A, b, x, options);
  Context<B>& context = A.context();
  work.require("fcg", context, fcg_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), p = work.vector(1), q = work.vector(2);
  const Span<T, B> z = M != nullptr ? work.vector(3) : r;
  Scalar<T, B>&zq = work.scalar(1), &pq = work.scalar(2);

  detail::Progress<T, B> progress("fcg", A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, p, q, zq, pq));
  const auto run_from_r = [&](detail::Scaling<T> to) {
    const T enough = static_cast<T>(to.enough * to.enough);
    detail::Run run;
    std::int64_t i = 0;
    dot(context, r, r, work.scalar(3));
    while (!(run.met || run.breakdown || progress.stopped())) {
      Scalar<T, B>&rr = work.scalar(3 + i % 2), &rr_next = work.scalar(3 + (i + 1) % 2);
      T beta = 0;
      if (M != nullptr) M->apply_dot(r, z, work.scalar(0));  // z = M r, rho = r'z
      const Scalar<T, B>& rho = M != nullptr ? work.scalar(0) : rr;
      if (i > 0) {
        dot(context, z, q, zq);
        const auto [z_q, p_q] = detail::read_scalars<2>(context, work, 1);
        beta = -z_q / p_q;
      }
      axpby(context, 1, z, beta, p);  // p = z + beta p, conjugate to the last p
      A.apply_dot(p, q, pq);          // q = A p, p'q its curvature
      cg_residual(context, {rho, pq, rr, to.sigma, enough}, q, r, rr_next);
      const auto seen = detail::read_scalars<5>(context, work, 0);
      const T latest = seen[3 + (i + 1) % 2], rho_seen = seen[M != nullptr ? 0 : 3 + i % 2];
      if (std::isfinite(latest)) {
        axpby(context, to.sigma * (rho_seen / seen[2]), p, 1, x);  // alpha = rho / p'q along p
        progress.record(to.sigma * std::sqrt(latest));
        run.met = latest <= enough;
      } else {
        run.breakdown =
            detail::why_no_step(rho_seen, seen[2], detail::norm_of<T, B>(context, q, zq));
      }
      ++i;
    }
    return run;
  };
  return detail::solve_by_runs(progress, context, b, x, r, work.scalar(3), run_from_r);
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
  template Report fcg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report fcg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
