// SPDX-License-Identifier: BSD-3-Clause
// Runs Lanczos, LOBPCG and shift-and-invert, one after another where that helps.
#include "eigensolvers.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/lobpcg.hpp>
#include <tansolve/solvers/mass_scaled.hpp>
#include <tansolve/solvers/shift_invert.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace tansolve::app {
namespace {

/// Rows up to which a problem is analysed, or solved densely, without being asked for.
template <class B>
constexpr std::int64_t most_analysed = std::is_same_v<B, Cuda> ? 20'000 : 200'000;
constexpr std::int64_t most_dense = 3000;
/// What a factor may cost without being asked for: some ten seconds, a quarter of the memory.
constexpr double most_flops = 5e10, memory_share = 0.25;
/// Restarts after which Lanczos has stalled with less than half of the pairs, or at all.
constexpr std::int64_t patience_for_half = 10, patience_for_all = 40;

/// Whether there is time, and whether the monitor, which hears of `state` a few times a second,
/// lets a run go on.
struct Patience {
  const Stopwatch& watch;
  double time_limit;
  const EigenMonitor& monitor;
  EigenState state{0, 0, 0, std::numeric_limits<double>::infinity(), false};
  double told = 0;
  bool cancelled = false;

  double left() const { return std::max(0.0, time_limit - watch.seconds()); }
  bool operator()() {
    if (const double now = watch.seconds(); now > told + 0.2) {
      told = now;
      cancelled = cancelled || !monitor(state);
    }
    return !cancelled && watch.seconds() <= time_limit;
  }
};

/// The problem on the host in double, as factorisations need it; ordered when it is first used.
template <class T>
class Factorable {
 public:
  Factorable(const Prepared<T>& matrix, const Mass<T>& mass, int threads, Patience& patience)
      : matrix_(&matrix), mass_(&mass), patience_(&patience), context_(threads) {}

  ShiftInvert& solver() {
    if (solver_) return *solver_;
    const Csr<double>& A = in_double(
        matrix_->csr, a_, [this] { return matrix_->compressed->decode(context_.threads()); });
    const Csr<double>* mass = nullptr;
    if (mass_->matrix) mass = &in_double(mass_->matrix, b_, [] { return Csr<T>(); });
    const Stopwatch watch;
    solver_.emplace(context_, A, mass, [this] { return (*patience_)(); });
    ordering_seconds_ = watch.seconds();
    return *solver_;
  }
  double ordering_seconds() const { return ordering_seconds_; }
  Context<Host>& context() { return context_; }
  Patience& patience() { return *patience_; }

 private:
  /// What is there, or else a copy in `kept`.
  template <class Decode>
  static const Csr<double>& in_double(const std::optional<Csr<T>>& there,
                                      std::optional<Csr<double>>& kept, const Decode& decode) {
    if constexpr (std::is_same_v<T, double>) {
      return there ? *there : kept.emplace(decode());
    } else {
      return kept.emplace(convert<double>(there ? *there : decode()));
    }
  }

