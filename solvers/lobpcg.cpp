// SPDX-License-Identifier: BSD-3-Clause
// LOBPCG: measure, add preconditioned residuals, rotate.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/kernels/unfit_elements.hpp>
#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/lobpcg.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/own_workspace.hpp>
#include <tansolve/solvers/trial_space.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tansolve {
namespace {

using detail::Breakdown;
using detail::EigenProgress;
using detail::TrialSpace;

void require(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorCode::invalid_argument, "lobpcg: " + what);
}

std::int64_t block_of(std::int64_t n, std::int64_t nev, std::int64_t guard) {
  require(nev >= 1 && guard >= 0 && 3 * (nev + guard) <= n,
          fmt::format("nev is {} with {} more, three times their sum must not exceed n = {}; "
                      "lanczos takes any nev",
                      nev, guard, n));
  return nev + guard;
}

WorkspaceShape shape(std::int64_t n) {
  return {.size = n, .vectors = 4, .scalars = 2};
}

template <class T, class B>
Basis<T, B> make_basis(Context<B>& context, std::int64_t n, std::int64_t block) try {
  require(3 * block <= Basis<T, B>::most_rotated,
          fmt::format("3 x {} vectors are more than {}", block, Basis<T, B>::most_rotated));
  return Basis<T, B>(context, n, 3 * block, BasisStorage::working);
} catch (const Error& error) {
  if (error.code() != ErrorCode::out_of_memory) throw;
  throw Error(error.code(), fmt::format("lobpcg: lower nev: {}", error.what()));
}

template <class T, class B>
void require_operator(const LinearOperator<T, B>& A, const LinearOperator<T, B>* other,
                      const char* what) {
  if (other == nullptr) return;
  require(other->rows() == A.rows() && other->cols() == A.rows(),
          fmt::format("the {} {} is {} x {}, but {} is {} x {}", what, other->name(), other->rows(),
                      other->cols(), A.name(), A.rows(), A.cols()));
  require(&other->context() == &A.context(),
          fmt::format("the {} {} is of another context than {}", what, other->name(), A.name()));
}

/// A positive definite matrix has a positive diagonal; d is overwritten.
template <class T, class B>
void require_positive_diagonal(const LinearOperator<T, B>& mass, Span<T, B> d) try {
  mass.diagonal(d);
  std::vector<T> elements(d.size());
  copy_to_host<T>(mass.context(), d, elements);
  const std::string unfit =
      detail::unfit_elements<T>(elements, "not positive", [](T element) { return element > 0; });
  require(unfit.empty(),
          fmt::format("the mass {} is not positive definite: {}", mass.name(), unfit));
} catch (const Error& error) {
  if (error.code() != ErrorCode::not_supported) throw;
}

using Added = detail::Added;

std::optional<Breakdown> breakdown_of(Added added) {
  if (added == Added::not_finite)
    return Breakdown{Status::not_finite, "a product with A, the mass or the preconditioner"};
  if (added == Added::indefinite)
    return Breakdown{Status::breakdown, "v'Bv <= 0: the mass matrix is not positive definite"};
  return {};
}

/// X from random vectors, the first that are independent.
template <class T, class B>
std::optional<Breakdown> begin(TrialSpace<T, B>& space, std::int64_t block, std::uint64_t seed,
                               Context<B>& context) {
  const std::int64_t most = block + 8;  // but for rounding, all are independent
  std::int64_t found = 0;
  for (std::int64_t i = 0; found < block && i < most; ++i) {
    fill_random(context, seed + static_cast<std::uint64_t>(i), space.vector(0));
    const Added added = space.add(space.vector(0));
    if (const auto breakdown = breakdown_of(added)) return breakdown;
    found += added == Added::good;
  }
  if (found < block)
    return Breakdown{Status::breakdown,
                     "random vectors are dependent: the mass matrix is too ill-conditioned"};
  space.rotate({});
  return {};
}

