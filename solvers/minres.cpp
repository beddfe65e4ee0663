// SPDX-License-Identifier: BSD-3-Clause
// MINRES: the symmetric Lanczos process and the QR factors of its tridiagonal matrix.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/solvers/consistency.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/minres.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tansolve {
namespace {

using detail::Breakdown;

/// min ||beta_1 e_1 - T_k y||, T_k tridiagonal with alpha on and beta beside its diagonal, kept as
/// R y = (phi_1, ..., phi_k) by reflections (c s; s -c). R has three diagonals.
struct TridiagonalQr {
  double gamma = 0, delta = 0, epsilon = 0;  // the last column of R, from the diagonal up
  double phi = 0, phi_bar = 0;               // phi_k, and the norm of what is left
  double c = -1, s = 0;

  explicit TridiagonalQr(double beta_1) : phi_bar(beta_1) {}

  /// Takes column k. Returns false, and leaves phi_bar, where T_k is singular up to rounding, or
  /// the residual orthogonal to A V_(k+1): then no step helps.
  bool append(double alpha, double beta_next, double eps) {
    largest = std::max({largest, std::abs(alpha), beta_next});
    delta = c * delta_bar + s * alpha;
    const double gamma_bar = s * delta_bar - c * alpha;
    epsilon = std::exchange(epsilon_next, s * beta_next);
    delta_bar = -c * beta_next;
    gamma = std::hypot(gamma_bar, beta_next);
    if (gamma <= 16 * eps * largest) return false;
    // ||A r|| / ||r||; what Lanczos vectors have lost in orthogonality leaves more than a few eps.
    if (std::hypot(gamma_bar, delta_bar) <= std::pow(eps, 0.75) * largest) return false;
    c = gamma_bar / gamma;
    s = beta_next / gamma;
    phi = c * phi_bar;
    phi_bar *= s;
    return true;
  }

  double largest = 0;  // entry of T_k

 private:
  double delta_bar = 0, epsilon_next = 0;
};

/// Makes A V_k = U_(k+1) T_k grow: v_i = M u_i and u_i'v_j = 0 for i != j, 1 for i = j. Without M,
/// v = u. Norms of vectors become beta where M is none, else the roots of u'Mu.
template <class T, class B>
class Lanczos {
 public:
  Lanczos(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work)
      : A_(&A), M_(M), work_(&work) {}

  Span<const T, B> v() const { return M_ != nullptr ? v_ : u_; }

  /// u_1 and v_1 along r, which the first vector and scalar of the workspace hold with its norm.
  /// Returns beta_1 = (r'Mr)^(1/2) / ||r||, as root_of has it.
  double start() {
    divide(A_->context(), *beta_next_, u_);  // r / ||r||
    fill(A_->context(), 0, u_old_);
    write(A_->context(), 0, *beta_);
    if (M_ == nullptr) return 1;
    M_->apply_dot(u_, v_, rho_);
    const double beta = root_of(read(A_->context(), rho_));
    write(A_->context(), static_cast<T>(beta), rho_);
    divide(A_->context(), rho_, u_);
    divide(A_->context(), rho_, v_);
    copy(A_->context(), u_, q_);
    return beta;
  }

  /// alpha and the next beta, as root_of has it; and the next u and v, not yet normalised.
  std::pair<double, double> step() {
    A_->apply_dot(v(), p_, alpha_);                                            // p = A v
    lanczos_step(A_->context(), alpha_, *beta_, p_, u_, u_old_, *beta_next_);  // u_old = next u
    if (M_ != nullptr) M_->apply_dot(u_old_, p_, rho_);                        // p = M of that
    copy_to_host<T>(A_->context(), work_->scalars(0, 5), seen_);
    const T norm = seen_[beta_next_ == &work_->scalar(0) ? 0 : 2];
    return {seen_[1], M_ == nullptr ? norm : root_of(seen_[3])};
  }

  /// What step() read of the scalar that is the caller's.
  double seen() const { return seen_[4]; }
  Scalar<T, B>& own() { return work_->scalar(4); }
  /// A vector that is free between steps.
  Span<T, B> spare() { return p_; }

