// SPDX-License-Identifier: BSD-3-Clause
// Shifts that follow the spectrum, Lanczos on the inverse, and counts by inertia.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/solvers/shift_invert.hpp>
#include <tansolve/solvers/shift_search.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

ShiftInvert::ShiftInvert(Context<Host>& context, const Csr<double>& A, const Csr<double>* mass,
                         const GoOn& go_on)
    : state_(std::make_unique<State>(context, A, mass)) {
  state_->problem.analyse(go_on);
}
ShiftInvert::~ShiftInvert() = default;
ShiftInvert::ShiftInvert(ShiftInvert&&) noexcept = default;

bool ShiftInvert::ordered() const {
  return state_->problem.analysed();
}

FactorCost ShiftInvert::cost() const {
  if (!ordered()) return {};
  const detail::ShiftProblem& problem = state_->problem;
  return {problem.fronts.nonzeros, problem.factor_bytes(), problem.fronts.flops};
}

InertiaCount ShiftInvert::count_below(double sigma, const GoOn& go_on) {
  require(std::isfinite(sigma), fmt::format("sigma is {}", sigma));
  detail::ShiftProblem& problem = state_->problem;
  if (!problem.analyse(go_on)) return {-1, std::nan("")};
  problem.require_memory();
  const double scaled = sigma / problem.pencil.unit();
  const auto end = problem.factor.factor(1, scaled, detail::Pivots::any, go_on);
  if (end != detail::SparseLdlt::End::done) return {-1, std::nan("")};
  return {problem.factor.negative(), problem.factor.backward_error() * problem.pencil.a_scale};
}

bool ShiftInvert::prove(EigenReport& report, Which which, const GoOn& go_on) {
  require(which != Which::nearest, "which is nearest, solve proves that itself");
  if (!report.converged() || report.pairs.empty()) return false;
  const double worst = std::ranges::max(report.pairs, {}, &EigenPair::residual).residual;
  const auto key = [which](const EigenPair& pair) { return detail::sort_key(which, pair.value); };
  const double last = key(report.pairs.back());
  // With a mass, residuals may be those of eigenvalues or of A: the coarser of both units.
  double unit = 1, largest = std::numeric_limits<double>::infinity();
  if (state_->problem.mass) {
    largest = 0;
    for (const EigenPair& pair : report.pairs) largest = std::max(largest, std::abs(pair.value));
    unit = std::max(unit, largest / report.norm);
  }
  // A slack beyond the eigenvalues themselves would count where nothing is.
  const double most = std::min(64 * unit * report.threshold, 1e-2 * largest);
  for (double slack = unit * std::max(4 * worst, 1e-14 * report.norm); slack <= most;
       slack *= 1.5) {
    const double reach = last - slack;  // of keys
    const auto near = [&](const EigenPair& pair) {
      return std::abs(key(pair) - reach) < slack / 2;
    };
    if (std::ranges::any_of(report.pairs, near)) continue;
    const auto found = std::ranges::count_if(
        report.pairs, [&](const EigenPair& pair) { return key(pair) < reach; });
    const InertiaCount low = count_below(which == Which::largest ? -reach : reach, go_on);
    const InertiaCount high =
        which == Which::magnitude ? count_below(-reach, go_on) : InertiaCount{0, 0};
    report.factorizations += which == Which::magnitude ? 2 : 1;
    report.factor_bytes = cost().bytes;
    if (low.below < 0 || high.below < 0 || !std::isfinite(low.backward_error) ||
        !std::isfinite(high.backward_error))
      break;
    const double error = unit * std::max(low.backward_error, high.backward_error);
    if (error > slack / 4) {
      // The error may come from pivots that are small because the slack is.
      slack = 6 * error <= most ? std::max(slack, 6 * error) : std::sqrt(slack * most);
      continue;
    }
    const std::int64_t n = state_->problem.A.rows();
    const std::int64_t better = which == Which::smallest  ? low.below
                                : which == Which::largest ? n - low.below
                                                          : low.below + n - high.below;
    const std::string text = fmt::format("{} eigenvalues {} {:.6e} by inertia", better,
                                         which == Which::smallest  ? "below"
                                         : which == Which::largest ? "above"
                                                                   : "of a magnitude above",
                                         which == Which::smallest ? reach : -reach);
    if (better < found) break;  // the pairs are orthonormal: it is the count that is wrong
    report.verified = better == found;
    if (report.verified) {
      report.proof = text + ", as many as found";
    } else {
      report.status = Status::stagnated;
      report.detail = fmt::format("{}, {} of them found", text, found);
    }
    return report.verified;
  }
  report.warnings.push_back(
      go_on() ? "rounding or the residuals leave the count of eigenvalues by inertia open"
              : "the count of eigenvalues by inertia was interrupted");
  return false;
}

EigenReport ShiftInvert::solve(Span<double, Host> vectors, const EigenOptions<double>& options,
                               bool verify) {
  detail::ShiftProblem& problem = state_->problem;
  detail::require_eigenproblem<double, Host>("shift_invert", problem.A, vectors, options);
  require(options.which != Which::magnitude,
          "which is magnitude, it must be smallest, largest or nearest; lanczos takes it");
  require(options.which != Which::nearest || std::isfinite(options.target),
          fmt::format("target is {}", options.target));
  return detail::ShiftSearch(problem, options, verify).run(vectors);
}

}  // namespace tansolve
