// SPDX-License-Identifier: BSD-3-Clause
// x += d with A d = b - A x solved for at lower precision, until the residual is small.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/recurrence.hpp>
#include <tansolve/solvers/refinement.hpp>

#include <fmt/format.h>

namespace tansolve {

// Holds 2 vectors of fp64 and 2 of fp32 beside b and x.
template <class B>
Report refine(const LinearOperator<double, B>& A, const std::type_identity_t<InnerSolver<B>>& inner,
              std::type_identity_t<Span<const double, B>> b,
              std::type_identity_t<Span<double, B>> x,
              const std::type_identity_t<SolveOptions<double, B>>& options,
              std::type_identity_t<Workspace<double, B>>& work,
              std::type_identity_t<Workspace<float, B>>& inner_work) {
  require_square_system("refine", A, b, x, options);
  if (options.preconditioner != nullptr)
    throw Error(ErrorCode::invalid_argument,
                "refine: a preconditioner, it must be given to the inner solver");
  Context<B>& context = A.context();
  work.require("refine", context, refinement_workspace(A.rows()));
  inner_work.require("refine", context, refinement_workspace(A.rows()));
  const Span<double, B> r = work.vector(0), d = work.vector(1);
  const Span<float, B> r32 = inner_work.vector(0), d32 = inner_work.vector(1);

  detail::Progress<double, B> progress("refine", A, options, work.bytes() + inner_work.bytes());
  double truth = progress.start(b, x, r, work.scalar(0));  // ||b - A x||
  bool converged = progress.meets(truth), broke_down = !std::isfinite(truth);
  std::optional<detail::Breakdown> breakdown;
  std::int64_t inner_iterations = 0;
  while (!(converged || broke_down || breakdown || progress.stopped())) {
    const double sigma = detail::power_of_two_below<double>(truth);
    convert(context, 1 / sigma, r, r32);
    fill(context, 0, d32);
    const Report step = inner(r32, d32);
    inner_iterations += step.iterations;
    convert(context, 1.0F, d32, d);
    const double size = sigma * detail::norm_of<double, B>(context, d, work.scalar(0));
    if (!std::isfinite(size)) {
      breakdown = {Status::not_finite, fmt::format("a correction of norm {:g} by {} ({})", size,
                                                   step.solver, name(step.status))};
      break;
    }
    axpby(context, sigma, d, 1, x);  // x += sigma d
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, work.scalar(0)));
    progress.record(truth);
    converged = progress.meets(truth);
    if (truth <= previous / 2 || progress.stopped()) continue;
    const bool cut_short = step.status == Status::iteration_limit ||
                           step.status == Status::time_limit || step.status == Status::cancelled;
    const Status status = !std::isfinite(truth) ? Status::not_finite
                          : cut_short           ? step.status
                                                : Status::stagnated;
    breakdown = {status,
                 fmt::format("a correction by {} ({}{}{}) left {:.3g} of the residual", step.solver,
                             name(step.status), step.detail.empty() ? "" : ": ", step.detail,
                             truth / previous)};
  }
  Report report =
      progress.finish(x, work.scalar(0), truth, false, breakdown ? &*breakdown : nullptr, 0);
  report.inner_iterations = inner_iterations;
  return report;
}

template <class B>
Report refine(const LinearOperator<double, B>& A, const std::type_identity_t<InnerSolver<B>>& inner,
              std::type_identity_t<Span<const double, B>> b,
              std::type_identity_t<Span<double, B>> x,
              const std::type_identity_t<SolveOptions<double, B>>& options) {
  const WorkspaceShape shape = refinement_workspace(A.rows());
  return detail::solve_with_own_workspace("refine", A, b, x, options, shape, [&](auto& work) {
    Workspace<float, B> inner_work(A.context(), shape);
    return refine(A, inner, b, x, options, work, inner_work);
  });
}

#define TANSOLVE_INSTANTIATE(B)                                                                  \
  template Report refine(const LinearOperator<double, B>&, const InnerSolver<B>&,                \
                         Span<const double, B>, Span<double, B>, const SolveOptions<double, B>&, \
                         Workspace<double, B>&, Workspace<float, B>&);                           \
  template Report refine(const LinearOperator<double, B>&, const InnerSolver<B>&,                \
                         Span<const double, B>, Span<double, B>, const SolveOptions<double, B>&);
TANSOLVE_INSTANTIATE(Host)
TANSOLVE_INSTANTIATE(Checked)
#if TANSOLVE_HAS_CUDA
TANSOLVE_INSTANTIATE(Cuda)
#endif
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
