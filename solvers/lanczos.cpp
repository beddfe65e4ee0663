// SPDX-License-Identifier: BSD-3-Clause
// Thick-restart Lanczos: cycles of growth, projection and restart, then searches for missed pairs.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/dense_pairs.hpp>
#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/krylov_space.hpp>
#include <tansolve/solvers/lanczos.hpp>
#include <tansolve/solvers/look.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace tansolve {
namespace {

using detail::Breakdown;
using detail::ChebyshevFilter;
using detail::EigenProgress;
using detail::KrylovSpace;
using detail::RitzPair;
using detail::SpectralMap;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a projection shows of the wanted pairs, the first nev.
struct Wanted {
  std::int64_t converged = 0;                                 ///< by their residuals in the space
  std::int64_t news = 0;                                      ///< that are not locked
  double residual = std::numeric_limits<double>::infinity();  ///< the largest
  std::optional<double> stray;  ///< seemed to be wanted in a space of p(A), but is far from it
  bool complete = false;        ///< all there and converged, no stray
  bool settled = false;         ///< so is the best of the others: it will not turn out better
};

Wanted look_at(const std::vector<RitzPair>& pairs, const SpectralMap& p, Which which,
               std::int64_t nev, double threshold) {
  Wanted wanted;
  if (std::ssize(pairs) <= nev) return wanted;
  wanted.residual = 0;
  for (std::int64_t i = 0; i < nev; ++i) {
    wanted.converged += pairs[i].residual <= threshold;
    wanted.news += !pairs[i].locked;
    wanted.residual = std::max(wanted.residual, pairs[i].residual);
  }
  const auto strayed = [&](const RitzPair& pair) {
    return !p.identity() && !pair.locked && (pair.value - p.centre()) / p.half_width() < -1;
  };
  if (const auto stray = std::ranges::find_if(pairs, strayed); stray != pairs.end())
    wanted.stray = stray->value;
  wanted.complete = wanted.converged == nev && !wanted.stray;
  const auto key = [=](const RitzPair& pair) { return detail::sort_key(which, pair.value); };
  const auto next = std::find_if(pairs.begin() + nev, pairs.end(),
                                 [](const RitzPair& pair) { return !pair.locked; });
  wanted.settled = next == pairs.end() ||
                   next->residual <= std::max(threshold, (key(*next) - key(pairs[nev - 1])) / 100);
  return wanted;
}

/// The true residuals of the first nev pairs, NaN for those that are not there. The vectors go to
/// `vectors` where there is room.
template <class T, class B>
std::vector<EigenPair> measure_pairs(const LinearOperator<T, B>& A, KrylovSpace<T, B>& space,
                                     LanczosWorkspace<T, B>& work, Span<T, B> vectors) {
  std::vector<EigenPair> measured(work.nev(), {nan, nan, false});
  if (vectors.size() > 0) fill(A.context(), 0, vectors);
  const std::int64_t n = A.rows(), there = std::ssize(space.pairs());
  for (std::int64_t i = 0; i < std::min(work.nev(), there); ++i) {
    const Span<T, B> x = vectors.size() > 0 ? vectors.subspan(i * n, n) : work.spare(1);
    space.form(space.pairs()[i], x);
    measured[i] = detail::measure<T, B>(A, x, space.spare(), work.scalar(0));
  }
  return measured;
}

/// In a space of p(A): the values and residuals of A for the wanted pairs and the best of the
/// others.
template <class T, class B>
void measure_candidates(const LinearOperator<T, B>& A, KrylovSpace<T, B>& space,
                        LanczosWorkspace<T, B>& work) {
  const Span<T, B> x = work.spare(1);
  for (std::int64_t i = 0, others = 0; i < std::ssize(space.pairs()) && others < 1; ++i) {
    const RitzPair& pair = space.pairs()[i];
    if (pair.locked) continue;
    others += i >= work.nev();
    space.form(pair, x);
    space.set(i, detail::measure<T, B>(A, x, space.spare(), work.scalar(0)));
  }
}

/// Locks the first nev pairs. False, and nothing is changed: a true residual exceeds `threshold`.
template <class T, class B>
bool lock_wanted(const LinearOperator<T, B>& A, KrylovSpace<T, B>& space, double threshold,
                 LanczosWorkspace<T, B>& work) {
  const auto measured = measure_pairs<T, B>(A, space, work, {});
  const auto meets = [=](const EigenPair& pair) { return pair.residual <= threshold; };
  if (!std::ranges::all_of(measured, meets)) return false;
  space.lock(measured);
  return true;
}

/// Columns that a restart keeps of `active`: enough for those that are wanted to go on converging
/// together with their neighbours, and room for a polynomial of some degree.
std::int64_t kept_columns(std::int64_t active, std::int64_t wanted, std::int64_t block) {
  return std::min(std::max(active / 2, wanted + (active - wanted) / 3), active - block);
}

/// The polynomial whose space is searched, at first A itself.
template <class T, class B>
struct Filtering {
  ChebyshevFilter<T, B> F;
  SpectralMap p = {};
  double far = nan;  ///< beyond the spectrum's other end, as far as is known