  /// Takes the next u and v.
  void advance(double beta_next) {
    std::swap(u_, u_old_);
    std::swap(beta_, beta_next_);
    if (M_ != nullptr) write(A_->context(), static_cast<T>(beta_next), *beta_);
    divide(A_->context(), *beta_, u_);
    if (M_ == nullptr) return;
    std::swap(v_, p_);
    divide(A_->context(), *beta_, v_);
  }

  /// ||r|| / phi_bar after advance: 1 without M; else q = r / phi_bar is followed.
  double residual(const TridiagonalQr& qr) {
    if (M_ == nullptr) return 1;
    axpby(A_->context(), static_cast<T>(-qr.c), u_, static_cast<T>(qr.s), q_);
    norm2(A_->context(), q_, rho_);
    return read(A_->context(), rho_);
  }

 private:
  /// The root with the sign of the square; NaN of what is not finite.
  static double root_of(double square) {
    return std::isfinite(square) ? std::copysign(std::sqrt(std::abs(square)), square)
                                 : std::numeric_limits<double>::quiet_NaN();
  }
  Span<T, B> preconditioned(std::int64_t i) const {
    return M_ != nullptr ? work_->vector(i) : Span<T, B>();
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  Workspace<T, B>* work_;
  Span<T, B> u_ = work_->vector(0), u_old_ = work_->vector(1), p_ = work_->vector(2);
  Span<T, B> v_ = preconditioned(5), q_ = preconditioned(6);
  Scalar<T, B>&alpha_ = work_->scalar(1), &rho_ = work_->scalar(3);
  Scalar<T, B>*beta_next_ = &work_->scalar(0), *beta_ = &work_->scalar(2);
  std::array<T, 5> seen_;  // the scalars
};

/// How a run of the recurrence ended.
enum class End {
  met,       // the recurrence's residual meets the tolerance
  drifted,   // it no longer is the true one
  singular,  // so is A up to rounding on the Krylov space
  not_finite,
  overflow,
  indefinite,  // M, as what follows
  blind,
  stopped  // for a reason of Progress
};

template <class T, class B>
bool stopped(const detail::Progress<T, B>& progress) {
  return progress.exhausted() || progress.diverged() || progress.cancelled();
}

// Invariant: A V_k = U_(k+1) T_k up to rounding with u_1 along the first r = b - A x, D_k R_k = V_k
// for the QR factors of T_k, and x has moved by ||r|| D_k (phi_1, ..., phi_k). Holds 5 vectors
// beside b and x (7 with M). An iteration: 1 product, 14 passes over vectors, the product's 2
// included, 3 reductions, 1 transfer; M adds its product, 8 passes, 2 reductions and 2 transfers.
// Each time that the residual has fallen to a tenth, every 100 iterations, and at the end: 1
// product, 6 passes.
template <class T, class B>
End run(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work,
        detail::Progress<T, B>& progress, double r_norm, Span<const T, B> b, Span<T, B> x) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  Span<T, B> d = work.vector(3), d_old = work.vector(4);
  fill(A.context(), 0, d);
  fill(A.context(), 0, d_old);
  Lanczos<T, B> lanczos(A, M, work);
  write(A.context(), 0, lanczos.own());
  TridiagonalQr qr(lanczos.start());
  if (!(qr.phi_bar > 0))
    return qr.phi_bar < 0 ? End::indefinite : qr.phi_bar == 0 ? End::blind : End::not_finite;
  double v_norm = 0, trusted = r_norm;
  int unchecked = 0;  // iterations since the residual was last compared with the true one
  while (true) {
    auto [alpha, beta_next] = lanczos.step();
    if (!std::isfinite(alpha) || !std::isfinite(beta_next)) return End::not_finite;
    if (beta_next < -std::sqrt(eps) * qr.largest) return End::indefinite;
    beta_next = std::max(beta_next, 0.0);  // of no vector, up to rounding
    const double d_norm = lanczos.seen();
    if (v_norm == 0) v_norm = d_norm * qr.gamma;
    // The last step's rounding, of about the size of A times the step's, is near the residual's.
    if (eps * qr.largest * std::abs(qr.phi) * d_norm > 1e-3 * qr.phi_bar * v_norm)
      return End::singular;
    if (!qr.append(alpha, beta_next, eps)) return End::singular;
    const MinresScalars<T> s = {static_cast<T>(qr.gamma), static_cast<T>(qr.delta),
                                static_cast<T>(qr.epsilon), static_cast<T>(r_norm * qr.phi)};
    if (!std::isfinite(s.phi / s.gamma)) return End::overflow;
    minres_step(A.context(), s, lanczos.v(), d, d_old, x, lanczos.own());
    std::swap(d, d_old);
    lanczos.advance(beta_next);
    const double residual = r_norm * qr.phi_bar * lanczos.residual(qr);
    progress.record(residual);
    if (progress.meets(residual)) return End::met;
    if (stopped(progress)) return End::stopped;
    if (residual > trusted / 10 && ++unchecked < 100) continue;
    trusted = residual, unchecked = 0;
    if (progress.true_residual(b, x, lanczos.spare(), work.scalar(3)) > 2 * residual)
      return End::drifted;
  }
}

/// Why no other run would help, if none would: the last took the true residual from `previous` to
/// `truth`, and left r in the first vector of the workspace.
template <class T, class B>
std::optional<Breakdown> why_no_restart(const LinearOperator<T, B>& A, Workspace<T, B>& work,
                                        End end, double previous, double truth,
                                        Span<const T, B> x) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  if (end == End::indefinite)
    return Breakdown{Status::indefinite_preconditioner, "u'Mu < 0 for a Lanczos vector u"};
  if (end == End::blind)
    return Breakdown{Status::breakdown, "r'Mr = 0 for a residual that is not 0"};
  if (end == End::not_finite)
    return Breakdown{Status::not_finite, "a product with A or the preconditioner"};
  if (end == End::overflow) return Breakdown{Status::not_finite, "the step overflows"};
  if (!std::isfinite(truth))
    return Breakdown{Status::not_finite, "the true residual of the returned x"};
  const RangeOverlap range = range_overlap<T, B>(A, work.vector(0), truth, x, work.vector(1),
                                                 work.vector(2), work.scalar(1));
  const auto inconsistent = detail::no_solution(range, eps);
  if (end == End::singular && inconsistent) return inconsistent;
  if (truth <= previous / 2) return {};
  return Breakdown{Status::stagnated, "a restart no longer halves the true residual" +
                                          detail::perhaps_no_solution(range, eps)};
}

}  // namespace

