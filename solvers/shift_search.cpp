// SPDX-License-Identifier: BSD-3-Clause
// Places shifts, runs Lanczos on inverses, improves what it finds, until all is found and proved.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/solvers/lanczos.hpp>
#include <tansolve/solvers/shift_search.hpp>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tansolve::detail {
namespace {

constexpr int most_placings = 40;

LanczosSpace inner_space() {
  return {.degree = 1};
}

std::int64_t inner_vectors(std::int64_t nev) {
  return nev + std::max<std::int64_t>(nev, 30);
}

}  // namespace

ShiftProblem::ShiftProblem(Context<Host>& where, const Csr<double>& matrix,
                           const Csr<double>* mass_matrix)
    : context(&where),
      A(where, matrix),
      pencil(matrix, mass_matrix),
      root(mass_matrix, where.threads()),
      factor(pencil, fronts, where.threads()) {
  if (mass_matrix != nullptr) mass.emplace(where, *mass_matrix);
}

bool ShiftProblem::analyse(const std::function<bool()>& go_on) {
  if (analysed_) return true;
  if (!fronts.complete) fronts = LdltFronts(pencil.offsets, pencil.columns, go_on);
  analysed_ = fronts.complete && root.analyse(go_on);
  return analysed_;
}

void ShiftProblem::require_memory() const {
  const std::int64_t available = available_memory(Context<Host>(1));
  if (!factor.held() && factor_bytes() > available)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("shift_invert: {} bytes requested for a factor of {} nonzeros, the "
                            "host has {}; lanczos takes products alone",
                            factor_bytes(), fronts.nonzeros, available));
}

void ShiftedInverse::apply_impl(Span<const double, Host> x, Span<double, Host> y) const {
  std::copy_n(x.data(), x.size(), y.data());
  const std::span<double> in_place(y.data(), y.size());
  problem_->root.apply(in_place);
  problem_->factor.solve(in_place);
  problem_->root.apply_transposed(in_place);
}

ShiftSearch::ShiftSearch(ShiftProblem& problem, const EigenOptions<double>& options, bool verify)
    : problem_(&problem),
      options_(&options),
      verify_(verify),
      progress_("shift-invert", problem.A, options,
                LanczosWorkspace<double, Host>::bytes(*problem.context, problem.A.rows(),
                                                      options.nev, inner_space()) +
                    5 * 8 * problem.A.rows() * options.nev),  // U, F U, X, F'X and the last X
      inverse_(problem),
      weight_(options.which == Which::largest ? -1 : 1),
      target_(options.target / problem.pencil.unit()),
      n_(problem.A.rows()),
      wanted_(options.nev),
      most_solutions_(6 * inner_vectors(options.nev)) {
  if (problem.mass) progress_.involve(nullptr, &*problem.mass);
}

/// Looked at between rows and fronts; the monitor hears of long factorisations a few times a
/// second.
bool ShiftSearch::go_on() {
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ > std::chrono::milliseconds(200)) {
    told_ = now;
    progress_.record({progress_.products(), progress_.restarts(), 0,
                      std::numeric_limits<double>::infinity(), searching_});
  }
  return !progress_.cancelled() && !progress_.out_of_time();
}

double ShiftSearch::distance(const Pair& pair) const {
  return nearest() ? std::abs(pair.value - target_) : pair.value;
}

double ShiftSearch::threshold() const {
  double largest = 0;
  for (std::int64_t i = 0; i < std::min(options_->nev, std::ssize(pairs_)); ++i)
    largest = std::max(largest, std::abs(pairs_[i].value));
  return options_->tolerance * (norm_a_ + (problem_->mass ? largest * norm_b_ : 0));
}

/// Rounding of solutions shows in the inverse's residuals, relative to its norm; what it leaves is
/// taken out afterwards.
double ShiftSearch::inner_tolerance() const {
  const double rounding = 32 * eps * norm_a_ / std::max(std::abs(away_), eps * scale_);
  return std::clamp(strictness_ * std::clamp(rounding, 1e-11, 1e-7), 1e-14, 1e-4);
}

/// ||A||, ||B||, and where the wanted end of A is, from a few steps of Lanczos.
void ShiftSearch::estimate_norms() {
  const Pencil& pencil = problem_->pencil;
  const auto look = [&](const CsrOperator<double, Host>& M, Which which) {
    EigenOptions<double> few{.nev = 1,
                             .which = which,
                             .max_products = std::min<std::int64_t>(60, progress_.products_left())};
    few.seed = options_->seed;
    few.probe_symmetry = false;
    return lanczos(M, {}, few, inner_space(), false);
  };
  const EigenReport a = look(problem_->A, nearest() ? Which::smallest : options_->which);
  norm_a_ = a.norm / pencil.a_scale;
  if (problem_->mass) norm_b_ = look(*problem_->mass, Which::largest).norm / pencil.b_scale;
  scale_ = problem_->mass ? norm_a_ / std::max(norm_b_, eps) : norm_a_;
  if (nearest()) scale_ = std::max(scale_, std::abs(target_));
  if (scale_ == 0) scale_ = 1;
  if (nearest()) return;
  away_ = 1e-3 * scale_;
  if (!problem_->mass && std::isfinite(a.pairs[0].value)) {
    top_ = weight_ * a.pairs[0].value / pencil.a_scale;
    away_ = std::max(a.pairs[0].residual / pencil.a_scale, 1e-6 * scale_);
  }
}

