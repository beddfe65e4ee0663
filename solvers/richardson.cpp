// SPDX-License-Identifier: BSD-3-Clause
// One correction after another, each from a true residual.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/recurrence.hpp>
#include <tansolve/solvers/richardson.hpp>

#include <fmt/format.h>

namespace tansolve {

// Holds 2 vectors beside b and x.
template <class T, class B>
Report richardson(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                  std::type_identity_t<Span<T, B>> x,
                  const std::type_identity_t<SolveOptions<T, B>>& options,
                  std::type_identity_t<Workspace<T, B>>& work) {
  require_square_system("richardson", A, b, x, options);
  Context<B>& context = A.context();
  work.require("richardson", context, richardson_workspace(A.rows()));
  const LinearOperator<T, B>* M = options.preconditioner;
  const Span<T, B> r = work.vector(0), z = M != nullptr ? work.vector(1) : r;

  detail::Progress<T, B> progress("richardson", A, options, work.bytes());
  double truth = progress.start(b, x, r, work.scalar(0));  // ||b - A x||
  bool converged = progress.meets(truth), broke_down = !std::isfinite(truth);
  std::optional<detail::Breakdown> breakdown;
  while (!(converged || broke_down || breakdown || progress.stopped())) {
    if (M != nullptr) M->apply(r, z);  // z = M r
    const double size = detail::norm_of<T, B>(context, z, work.scalar(0));
    if (!std::isfinite(size)) {
      breakdown = {Status::not_finite, fmt::format("a correction M r of norm {:g}", size)};
      break;
    }
    axpby(context, 1, z, 1, x);
    truth = progress.true_residual(b, x, r, work.scalar(0));
    broke_down = !std::isfinite(truth);
    if (!broke_down) progress.record(truth);
    converged = progress.meets(truth);
  }
  return progress.finish(x, work.scalar(0), truth, false, breakdown ? &*breakdown : nullptr, 0);
}

template <class T, class B>
Report richardson(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
                  std::type_identity_t<Span<T, B>> x,
                  const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_with_own_workspace(
      "richardson", A, b, x, options, richardson_workspace(A.rows()),
      [&](Workspace<T, B>& work) { return richardson(A, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                      \
  template Report richardson(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                             const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report richardson(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                             const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
