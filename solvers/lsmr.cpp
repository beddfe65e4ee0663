// SPDX-License-Identifier: BSD-3-Clause
// LSMR: the Golub-Kahan process and two QR factorisations of its bidiagonal matrix.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/bidiagonalization.hpp>
#include <tansolve/solvers/lsmr.hpp>

namespace tansolve {
namespace {

/// (c s; -s c)(a, b)' = (r, 0)'
struct Rotation {
  Rotation() = default;
  Rotation(double a, double b) : r(std::hypot(a, b)), c(r > 0 ? a / r : 1), s(r > 0 ? b / r : 0) {}
  double r = 1, c = 1, s = 0;
};

/// ||r|| of LSMR, which its own recurrence does not give: QR of R_k' once more.
class LsmrResidual {
 public:
  /// After step k: the rotation of damping and the one of beta, theta_bar_k, rho_bar_k and zeta_k.
  void take(const Rotation& damping, const Rotation& beta, double theta_bar, double rho_bar,
            double zeta_old, double zeta) {
    const double acute = damping.c * beta_acute_, check = -damping.s * beta_acute_;
    const double hat = beta.c * acute;
    beta_acute_ = -beta.s * acute;
    const Rotation tilde(rho_dot_, theta_bar);
    const double theta_tilde_old = std::exchange(theta_tilde_, tilde.s * rho_bar);
    rho_dot_ = tilde.c * rho_bar;
    beta_dot_ = -tilde.s * beta_dot_ + tilde.c * hat;
    tau_tilde_ = (zeta_old - theta_tilde_old * tau_tilde_) / tilde.r;
    const double tau_dot = (zeta - theta_tilde_ * tau_tilde_) / rho_dot_;
    lost_ = std::hypot(lost_, check);
    norm_ = std::hypot(lost_, std::hypot(beta_dot_ - tau_dot, beta_acute_));
  }
  double norm() const { return norm_; }  ///< relative to beta_1

 private:
  double beta_acute_ = 1, beta_dot_ = 0, rho_dot_ = 1, tau_tilde_ = 0, theta_tilde_ = 0;
  double lost_ = 0, norm_ = 1;
};

// Invariant: R_k is the factor of (B_k; damping I) as in LSQR, with rho and theta, and Rbar_k that
// of R_k', with rho_bar and theta_bar; h_k / rho_k are the directions of LSQR and hbar_k those of
// LSMR up to their sizes; zeta_bar is ||A'r||. Holds 2 vectors of A.rows() elements and 5 of
// A.cols() beside b and x. An iteration: 1 product with A and 1 with A', 7 passes over vectors of
// A.rows() elements and 13 over those of A.cols(), the products' 2 each included, 2 reductions, 1
// transfer. A run beside its iterations: 1 product with A and 2 with A', 9 and 15 passes; the first
// 1 product with A, 4 passes and 1 more.
template <class T, class B>
class LsmrSteps {
 public:
  LsmrSteps(Context<B>& context, LeastSquaresWorkspace<T, B>& work, Scalar<T, B>& own, double alpha,
            double damping)
      : context_(&context),
        h_(work.cols().vector(3)),
        hbar_(work.cols().vector(4)),
        damping_(damping),
        alpha_bar_(alpha),
        zeta_bar_(alpha) {
    copy(context, work.cols().vector(0), h_);
    fill(context, 0, hbar_);
    write(context, 0, own);  // the other methods' scalar
  }

  /// As LsqrSteps has it.
  bool take(double beta, double alpha, double, double beta_1, Span<T, B> v, Span<T, B> x) {
    const Rotation hat(alpha_bar_, damping_), rotation(hat.r, beta);
    const double rho = rotation.r, theta = rotation.s * alpha;
    const double theta_bar = bar_.s * rho, rho_temp = bar_.c * rho;
    const Rotation bar(rho_temp, theta);
    const double zeta = bar.c * zeta_bar_;
    const LsmrScalars<T> scalars = {
        static_cast<T>(alpha), static_cast<T>(theta_bar / rho_ * (rho / bar_.r)),
        static_cast<T>(beta_1 * (zeta / rho) / bar.r), static_cast<T>(theta / rho)};
    if (!std::isfinite(scalars.hbar) || !std::isfinite(scalars.step) ||
        !std::isfinite(scalars.direction))
      return false;
    residual_.take(hat, rotation, theta_bar, bar.r, zeta_, zeta);
    if (steps_++ > 0) smallest_ = std::min(smallest_, bar_.r);
    inverse_norm_ = 1 / std::min(smallest_, rho_temp);
    alpha_bar_ = rotation.c * alpha;
    zeta_bar_ *= -bar.s;
    zeta_ = zeta;
    rho_ = rho;
    bar_ = bar;
    lsmr_step(*context_, scalars, v, h_, hbar_, x);
    return true;
  }

  double residual() const { return residual_.norm(); }   ///< relative to beta_1
  double normal() const { return std::abs(zeta_bar_); }  ///< ||A'r||, likewise
  double inverse_norm() const { return inverse_norm_; }  ///< 1 / the least of diag Rbar_k

 private:
  Context<B>* context_;
  Span<T, B> h_, hbar_;
  double damping_;
  double alpha_bar_, zeta_bar_, zeta_ = 0, rho_ = 1;
  Rotation bar_;
  LsmrResidual residual_;
  std::int64_t steps_ = 0;
  double smallest_ = std::numeric_limits<double>::infinity(), inverse_norm_ = 0;
};

}  // namespace

template <class T, class B>
Report lsmr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem,
            std::type_identity_t<LeastSquaresWorkspace<T, B>>& work) {
  return detail::solve_least_squares<LsmrSteps<T, B>>("lsmr", LeastSquaresMethod::lsmr, A, b, x,
                                                      options, problem, work);
}

template <class T, class B>
Report lsmr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem) {
  return detail::solve_least_squares<LsmrSteps<T, B>>("lsmr", LeastSquaresMethod::lsmr, A, b, x,
                                                      options, problem);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                \
  template Report lsmr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                       const SolveOptions<T, B>&, const LeastSquares<T>&,         \
                       LeastSquaresWorkspace<T, B>&);                             \
  template Report lsmr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                       const SolveOptions<T, B>&, const LeastSquares<T>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
