// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on the scaled residual, restarted from the true one where it has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/replay.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/cg_breakdown.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tansolve {
namespace {

/// The scalars of iterations 0, 1, ...: number i of a kind lies in element i mod cg_ring, so that
/// what cg_ring iterations issue is always the same, and all their residuals are read at once.
template <class T, class B>
class Ring {
 public:
  Ring(Workspace<T, B>& work, std::int64_t kind) : work_(&work), first_(kind * detail::cg_ring) {}
  Scalar<T, B>& operator[](std::int64_t i) const {
    return work_->scalar(first_ + i % detail::cg_ring);
  }
  T read(Context<B>& context, std::int64_t i) const { return tansolve::read(context, (*this)[i]); }
  void read_all(Context<B>& context, std::array<T, detail::cg_ring>& values) const {
    copy_to_host<T>(context, work_->scalars(first_, detail::cg_ring), values);
  }

 private:
  Workspace<T, B>* work_;
  std::int64_t first_;
};

template <class T, class B>
void count_replayed(std::int64_t products, const LinearOperator<T, B>& A,
                    const LinearOperator<T, B>* M) {
  A.count_replayed(products);
  if (M != nullptr) M->count_replayed(products);
}

/// Iterations between two looks: a GPU that can record them carries out a whole ring.
template <class T, class B>
std::int64_t iterations_a_look(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M) {
  const bool recorded = records(A.context()) && A.capturable() && (M == nullptr || M->capturable());
  return recorded ? detail::cg_ring : 1;
}

}  // namespace

// Invariant: x and r with sigma r = b - A x up to rounding, sigma = ||b - A x|| at the last restart
// as a power of two, so that no square of a residual leaves the range of T; A-conjugate directions
// p. x lags one step behind r, and takes it while the next direction is made of p; a last direction
// is made for that alone. Holds 3 vectors beside b and x (4 with M). An iteration: 1 product, 10
// passes over vectors, the product's 2 included, 2 reductions, 1 number read by the host, on a GPU
// 1 transfer every cg_ring iterations; M adds its product and 2 passes and a reduction for r'Mr.
// Iterations that were issued beyond the last wanted change neither x nor r.
template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options,
          std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("cg", A, b, x, options);
  Context<B>& context = A.context();
  work.require("cg", context, cg_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), p = work.vector(1), q = work.vector(2);
  const Span<T, B> z = M != nullptr ? work.vector(3) : r;
  const Ring<T, B> rr(work, 0), pq(work, 1), rho = M != nullptr ? Ring<T, B>(work, 2) : rr;
  std::array<T, detail::cg_ring> seen;  // of rr

  detail::Progress<T, B> progress("cg", A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, p, q, pq[0], rr[0]));
  const auto run_from_r = [&](detail::Scaling<T> to) {
    const T enough = static_cast<T>(to.enough * to.enough);
    const auto step_before = [&](std::int64_t i) {
      return CgStep<T, B>{rho[i], pq[i], rr[i], to.sigma, enough};
    };
    const auto turn = [&](std::int64_t i) {  // x += sigma alpha p, p = z + (rho / rho_old) p
      cg_direction(context, step_before(i), rho[i + 1], rr[i + 1], z, p, x);
    };
    const auto iterate = [&](std::int64_t i) {
      if (M != nullptr) M->apply_dot(r, z, rho[i + 1]);  // z = M r, rho = r'z; else z = r
      turn(i);
      A.apply_dot(p, q, pq[i + 1]);                               // q = A p, p'q its curvature
      cg_residual(context, step_before(i + 1), q, r, rr[i + 2]);  // r -= alpha q, alpha = rho / p'q
    };
    std::int64_t i = 0, issued = 0;
    const std::int64_t a_look = iterations_a_look(A, M);
    Replay<B> look(context, a_look > 1, [&] {
      for (std::int64_t k = 0; k < a_look; ++k) iterate(i + k);
    });

    dot(context, r, r, rr[1]);
    double latest = rr.read(context, 1);
    fill(context, 0, p);
    write(context, 0, pq[0]);  // no step was taken before the first
    write(context, 0, rr[0]);
    write(context, 1, rho[0]);  // with p = 0: the first direction is z
    detail::Run run;
    while (!(run.met || run.breakdown || progress.stopped())) {
      const std::int64_t end = i + std::min(a_look, progress.iterations_left());
      if (end == i + a_look)
        count_replayed(look.run() ? a_look : 0, A, M);
      else
        for (std::int64_t k = i; k < end; ++k) iterate(k);
      issued = end;
      rr.read_all(context, seen);
      for (; i < end; ++i) {
        const double before = std::exchange(latest, seen[(i + 2) % detail::cg_ring]);
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
    turn(issued);
    return run;
  };
  return detail::solve_by_runs(progress, context, b, x, r, rr[0], run_from_r);
}

template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "cg", A, b, x, options, cg_workspace(A.rows(), options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return cg(A, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                              \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                     const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                     const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