  void use(const SpectralMap& map, KrylovSpace<T, B>& space) {
    F.set(p = map);
    space.follow(F, p);
    space.begin();
  }
};

template <class T, class B>
std::int64_t steps_left(const EigenProgress<T, B>& progress, const SpectralMap& p) {
  return std::max<std::int64_t>(1, progress.products_left() / p.degree);
}

/// Restarts that A itself is given: before, its own space may well be the quickest.
constexpr std::int64_t patience = 10;

/// Begins a new space where a sharper polynomial would serve better, or one that knows the other
/// end of the spectrum better, for there is a stray; but none of a degree above `affordable`, which
/// could not be filled before a limit: the pairs there are would be given up for nothing.
template <class T, class B>
bool sharpen(KrylovSpace<T, B>& space, const Wanted& wanted, std::int64_t nev, std::int64_t most,
             std::int64_t affordable, bool patient, Filtering<T, B>& filtering) {
  const auto& pairs = space.pairs();
  const std::int64_t edge = nev + 1 + nev / 2;  // so that those next to the wanted stand out, too
  if (std::ssize(pairs) <= edge) return false;
  const double near = pairs[0].value, range = pairs.back().value - near;
  if (std::isnan(filtering.far))
    filtering.far = pairs.back().value + std::copysign(pairs.back().residual, range) + range / 100;
  if (wanted.stray) {
    SpectralMap map = filtering.p;
    if (map.degree > affordable) return false;
    map.far = filtering.far = *wanted.stray + (map.far - map.cut) / 10;
    filtering.use(map, space);
    return true;
  }
  if (patient || space.locked() > 0 || 2 * wanted.converged >= nev) return false;
  const auto next = filtering.p.sharper(near, pairs[edge].value, filtering.far, most);
  if (!next || next->degree > affordable) return false;
  filtering.use(*next, space);
  return true;
}

// Invariant: KrylovSpace's. Holds ncv + p vectors of the basis and 2 p + 1 of working precision, 4
// p + 1 where polynomials may be used. From a restart that kept k vectors to the next: ncv - k
// products, with A or a polynomial of it, p of them at once, for each of which, with j vectors
// there, 3 (j + p) + 8 passes; and a rotation of ncv + k + 2 p passes.
template <class T, class B>
EigenReport iterate(const LinearOperator<T, B>& A, Span<T, B> vectors,
                    const EigenOptions<T>& options, bool verify, EigenProgress<T, B>& progress,
                    LanczosWorkspace<T, B>& work) {
  // Each pair that is locked adds up to its residual to those of later ones. Within this share of
  // the tolerance, all of them take half of its square, and the other half is left.
  const double share =
      options.tolerance / std::sqrt(verify ? 2 * static_cast<double>(options.nev) : 1);
  KrylovSpace<T, B> space(A, options, work);
  Filtering<T, B> filtering{{A, work.filter(0), work.filter(1)}};
  const std::int64_t degree = options.which == Which::magnitude ? 1 : work.degree();
  std::optional<Breakdown> breakdown;
  bool complete = false;
  int failures = 0;  // of true residuals to follow those in the space
  space.begin();
  while (!(complete || breakdown || progress.exhausted() || progress.cancelled())) {
    bool finite = true;
    while (finite && space.cols() < work.ncv() && !progress.exhausted())
      finite = space.grow(std::min(work.ncv(), space.cols() + steps_left(progress, filtering.p)));
    if (!finite) {
      breakdown = {Status::not_finite, "a product with A"};
      break;
    }
    space.project(options.tolerance * space.norm());
    if (!filtering.p.identity()) measure_candidates(A, space, work);
    // Estimates below rounding are as good as any: true residuals decide, or never will.
    const double threshold =
        std::max(share, static_cast<double>(std::numeric_limits<T>::epsilon())) * space.norm();
    const Wanted wanted =
        look_at(space.pairs(), filtering.p, options.which, options.nev, threshold);
    const bool searching = space.locked() > 0;
    progress.record(
        {progress.products(), progress.restarts(), wanted.converged, wanted.residual, searching});
    const bool patient = filtering.p.identity() && progress.restarts() < patience;
    const std::int64_t affordable = progress.products_in_reach() / (work.ncv() - space.locked());
    if (sharpen(space, wanted, options.nev, degree, affordable, patient, filtering)) continue;
    const bool ended = wanted.complete && (!searching || wanted.settled);
    if (ended && searching && wanted.news == 0) {
      complete = true;
    } else if (ended && lock_wanted(A, space, share * space.norm(), work)) {
      complete = !verify;
      if (verify) space.begin(), progress.count_search();
    } else if (ended && ++failures == 3) {
      breakdown = {Status::stagnated, "true residuals no longer follow their estimates"};
    } else if (space.cols() == work.ncv()) {
      space.restart(
          kept_columns(work.ncv() - space.locked(), wanted.news + searching, work.space().block));
      progress.count_restart();
    }
  }
  space.project(options.tolerance * space.norm());
  progress.verified(complete && verify);
  return progress.finish(measure_pairs(A, space, work, vectors), space.norm(), complete,
                         breakdown ? &*breakdown : nullptr);
}

template <class T>
void require_end(const EigenOptions<T>& options) {
  if (options.which == Which::nearest)
    throw Error(ErrorCode::invalid_argument,
                "lanczos: which is nearest, it must be an end of the spectrum or magnitude; "
                "ShiftInvert takes it");
}

void require_tolerance(double tolerance, double least) {
  if (tolerance < least)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("lanczos: tolerance is {}; the basis is stored with a precision that "
                            "gives {} or more, or needs a wider storage",
                            tolerance, least));
}

}  // namespace