/// A factor that is as good as the tolerance needs.
bool ShiftSearch::accurate() {
  error_ = problem_->factor.backward_error();
  const double allowed =
      std::max(options_->tolerance / 4, 1e-13) * (norm_a_ + std::abs(sigma_) * norm_b_);
  return error_ <= allowed;
}

/// The factor of w A - sigma B for a sigma beyond the end, or near the target.
ShiftSearch::Placed ShiftSearch::place() {
  for (int placing = 0; placing < most_placings; ++placing) {
    sigma_ = nearest() ? target_ + away_ : top_ - away_;
    ++factorizations_;
    const auto end = problem_->factor.factor(
        weight_, sigma_, nearest() ? Pivots::any : Pivots::positive, [&] { return go_on(); });
    if (end == SparseLdlt::End::interrupted) return Placed::interrupted;
    placed_ = end == SparseLdlt::End::done && accurate();
    if (placed_) return Placed::yes;
    away_ = nearest() ? -8 * std::copysign(std::max(std::abs(away_), 1e-10 * scale_), away_)
                      : 8 * away_;
  }
  return Placed::no;
}

/// Lanczos on the inverse. Its vectors go to U.
EigenReport ShiftSearch::look_for_pairs(Vector<double, Host>& U) {
  EigenOptions<double> inner{.nev = wanted_,
                             .which = nearest() ? Which::magnitude : Which::largest};
  inner.tolerance = inner_tolerance();
  inner.max_products = std::min(most_solutions_, progress_.products_left());
  inner.time_limit = progress_.seconds_left();
  inner.seed = options_->seed + static_cast<std::uint64_t>(attempts_) * 0x100000;
  inner.probe_symmetry = false;
  const std::int64_t before = inverse_.applications(), restarts = progress_.restarts();
  inner.monitor = [&](const EigenState& state) {
    progress_.record({progress_.products() + inverse_.applications() - before,
                      restarts + state.restarts, std::min(state.converged, options_->nev),
                      state.residual, searching_ && state.searching});
    return !progress_.cancelled();
  };
  EigenReport report = lanczos(inverse_, U, inner, inner_space(), searching_);
  progress_.count_solutions(inverse_.applications() - before);
  progress_.count_restarts(report.iterations, report.searches);
  return report;
}

/// X = (w A - sigma B)^-1 F U, and the pairs that the projections X'(w A - sigma B) X = X'F U and
/// X'B X give.
ShiftSearch::Improved ShiftSearch::improve(Span<const double, Host> U, std::int64_t count) {
  Eigen::MatrixXd X = Eigen::Map<const Eigen::MatrixXd>(U.data(), n_, count), FU, FX;
  const auto column = [this](Eigen::MatrixXd& M, std::int64_t j) {
    return std::span<double>(M.data() + j * n_, n_);
  };
  for (std::int64_t j = 0; j < count; ++j) problem_->root.apply(column(X, j));
  FU = X;
  for (std::int64_t j = 0; j < count; ++j) problem_->factor.solve(column(X, j));
  progress_.count_solutions(count);
  for (std::int64_t j = 0; j < count; ++j) {
    const double norm = X.col(j).stableNorm();
    if (!std::isfinite(norm)) return Improved::not_finite;
    if (norm == 0) return Improved::dependent;
    X.col(j) /= norm;
    FU.col(j) /= norm;
  }
  FX = X;
  for (std::int64_t j = 0; j < count; ++j) problem_->root.apply_transposed(column(FX, j));
  const Eigen::MatrixXd H = X.transpose() * FU, G = FX.transpose() * FX;
  if (!H.allFinite() || !G.allFinite()) return Improved::not_finite;
  if (G.llt().info() != Eigen::Success) return Improved::dependent;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver((H + H.transpose()) / 2,
                                                                         G);
  if (solver.info() != Eigen::Success || !solver.eigenvectors().allFinite())
    return Improved::dependent;
  X_.resize(n_ * count);
  Eigen::Map<Eigen::MatrixXd>(X_.data(), n_, count) = X * solver.eigenvectors();
  pairs_.clear();
  for (std::int64_t j = 0; j < count; ++j)  // a matrix of zeros has no others, up to rounding
    pairs_.push_back({norm_a_ > 0 ? sigma_ + solver.eigenvalues()[j] : 0, 0, j});
  std::ranges::stable_sort(pairs_, {}, [&](const Pair& pair) { return distance(pair); });
  for (Pair& pair : pairs_) {
    measure(pair);
    if (!problem_->mass) norm_a_ = std::max(norm_a_, std::abs(pair.value) - pair.residual);
  }
  return Improved::yes;
}