  const Prepared<T>* matrix_;
  const Mass<T>* mass_;
  Patience* patience_;
  Context<Host> context_;
  std::optional<Csr<double>> a_, b_;
  std::optional<ShiftInvert> solver_;
  double ordering_seconds_ = 0;
};

/// Whether a factor may be made unasked; not of what a factorisation does not take.
template <class T>
bool is_cheap(Factorable<T>& problem) {
  try {
    const FactorCost cost = problem.solver().cost();
    return problem.solver().ordered() && cost.flops <= most_flops &&
           static_cast<double>(cost.bytes) <=
               memory_share * static_cast<double>(detail::available_memory(Context<Host>(1)));
  } catch (const Error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void say_factor(const Console& console, const ShiftInvert& solver, const std::string& why) {
  if (!solver.ordered()) return;
  const FactorCost cost = solver.cost();
  console.say(
      "solver    shift-invert on the host{}: a factor of {} nonzeros, {} of memory, {:.2g} "
      "operations\n",
      why, cost.nonzeros, bytes_text(static_cast<double>(cost.bytes)), cost.flops);
}

template <class T, class B>
EigenReport run_shift_invert(const EigsCommandOptions& options, const EigenOptions<T>& finding,
                             Factorable<T>& problem, Context<B>& context, Span<T, B> vectors) {
  EigenOptions<double> inner{.nev = finding.nev,
                             .which = finding.which,
                             .target = finding.target,
                             .tolerance = finding.tolerance,
                             .max_products = finding.max_products,
                             .time_limit = finding.time_limit,
                             .seed = finding.seed,
                             .monitor = finding.monitor};
  Vector<double, Host> found(problem.context(), vectors.size());
  EigenReport report =
      problem.solver().solve(found.span(), inner, options.verification != Verification::none);
  std::vector<T> rounded(found.size());
  std::transform(found.span().data(), found.span().data() + found.size(), rounded.begin(),
                 [](double x) { return static_cast<T>(x); });
  copy_from_host<T>(context, rounded, vectors);
  if (!options.mass.empty()) report.mass_name = options.mass;
  return report;
}

/// Lanczos; with a diagonal mass on the operator that it scales.
template <class T, class B>
EigenReport run_lanczos(const Console& console, const EigsCommandOptions& options,
                        const LanczosSpace& space, const EigenOptions<T>& finding,
                        const LinearOperator<T, B>& A, const Mass<T>& mass, Span<T, B> vectors) {
  LanczosWorkspace<T, B> work(A.context(), A.rows(), options.nev, space);
  console.say("solver    lanczos: {}\n",
              work.dense() ? "the basis would be all of the space, so it is solved densely"
                           : fmt::format("{} vectors, {} of memory", work.ncv(),
                                         bytes_text(static_cast<double>(work.bytes()))));
  const bool search = options.verification != Verification::none;
  if (!mass.matrix) return lanczos(A, vectors, finding, search, work);
  Vector<T, B> diagonal(A.context(), A.rows());
  copy_from_host(A.context(), mass.diagonal, diagonal.span());
  const MassScaled<T, B> scaled(A, diagonal);
  EigenReport report = lanczos(scaled, vectors, finding, search, work);
  scaled.recover(vectors);
  report.mass_name = options.mass;
  return report;
}

template <class T, class B>
EigenReport run_lobpcg(const Console& console, const EigsCommandOptions& options,
                       const EigenOptions<T>& finding, const LinearOperator<T, B>& A,
                       const Mass<T>& mass, Span<T, B> vectors) {
  std::optional<Jacobi<T, B>> jacobi;
  if (options.jacobi) jacobi.emplace(A.context(), A);
  std::optional<CsrOperator<T, B>> B_operator;
  if (mass.matrix) B_operator.emplace(A.context(), *mass.matrix);
  LobpcgWorkspace<T, B> work(A.context(), A.rows(), options.nev);
  console.say("solver    lobpcg: {} vectors at once, {} of memory\n", work.block(),
              bytes_text(static_cast<double>(work.bytes())));
  return lobpcg(
      A, vectors, finding,
      {.preconditioner = jacobi ? &*jacobi : nullptr, .mass = B_operator ? &*B_operator : nullptr},
      work);
}

/// Whether lanczos can take it as a scaling.
template <class T>
bool is_positive_diagonal(const Mass<T>& mass) {
  return !mass.diagonal.empty() && std::ranges::all_of(mass.diagonal, [](T d) { return d > 0; });
}

/// Lanczos until it stalls where a factor is cheap, then shift-invert; after that fails a dense
/// solution or Lanczos to its end.
template <class T, class B>
EigenReport run_in_turn(const Console& console, const EigsCommandOptions& options,
                        const EigenOptions<T>& finding, const LinearOperator<T, B>& A,
                        Factorable<T>& problem, const Mass<T>& mass, Span<T, B> vectors) {
  EigenOptions<T> part = finding;
  bool stalled = false,
       considered = A.rows() > most_analysed<B> || finding.which == Which::magnitude;
  part.monitor = [&](const EigenState& state) {
    const bool stalls =
        !state.searching &&
        (state.restarts >= patience_for_all ||
         (state.restarts >= patience_for_half && 2 * state.converged < finding.nev));
    problem.patience().state = state;
    if (stalls && !std::exchange(considered, true)) stalled = is_cheap(problem);
    return finding.monitor(state) && !stalled;
  };
  const EigenReport first = run_lanczos(console, options, options.space, part, A, mass, vectors);
  if (!stalled || first.status != Status::cancelled) return first;
  const auto left = [&](EigenOptions<T> rest) {
    rest.time_limit = problem.patience().left();
    rest.max_products =
        std::max<std::int64_t>(0, finding.max_products - first.operator_applications);
    return rest;
  };
  say_factor(
      console, problem.solver(),
      fmt::format(", for lanczos has stalled after {} products", first.operator_applications));
  std::vector<T> kept(vectors.size());
  copy_to_host<T>(A.context(), vectors, kept);
  EigenReport report = run_shift_invert(options, left(finding), problem, A.context(), vectors);
  double seconds = first.setup_seconds + first.solve_seconds;
  if (report.status == Status::breakdown || report.status == Status::stagnated ||
      report.status == Status::not_finite) {
    const std::string why = fmt::format("{}; {}", text(report.status), report.detail);
    console.say("solver    shift-invert failed: {}\n", why);
    LanczosSpace space = options.space;
    if (A.rows() <= most_dense) space = {.ncv = A.rows()};
    const EigenReport tried = std::move(report);
    EigenOptions<T> rest = left(finding);
    rest.max_products = std::max<std::int64_t>(
        0, rest.max_products - tried.operator_applications - tried.solutions);
    report = run_lanczos(console, options, space, rest, A, mass, vectors);
    seconds += tried.setup_seconds + tried.solve_seconds;
    report.operator_applications += tried.operator_applications;
    report.solutions = tried.solutions;
    report.factorizations = tried.factorizations;
    report.factor_bytes = tried.factor_bytes;
    report.warnings.push_back("shift-invert: " + why);
  }
  if (std::isnan(report.pairs.front().value)) {  // those of the first are better than none
    report.pairs = first.pairs;
    report.norm = first.norm;
    report.threshold = first.threshold;
    copy_from_host<T>(A.context(), kept, vectors);
  }
  if (report.status == Status::time_limit)  // of all, not what was left of it for the last solver
    report.detail.replace(0, report.detail.find(" s"),
                          fmt::format("time_limit = {}", finding.time_limit));
  report.operator_applications += first.operator_applications;
  report.setup_seconds += seconds;
  return report;
}

/// Counts the eigenvalues of a report; what hinders that is a warning, for the pairs are there.
template <class T>
void count_pairs(const Console& console, Factorable<T>& problem, Which which, EigenReport& report) {
  const Stopwatch counting;
  problem.patience().state = {
      .products = report.operator_applications,
      .restarts = report.iterations,
      .converged = std::ssize(report.pairs),
      .residual = std::ranges::max(report.pairs, {}, &EigenPair::residual).residual,
      .searching = true};
  const auto uncounted = [&](const std::string& why) {
    report.warnings.push_back("eigenvalues were not counted by inertia: " + why);
  };
  try {
    say_factor(console, problem.solver(), ", to count eigenvalues");
    problem.solver().prove(report, which, [&] { return problem.patience()(); });
  } catch (const Error& error) {
    uncounted(error.what());
  } catch (const std::bad_alloc&) {
    uncounted("the host has too little memory");
  }
  report.solve_seconds += counting.seconds();
}

/// What auto is for this problem: lanczos stands for run_in_turn.
template <class T, class B>
std::string choose_eigensolver(const EigsCommandOptions& options, Factorable<T>& problem,
                               const Mass<T>& mass, std::int64_t n) {
  if (options.which == Which::nearest) return "shift-invert";
  if (options.jacobi) return "lobpcg";
  if (!mass.matrix || is_positive_diagonal(mass)) return "lanczos";
  const bool can_be_singular = options.which != Which::magnitude && n <= most_analysed<B>;
  if (can_be_singular && is_cheap(problem)) return "shift-invert";
  return mass.diagonal.empty() ? "lobpcg" : "lanczos";
}

/// Throws Error(invalid_argument) for what the solver does not take.
template <class T>
void require_solvable(const std::string& solver, const EigsCommandOptions& options,
                      const Mass<T>& mass) {
  const auto require = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorCode::invalid_argument, what);
  };
  require(solver != "lanczos" || !mass.matrix || !mass.diagonal.empty(),
          fmt::format("--b {}: is not diagonal, which --solver lanczos needs; lobpcg and "
                      "shift-invert take it",
                      options.mass));
  require(
      solver == "lobpcg" || !options.jacobi,
      fmt::format("--precond jacobi: {} takes no preconditioner; --solver lobpcg does", solver));
  require(solver == "shift-invert" || options.which != Which::nearest,
          fmt::format("--which near: {} finds ends of the spectrum; --solver shift-invert finds "
                      "inner eigenvalues",
                      solver));
  const LanczosSpace usual;
  for (const auto& [name, given] :
       {std::pair("--ncv", options.space.ncv != usual.ncv),
        std::pair("--block", options.space.block != usual.block),
        std::pair("--filter", options.space.degree != usual.degree),
        std::pair("--basis-precision", options.space.storage != usual.storage)})
    require(!given || (solver == "lanczos"),
            fmt::format("{}: {} has no such space; --solver lanczos does", name, solver));
  require(solver != "shift-invert" || options.which != Which::magnitude,
          "--which magnitude: lanczos takes it, shift-invert does not");
}

}  // namespace