/// Whether the residual stands still, near rounding.
class Standstill {
 public:
  bool operator()(double residual, double rounding) {
    since_ = residual < best_ / 2 ? 0 : since_ + 1;
    if (since_ == 0) best_ = residual;
    return since_ >= 30 && residual <= 1000 * rounding;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity();
  int since_ = 0;
};

/// The residuals of X, and of those that have not converged the directions W.
template <class T, class B>
std::optional<Breakdown> extend(const LinearOperator<T, B>* M, TrialSpace<T, B>& space,
                                double tolerance, std::vector<EigenPair>& pairs,
                                std::vector<std::int64_t>& active) {
  active.clear();
  for (std::int64_t i = 0; i < std::ssize(pairs); ++i) {
    const Span<T, B> r = space.vector(0), x = space.vector(1);
    pairs[i] = space.measure(i, x, r);
    if (!std::isfinite(pairs[i].residual)) return breakdown_of(Added::not_finite);
    pairs[i].converged = pairs[i].residual <= tolerance * space.scale(pairs[i].value);
    if (pairs[i].converged) continue;
    if (M != nullptr) M->apply(r, x);
    const Added added = space.add(M != nullptr ? x : r);
    if (const auto breakdown = breakdown_of(added)) return breakdown;
    if (added == Added::good) active.push_back(i);
  }
  return {};
}

// Invariant: TrialSpace's. Holds 3 (nev + guard) + 4 vectors. An iteration with a pairs that have
// not converged: nev + guard + a products with A, a with M, and of passes over V, three for each of
// those a and one more to rotate.
template <class T, class B>
EigenReport iterate(const LinearOperator<T, B>& A, Span<T, B> vectors,
                    const EigenOptions<T>& options, const LobpcgOperators<T, B>& operators,
                    EigenProgress<T, B>& progress, LobpcgWorkspace<T, B>& work) {
  const std::int64_t nev = options.nev, n = A.rows();
  TrialSpace<T, B> space(A, operators, options.which, work);
  std::vector<EigenPair> pairs(work.block());
  std::vector<std::int64_t> active;
  auto breakdown = begin(space, work.block(), options.seed, A.context());
  const bool begun = !breakdown;
  bool complete = false;
  Standstill stands;
  while (!(complete || breakdown || progress.exhausted() || progress.cancelled())) {
    breakdown = extend(operators.preconditioner, space, options.tolerance, pairs, active);
    if (breakdown) break;
    const auto wanted = std::span(pairs).first(nev);
    const auto converged = std::ranges::count_if(wanted, &EigenPair::converged);
    const double worst = std::ranges::max(wanted, {}, &EigenPair::residual).residual;
    progress.record({progress.products(), progress.restarts(), converged, worst, false});
    complete = converged == nev;
    if (complete) break;
    if (active.empty() ||
        stands(worst, std::numeric_limits<T>::epsilon() * space.scale(wanted.back().value)))
      breakdown = {Status::stagnated, "new directions are rounding"};
    space.rotate(active);
    progress.count_restart();
  }
  double largest = 0;
  for (std::int64_t i = 0; begun && i < nev; ++i) {
    pairs[i] = space.measure(i, space.vector(1), space.vector(0));
    largest = std::max(largest, std::abs(pairs[i].value));
    if (vectors.size() > 0) copy<T, B>(A.context(), space.vector(1), vectors.subspan(i * n, n));
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (!begun) std::ranges::fill(pairs, EigenPair{nan, nan, false});
  pairs.resize(nev);
  return progress.finish(std::move(pairs), space.scale(largest), complete,
                         breakdown ? &*breakdown : nullptr);
}

}  // namespace

template <class T, class B>
LobpcgWorkspace<T, B>::LobpcgWorkspace(Context<B>& context, std::int64_t n, std::int64_t nev,
                                       std::int64_t guard)
    : n_(n),
      nev_(nev),
      block_(block_of(n, nev, guard)),
      V_(make_basis<T>(context, n, block_)),
      vectors_(context, shape(n)),
      columns_(context, 2 * V_.count()),
      Q_(context, V_.count() * V_.count()),
      seen_(Q_.size()),
      T_(Q_.size()),
      next_(Q_.size()),
      coefficients_(Q_.size()),
      eigen_(V_.count()) {}

template <class T, class B>
std::int64_t LobpcgWorkspace<T, B>::bytes(const Context<B>& context, std::int64_t n,
                                          std::int64_t nev, std::int64_t guard) {
  const std::int64_t most = 3 * block_of(n, nev, guard);
  return Basis<T, B>::bytes(context, n, most, BasisStorage::working) +
         shape(n).template bytes<T>() + most * (most + 2) * std::int64_t{sizeof(T)};
}

template <class T, class B>
std::int64_t LobpcgWorkspace<T, B>::bytes() const {
  return bytes(columns_.context(), n_, nev_, block_ - nev_);
}

template <class T, class B>
void LobpcgWorkspace<T, B>::require(const Context<B>& context, std::int64_t n,
                                    std::int64_t nev) const {
  vectors_.require("lobpcg", context, shape(n));
  tansolve::require(nev == nev_, fmt::format("the workspace is for {} pairs, not {}", nev_, nev));
}

template <class T, class B>
EigenReport lobpcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                   const std::type_identity_t<EigenOptions<T>>& options,
                   const std::type_identity_t<LobpcgOperators<T, B>>& operators,
                   std::type_identity_t<LobpcgWorkspace<T, B>>& work) {
  detail::require_eigenproblem<T, B>("lobpcg", A, vectors, options);
  require(options.which == Which::smallest || options.which == Which::largest,
          fmt::format("which is {}, it must be smallest or largest; {} takes it",
                      options.which == Which::magnitude ? "magnitude" : "nearest",
                      options.which == Which::magnitude ? "lanczos" : "ShiftInvert"));
  require_operator(A, operators.preconditioner, "preconditioner");
  require_operator(A, operators.mass, "mass");
  work.require(A.context(), A.rows(), options.nev);
  EigenProgress<T, B> progress("lobpcg", A, options, work.bytes());
  progress.involve(operators.preconditioner, operators.mass);
  if (operators.mass != nullptr) require_positive_diagonal(*operators.mass, work.vector(0));
  if (options.probe_symmetry)
    progress.warn(probe_symmetry(A, work.vector(0), work.vector(1), work.vector(2), work.scalar(0),
                                 work.scalar(1)));
  progress.start();
  return iterate<T, B>(A, vectors, options, operators, progress, work);
}

template <class T, class B>
EigenReport lobpcg(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                   const std::type_identity_t<EigenOptions<T>>& options,
                   const std::type_identity_t<LobpcgOperators<T, B>>& operators) {
  detail::require_eigenproblem<T, B>("lobpcg", A, vectors, options);
  return detail::solve_with_own(
      [&] { return LobpcgWorkspace<T, B>(A.context(), A.rows(), options.nev); },
      [&](auto& work) { return lobpcg(A, vectors, options, operators, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                             \
  template class LobpcgWorkspace<T, B>;                                                        \
  template EigenReport lobpcg(const LinearOperator<T, B>&, Span<T, B>, const EigenOptions<T>&, \
                              const LobpcgOperators<T, B>&, LobpcgWorkspace<T, B>&);           \
  template EigenReport lobpcg(const LinearOperator<T, B>&, Span<T, B>, const EigenOptions<T>&, \
                              const LobpcgOperators<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
