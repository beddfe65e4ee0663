// SPDX-License-Identifier: BSD-3-Clause
// The inner solves of iterative refinement by the solvers of the table.
#include "refined.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <fmt/format.h>

#include <utility>

namespace tansolve::app {
namespace {

/// Of an inner solve, relative to its right-hand side: what it gains, the next one continues.
constexpr double inner_rtol = 1e-3;

Prepared<float> rounded(const Prepared<double>& matrix, PlanOptions plan, int threads) {
  plan.format = matrix.compressed ? Format::dtans : matrix.plain;
  Source<double> source{.name = matrix.name,
                        .matrix = matrix.csr ? *matrix.csr : matrix.compressed->decode(threads)};
  Source<float> narrow = round_to_f32(std::move(source), "leave out --refine");
  narrow.name += ", in f32";
  return prepare(std::move(narrow), plan, threads);
}

}  // namespace

template <class B>
Refined<B>::Refined(Context<B>& context, const Prepared<double>& matrix, const Method& method,
                    PlanOptions plan, const DeviceOptions& device,
                    const PreconditionerInput<double, B>& input)
    : matrix_(rounded(matrix, std::move(plan), input.threads)),
      A_(make_operator(context, matrix_, device.deterministic)),
      preconditioning_(build_preconditioner<float, B>(method, {.A = *A_,
                                                               .matrix = matrix_,
                                                               .symmetric = input.symmetric,
                                                               .threads = input.threads,
                                                               .objective = input.objective,
                                                               .request = input.request,
                                                               .amg = input.amg})),
      solver_(&solver_named<float, B>(method.solver)) {
  if (solver_->takes == Kind::rectangular)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--refine: {} is not refined; solvers of square systems are", solver_->name));
}

template <class B>
Report Refined<B>::solve(const LinearOperator<double, B>& A, Span<const double, B> b,
                         Span<double, B> x, SolveOptions<double, B> options,
                         const Tuning& tuning) const {
  bool going = true;
  const Monitor monitor = options.monitor;
  SolveOptions<float, B> inner{
      .rtol = inner_rtol,
      .max_iterations = options.max_iterations,
      .time_limit = options.time_limit,
      .preconditioner = preconditioning_.M.get(),
      .monitor = [&](std::int64_t iteration,
                     double residual) { return going = going && monitor(iteration, residual); },
      .record_history = false,
      .probe_symmetry = false};
  options.preconditioner = nullptr;
  options.monitor = [&](std::int64_t, double) { return going; };
  const InnerSolver<B> correct = [&](Span<const float, B> r, Span<float, B> d) {
    return solver_->solve(*A_, r, d, inner, tuning);
  };
  Report report = refine(A, correct, b, x, options);
  report.solver = fmt::format("{} in f32, refined", solver_->name);
  if (preconditioning_.M != nullptr) report.preconditioner_name = preconditioning_.M->name();
  return report;
}

template class Refined<Host>;
#if TANSOLVE_HAS_CUDA
template class Refined<Cuda>;
#endif

}  // namespace tansolve::app