template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options,
              std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("minres", A, b, x, options);
  work.require("minres", A.context(), minres_workspace(A.rows(), M != nullptr));
  const Span<T, B> r = work.vector(0), s = work.vector(1), t = work.vector(2);
  Scalar<T, B>& norm = work.scalar(0);

  detail::Progress<T, B> progress("minres", A, options, work.bytes());
  if (options.probe_symmetry) progress.warn(probe_symmetry(A, r, s, t, work.scalar(1), norm));
  double truth = progress.start(b, x, r, norm);  // ||r||, r = b - A x
  bool converged = progress.meets(truth), broke_down = !std::isfinite(truth);
  std::optional<Breakdown> breakdown;
  std::int64_t runs = 0;
  while (!(converged || broke_down || stopped(progress))) {
    const End end = run<T, B>(A, M, work, progress, truth, b, x);
    ++runs;
    const double previous = std::exchange(truth, progress.true_residual(b, x, r, norm));
    converged = progress.meets(truth);
    if (!converged && end != End::stopped)
      breakdown = why_no_restart<T, B>(A, work, end, previous, truth, x);
    broke_down = breakdown.has_value();
  }
  return progress.finish(truth, false, breakdown ? &*breakdown : nullptr,
                         std::max<std::int64_t>(runs - 1, 0));
}

template <class T, class B>
Report minres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options) {
  require_square_system("minres", A, b, x, options);
  const auto began = std::chrono::steady_clock::now();
  Workspace<T, B> work(A.context(), minres_workspace(A.rows(), options.preconditioner != nullptr));
  const std::chrono::duration<double> building = std::chrono::steady_clock::now() - began;
  Report report = minres(A, b, x, options, work);
  report.setup_seconds += building.count();
  return report;
}

#define TANSOLVE_INSTANTIATE(T, B)                                                  \
  template Report minres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&, Workspace<T, B>&);              \
  template Report minres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