template <class T, class B>
EigenReport find_pairs(const Console& console, const EigsCommandOptions& options,
                       const EigenOptions<T>& finding, const LinearOperator<T, B>& A,
                       const Prepared<T>& matrix, const Mass<T>& mass, Span<T, B> vectors) {
  const Stopwatch watch;
  Patience patience{watch, finding.time_limit, finding.monitor};
  Factorable<T> problem(matrix, mass, options.input.threads, patience);
  const bool automatic = options.solver == "auto";
  const std::string solver =
      automatic ? choose_eigensolver<T, B>(options, problem, mass, A.rows()) : options.solver;
  require_solvable(solver, options, mass);
  if (solver == "shift-invert") say_factor(console, problem.solver(), "");
  const double ordering = problem.ordering_seconds();
  EigenOptions<T> rest = finding;
  rest.time_limit = std::max(0.0, rest.time_limit - ordering);
  EigenReport report =
      solver == "shift-invert" ? run_shift_invert(options, rest, problem, A.context(), vectors)
      : solver == "lobpcg"     ? run_lobpcg(console, options, rest, A, mass, vectors)
      : automatic              ? run_in_turn(console, options, rest, A, problem, mass, vectors)
                  : run_lanczos(console, options, options.space, rest, A, mass, vectors);
  report.setup_seconds += ordering;
  if (options.verification == Verification::inertia && report.proof.empty() && report.converged())
    count_pairs(console, problem, options.which, report);
  return report;
}

#define TANSOLVE_INSTANTIATE(T, B)                                                     \
  template EigenReport find_pairs(const Console&, const EigsCommandOptions&,           \
                                  const EigenOptions<T>&, const LinearOperator<T, B>&, \
                                  const Prepared<T>&, const Mass<T>&, Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
