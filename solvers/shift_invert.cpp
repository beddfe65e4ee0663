// SPDX-License-Identifier: BSD-3-Clause
// Shifts that follow the spectrum, Lanczos on the inverse, and counts by inertia.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/solvers/shift_invert.hpp>
#include <tansolve/solvers/shift_search.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

namespace tansolve {
namespace {

void require(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorCode::invalid_argument, "shift_invert: " + what);
}

void require_matrix(const Csr<double>& matrix, std::int64_t n, const char* name) {
  require(
      matrix.rows() == n && matrix.cols() == n,
      fmt::format("{} is {} x {}, it must be {} x {}", name, matrix.rows(), matrix.cols(), n, n));
  for (const double value : matrix.values())
    require(std::isfinite(value), fmt::format("{} has an element {}", name, value));
  require(is_symmetric(matrix), fmt::format("{} is not symmetric", name));
}

const Csr<double>& checked(const Csr<double>& A, const Csr<double>* mass) {
  require_matrix(A, A.rows(), "A");
  if (mass != nullptr) require_matrix(*mass, A.rows(), "the mass");
  return A;
}

}  // namespace

struct ShiftInvert::State {
  State(Context<Host>& context, const Csr<double>& A, const Csr<double>* mass)
      : problem(context, checked(A, mass), mass) {}
  detail::ShiftProblem problem;
};

ShiftInvert::ShiftInvert(Context<Host>& context, const Csr<double>& A, const Csr<double>* mass)
    : state_(std::make_unique<State>(context, A, mass)) {}
ShiftInvert::~ShiftInvert() = default;
ShiftInvert::ShiftInvert(ShiftInvert&&) noexcept = default;

FactorCost ShiftInvert::cost() const {
  const detail::ShiftProblem& problem = state_->problem;
  return {problem.fronts.nonzeros, problem.fronts.bytes + problem.root.bytes(),
          problem.fronts.flops};
}

namespace {

void require_memory(const FactorCost& cost, bool factorised) {
  const std::int64_t available = detail::available_memory(Context<Host>(1));
  if (!factorised && cost.bytes > available)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("shift_invert: {} bytes requested for a factor of {} nonzeros, the "
                            "host has {}; lanczos takes products alone",
                            cost.bytes, cost.nonzeros, available));
}

}  // namespace

InertiaCount ShiftInvert::count_below(double sigma) {
  require(std::isfinite(sigma), fmt::format("sigma is {}", sigma));
  detail::ShiftProblem& problem = state_->problem;
  require_memory(cost(), problem.factor.held());
  const double scaled = sigma / problem.pencil.unit();
  const auto end = problem.factor.factor(1, scaled, detail::Pivots::any, [] { return true; });
  if (end != detail::SparseLdlt::End::done) return {-1, std::nan("")};
  return {problem.factor.negative(), problem.factor.backward_error() * problem.pencil.a_scale};
}

EigenReport ShiftInvert::solve(Span<double, Host> vectors, const EigenOptions<double>& options,
                               bool verify) {
  detail::ShiftProblem& problem = state_->problem;
  detail::require_eigenproblem<double, Host>("shift_invert", problem.A, vectors, options);
  require(options.which != Which::magnitude,
          "which is magnitude, it must be smallest, largest or nearest; lanczos takes it");
  require(options.which != Which::nearest || std::isfinite(options.target),
          fmt::format("target is {}", options.target));
  require_memory(cost(), problem.factor.held());
  return detail::ShiftSearch(problem, options, verify, cost().bytes).run(vectors);
}

}  // namespace tansolve
