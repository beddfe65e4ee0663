// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on the scaled residual, restarted from the true one where it has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

// Invariant: x and r with sigma r = b - A x up to rounding, sigma = ||b - A x|| at the last restart
// as a power of two, so that no square of a residual leaves the range of T; A-conjugate directions
// p. Holds 3 vectors beside b and x (4 with M). An iteration: 1 product, 11 passes over vectors,
// the product's 2 included, 2 reductions, 1 number read by the host; M adds its product and 2
// passes and a reduction for r'Mr. A restart or the end: 1 product and 6 passes.
template <class T, class B>
Report cg(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
          std::type_identity_t<Span<T, B>> x,
          const std::type_identity_t<SolveOptions<T, B>>& options,
          std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("cg", A, b, x, options);
  work.require("cg", cg_workspace(A.rows(), M != nullptr));
  Context<B>& context = A.context();
  const Span<T, B> r = work.vector(0), p = work.vector(1), q = work.vector(2);
  const Span<T, B> z = M != nullptr ? work.vector(3) : r;
  Scalar<T, B>&rho = work.scalar(0), &rho_old = work.scalar(1), &pq = work.scalar(2);
  Scalar<T, B>& rr = work.scalar(3);

  detail::Progress<T, B> progress("cg", A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, p, q, pq, rr));
  double truth = progress.start(b, x, r, rr);  // ||r||, r = b - A x
  bool converged = progress.meets(truth), stagnated = false, broke_down = !std::isfinite(truth);
  std::optional<detail::Breakdown> breakdown;
  std::int64_t starts = 0;
  while (!(converged || stagnated || broke_down || progress.exhausted() || progress.diverged() ||
           progress.cancelled())) {
    const T sigma = power_of_two_below<T>(truth);
    scale(context, 1 / sigma, r);
    dot(context, r, r, rr);
    fill(context, 0, p);
    write(context, 1, rho_old);  // with p = 0: the first direction is z
    ++starts;
    bool met = false;
    while (!(met || broke_down || progress.exhausted() || progress.diverged() ||
             progress.cancelled())) {
      if (M != nullptr)
        M->apply_dot(r, z, rho);  // z = M r, rho = r'z
      else
        std::swap(rho, rr);                              // z = r, rho = r'r
      cg_direction(context, rho, rho_old, z, p);         // p = z + (rho / rho_old) p
      A.apply_dot(p, q, pq);                             // q = A p, p'q its curvature
      cg_step(context, rho, pq, sigma, p, q, x, r, rr);  // alpha = rho / p'q along p
      std::swap(rho, rho_old);
      const double residual = sigma * std::sqrt(static_cast<double>(read(context, rr)));
      broke_down = !std::isfinite(residual);
      met = progress.meets(residual);
      if (broke_down) {
        norm2(context, q, rr);
        breakdown = why_no_step(read(context, rho_old), read(context, pq), read(context, rr));
      } else {
        progress.record(residual);
      }
    }
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, rr));
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