template <class T, class B>
EigenReport lanczos(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                    const std::type_identity_t<EigenOptions<T>>& options, bool verify,
                    std::type_identity_t<LanczosWorkspace<T, B>>& work) {
  detail::require_eigenproblem<T, B>("lanczos", A, vectors, options);
  require_end(options);
  work.require(A.context(), A.rows(), options.nev);
  if (!work.dense()) require_tolerance(options.tolerance, least_tolerance<T>(work.space().storage));
  EigenProgress<T, B> progress("lanczos", A, options, work.bytes());
  // Three vectors: of the last block one, its next, and one more.
  if (options.probe_symmetry)
    progress.warn(probe_symmetry(A, work.spare(-1), work.spare(0), work.spare(1), work.scalar(0),
                                 work.scalar(1)));
  progress.start();
  if (work.dense()) return detail::solve_dense(A, vectors, options, progress, work);
  return iterate<T, B>(A, vectors, options, verify, progress, work);
}

template <class T, class B>
EigenReport lanczos(const LinearOperator<T, B>& A, std::type_identity_t<Span<T, B>> vectors,
                    const std::type_identity_t<EigenOptions<T>>& options, const LanczosSpace& space,
                    bool verify) {
  detail::require_eigenproblem<T, B>("lanczos", A, vectors, options);
  const auto began = std::chrono::steady_clock::now();
  LanczosWorkspace<T, B> work(A.context(), A.rows(), options.nev, space);
  const std::chrono::duration<double> building = std::chrono::steady_clock::now() - began;
  EigenReport report = lanczos(A, vectors, options, verify, work);
  report.setup_seconds += building.count();
  return report;
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template EigenReport lanczos(const LinearOperator<T, B>&, Span<T, B>, const EigenOptions<T>&, \
                               bool, LanczosWorkspace<T, B>&);                                  \
  template EigenReport lanczos(const LinearOperator<T, B>&, Span<T, B>, const EigenOptions<T>&, \
                               const LanczosSpace&, bool);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
