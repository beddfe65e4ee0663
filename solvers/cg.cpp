// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on the scaled residual, restarted from the true one where it has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/replay.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tansolve {
namespace {

/// The power of two below `norm`, within the range in which its reciprocal is a number of T.
/// Scaling by it is exact.
template <class T>
T power_of_two_below(double norm) {
  using Limits = std::numeric_limits<T>;
  const int exponent =
      std::clamp(std::ilogb(norm), Limits::min_exponent - 1, Limits::max_exponent - 1);
  return static_cast<T>(std::ldexp(1.0, exponent));
}

/// Why cg_step refused rho = r'Mr and pq = p'Ap, or left an r'r that is not finite; q = A p. Where
/// A p = 0, p is a null vector of the symmetric A with p'b = p'(b - A x) = r'Mr > 0, so that no A x
/// is b.
detail::Breakdown why_no_step(double rho, double pq, double q_norm) {
  if (!std::isfinite(rho)) return {Status::not_finite, fmt::format("r'Mr = {}", rho)};
  if (rho < 0) return {Status::indefinite_preconditioner, fmt::format("r'Mr = {:g}", rho)};
  if (rho == 0) return {Status::breakdown, "r'Mr = 0 for a residual that is not 0"};
  if (!std::isfinite(pq)) return {Status::not_finite, fmt::format("p'Ap = {}", pq)};
  if (pq < 0) return {Status::indefinite_operator, fmt::format("p'Ap = {:g}", pq)};
  if (q_norm == 0) return {Status::inconsistent, "A p = 0 for a direction p with p'b > 0"};
  if (pq == 0) return {Status::breakdown, "p'Ap = 0: the operator is singular or indefinite"};
  return {Status::not_finite, fmt::format("the step r'Mr / p'Ap = {:g} / {:g} overflows", rho, pq)};
}

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

template <class T, class B>
double norm_of(Context<B>& context, Span<T, B> vector, Scalar<T, B>& scalar) {
  norm2(context, vector, scalar);
  return read(context, scalar);
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
// p. Holds 3 vectors beside b and x (4 with M). An iteration: 1 product, 11 passes over vectors,
// the product's 2 included, 2 reductions, 1 number read by the host, on a GPU 1 transfer every
// cg_ring iterations; M adds its product and 2 passes and a reduction for r'Mr. A restart or the
// end: 1 product and 6 passes. Iterations that were issued beyond the last wanted change neither x
// nor r.
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
  double truth = progress.start(b, x, r, rr[0]);  // ||r||, r = b - A x
  bool converged = progress.meets(truth), stagnated = false, broke_down = !std::isfinite(truth);
  std::optional<detail::Breakdown> breakdown;
  std::int64_t starts = 0;
  while (!(converged || stagnated || broke_down || progress.exhausted() || progress.diverged() ||
           progress.cancelled())) {
    const T sigma = power_of_two_below<T>(truth);
    const double relative = progress.threshold() / sigma;
    // Below the square by more than r'r errs, so that a step follows where ||r|| misses the
    // tolerance.
    constexpr double margin = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const T enough = static_cast<T>(relative * relative * (1 - margin));
    const auto iterate = [&](std::int64_t i) {
      if (M != nullptr) M->apply_dot(r, z, rho[i + 1]);  // z = M r, rho = r'z; else z = r
      const CgScalars<T, B> s = {rho[i + 1], rho[i], pq[i], rr[i + 1], rr[i + 2]};
      cg_direction(context, s, z, p);                  // p = z + (rho / rho_old) p
      A.apply_dot(p, q, pq[i]);                        // q = A p, p'q its curvature
      cg_step(context, s, sigma, enough, p, q, x, r);  // alpha = rho / p'q along p
    };
    std::int64_t i = 0;
    const std::int64_t a_look = iterations_a_look(A, M);
    Replay<B> look(context, a_look > 1, [&] {
      for (std::int64_t k = 0; k < a_look; ++k) iterate(i + k);
    });

    scale(context, 1 / sigma, r);
    dot(context, r, r, rr[1]);
    double latest = rr.read(context, 1);
    fill(context, 0, p);
    write(context, 1, rho[0]);  // with p = 0: the first direction is z
    ++starts;
    bool met = false;
    while (!(met || broke_down || progress.exhausted() || progress.diverged() ||
             progress.cancelled())) {
      const std::int64_t end = i + std::min(a_look, progress.iterations_left());
      if (end == i + a_look)
        count_replayed(look.run() ? a_look : 0, A, M);
      else
        for (std::int64_t k = i; k < end; ++k) iterate(k);
      rr.read_all(context, seen);
      for (; i < end; ++i) {
        const double before = std::exchange(latest, seen[(i + 2) % detail::cg_ring]);
        const bool stopped = progress.exhausted() || progress.diverged() || progress.cancelled();
        if (std::isfinite(latest)) progress.record(sigma * std::sqrt(latest));
        if (latest > enough && std::isfinite(latest)) continue;
        // What followed changed nothing; but an earlier reason to stop comes first.
        met = !stopped && latest <= enough;
        broke_down = !stopped && !std::isfinite(latest);
        if (broke_down)
          breakdown = why_no_step(M != nullptr ? rho.read(context, i + 1) : before,
                                  pq.read(context, i), norm_of(context, q, pq[i + 1]));
        break;
      }
    }
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, rr[0]));
    converged = progress.meets(truth);
    stagnated = met && !(truth <= previous / 2);
  }
  return progress.finish(truth, stagnated, breakdown ? &*breakdown : nullptr,
                         std::max<std::int64_t>(starts - 1, 0));
}

template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options) {
  require_square_system("cg", A, b, x, options);
  const auto began = std::chrono::steady_clock::now();
  Workspace<T, B> work(A.context(), cg_workspace(A.rows(), options.preconditioner != nullptr));
  const std::chrono::duration<double> building = std::chrono::steady_clock::now() - began;
  Report report = cg(A, b, x, options, work);
  report.setup_seconds += building.count();
  return report;
}

#define TANSOLVE_INSTANTIATE(T, B)                                              \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                     const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report cg(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                     const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
