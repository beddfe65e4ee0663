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
// 1 transfer a batch; M adds its product and 2 passes and a reduction for r'Mr. Iterations that
// were issued beyond the last wanted change neither x nor r.
//
// Where M changes from step to step, p is conjugate to the direction before it alone, by the beta
// of Polak and Ribiere, which needs no r_old: with q = A p,
//
//     z'(r - r_old) / (z_old' r_old) = -alpha z'q / (z_old' r_old) = -z'q / p'q.
//
// An iteration then takes 2 passes and a reduction more.
template <class T, class B>
Report solve_by_conjugate_gradients(std::string_view solver, bool flexible,
                                    const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                                    const SolveOptions<T, B>& options, Workspace<T, B>& work) {
  using Ring = detail::Ring<T, B>;
  const LinearOperator<T, B>* M = options.preconditioner;
  Context<B>& context = A.context();
  const Span<T, B> r = work.vector(0), p = work.vector(1), q = work.vector(2);
  const Span<T, B> z = M != nullptr ? work.vector(3) : r;
  const std::int64_t batch = detail::batch_for(A, M, 3);  // an iteration sees 3 of a ring
  const Ring rr(work, 0, batch), pq(work, 1, batch), rho = M != nullptr ? Ring(work, 2, batch) : rr;
  detail::SeenRings<1, T> seen(batch);  // of rr

  detail::Progress<T, B> progress(solver, A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, p, q, pq[0], rr[0]));
  const auto run_from_r = [&](detail::Scaling<T> to) {
    const T enough = static_cast<T>(to.enough * to.enough);
    const auto step_before = [&](std::int64_t i) {
      return CgStep<T, B>{rho[i], pq[i], rr[i], to.sigma, enough};
    };
    const auto turn = [&](std::int64_t i) {  // x += sigma alpha p, p = z + beta p
      if (flexible) {
        Scalar<T, B>& zq = work.scalar(3 * detail::batch_size);
        dot(context, z, q, zq);
        cg_direction(context, step_before(i), {zq, pq[i], -1}, rr[i + 1], z, p, x);
      } else {
        cg_direction(context, step_before(i), {rho[i + 1], rho[i]}, rr[i + 1], z, p, x);
      }
    };
    const auto iterate = [&](std::int64_t i) {
      if (M != nullptr) M->apply_dot(r, z, rho[i + 1]);  // z = M r, rho = r'z; else z = r
      turn(i);
      A.apply_dot(p, q, pq[i + 1]);                               // q = A p, p'q its curvature
      cg_residual(context, step_before(i + 1), q, r, rr[i + 2]);  // r -= alpha q, alpha = rho / p'q
    };
    detail::Batches<T, B> batches(A, M, 1, iterate, batch);

    dot(context, r, r, rr[1]);
    double latest = rr.read(context, 1);
    fill(context, 0, p);  // so that the first direction is z, whatever beta
    if (flexible) fill(context, 0, q);
    write(context, 0, rr[0]);  // no step was wanted before the first
    write(context, 1, pq[0]);
    write(context, 1, rho[0]);
    detail::Run run;
    std::int64_t i = 0;
    while (!(run.met || run.breakdown || progress.stopped())) {
      const std::int64_t end = batches.issue(progress.iterations_left());
      seen.read(context, work);
      for (; i < end; ++i) {
        const double before = std::exchange(latest, seen(0, i + 2));
        const bool stopped = progress.stopped();
        if (std::isfinite(latest)) progress.record(to.sigma * std::sqrt(latest));
        if (latest > enough && std::isfinite(latest)) continue;
        if (stopped) break;  // what followed changed nothing, and the earlier reason counts
        run.met = latest <= enough;
        if (!run.met)
          run.breakdown = detail::why_no_step(M != nullptr ? rho.read(context, i + 1) : before,
                                              pq.read(context, i + 1),
                                              detail::norm_of<T, B>(context, q, pq[i + 2]));
        break;
      }
    }
    turn(batches.issued());
    return run;
  };
  return detail::solve_by_runs(progress, context, b, x, r, rr[0], run_from_r);
}

}  // namespace

template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options,
          std::type_identity_t<Workspace<T, B>>& work) {
  require_square_system("cg", A, b, x, options);
  work.require("cg", A.context(), cg_workspace(A.rows(), options.preconditioner != nullptr));
  return solve_by_conjugate_gradients("cg", false, A, b, x, options, work);
}

template <class T, class B>
Report fcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options,
           std::type_identity_t<Workspace<T, B>>& work) {
  require_square_system("fcg", A, b, x, options);
  work.require("fcg", A.context(), fcg_workspace(A.rows(), options.preconditioner != nullptr));
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