/// What Lanczos found, improved; a limit may have left it with fewer pairs than there were before.
void ShiftSearch::take_pairs(const EigenReport& inner, Span<const double, Host> U) {
  const auto there = std::ranges::count_if(
      inner.pairs, [](const EigenPair& pair) { return std::isfinite(pair.value); });
  const bool better = there > 0 && there >= std::min(options_->nev, std::ssize(pairs_));
  const Improved improved = inner.status == Status::not_finite ? Improved::not_finite
                            : better                           ? improve(U, there)
                                                               : Improved::yes;
  if (improved == Improved::not_finite)
    breakdown_ = {Status::not_finite, "a solution with the factor"};
  else if (improved == Improved::dependent)
    breakdown_ = {Status::breakdown, "solutions with the factor are dependent"};
  else if (there < wanted_ && !ended())
    breakdown_ = {Status::iteration_limit,
                  fmt::format("max_products = {}, too few are left for another run of Lanczos",
                              options_->max_products)};
}

/// ||A x - lambda B x|| / ||x||, by products with A and B themselves.
void ShiftSearch::measure(Pair& pair) {
  Vector<double, Host> x(*problem_->context, n_), y(*problem_->context, n_);
  std::copy_n(X_.data() + pair.column * n_, n_, x.span().data());
  problem_->A.apply(x, y);
  const Eigen::Map<const Eigen::VectorXd> v(x.span().data(), n_);
  Eigen::VectorXd residual =
      weight_ / problem_->pencil.a_scale * Eigen::Map<const Eigen::VectorXd>(y.span().data(), n_);
  if (problem_->mass) {
    problem_->mass->apply(x, y);
    residual -= pair.value / problem_->pencil.b_scale *
                Eigen::Map<const Eigen::VectorXd>(y.span().data(), n_);
  } else {
    residual -= pair.value * v;
  }
  pair.residual = residual.stableNorm() / v.stableNorm();
}

/// Of the mass, which may rule the problem out.
void ShiftSearch::take_root() {
  const auto end = problem_->root.compute([&] { return go_on(); });
  const std::int64_t finite = n_ - problem_->root.nullity();
  if (end == SparseLdlt::End::refused)
    breakdown_ = {Status::breakdown, "the mass has an eigenvalue below 0"};
  else if (end == SparseLdlt::End::done && finite < options_->nev)
    breakdown_ = {Status::breakdown,
                  fmt::format("the mass is singular: there are {} finite eigenvalues", finite)};
}

std::string ShiftSearch::no_place() const {
  if (nearest()) return "no factorisation near the target is accurate";
  const char* infinite = problem_->mass ? "; of a singular mass it may be infinite" : "";
  return fmt::format("no shift beyond this end of the spectrum was found{}", infinite);
}

EigenReport ShiftSearch::run(Span<double, Host> vectors) {
  progress_.start();
  if (progress_.exhausted() || !problem_->analyse([&] { return go_on(); })) return finish(vectors);
  problem_->require_memory();
  estimate_norms();
  take_root();
  while (!complete_ && !ended()) {
    if (!placed_) {
      const Placed placed = place();
      if (placed == Placed::no) breakdown_ = {Status::breakdown, no_place()};
      if (placed != Placed::yes) continue;
    }
    Vector<double, Host> U(*problem_->context, n_ * wanted_);
    const EigenReport inner = look_for_pairs(U);
    take_pairs(inner, U.span());
    if (!ended()) judge(inner);
  }
  return finish(vectors);
}

/// In the units of A; the vectors B-orthonormal.
EigenReport ShiftSearch::finish(Span<double, Host> vectors) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Pencil& pencil = problem_->pencil;
  const std::int64_t nev = options_->nev;
  std::vector<EigenPair> found(nev, {nan, nan, false});
  const double norm = options_->tolerance > 0 ? threshold() / options_->tolerance : norm_a_;
  if (vectors.size() > 0) std::fill_n(vectors.data(), vectors.size(), 0.0);
  for (std::int64_t i = 0; i < std::min(nev, std::ssize(pairs_)); ++i) {
    found[i] = {weight_ * pairs_[i].value * pencil.unit(), pairs_[i].residual * pencil.a_scale,
                false};
    if (vectors.size() == 0) continue;
    const double* x = X_.data() + pairs_[i].column * n_;
    std::transform(x, x + n_, vectors.data() + i * n_,
                   [&](double element) { return element / std::sqrt(pencil.b_scale); });
  }
  progress_.verified(complete_ && verify_);
  EigenReport report = progress_.finish(std::move(found), norm * pencil.a_scale, complete_,
                                        breakdown_ ? &*breakdown_ : nullptr);
  report.proof = report.verified ? proof_ : "";
  report.factorizations = factorizations_;
  report.factor_bytes = problem_->factor_bytes();
  report.workspace_bytes += report.factor_bytes;
  return report;
}

}  // namespace tansolve::detail
