// SPDX-License-Identifier: BSD-3-Clause
// LSQR: the Golub-Kahan process and the QR factors of its bidiagonal matrix.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/bidiagonalization.hpp>
#include <tansolve/solvers/lsqr.hpp>

namespace tansolve {
namespace {

// Invariant: min ||e_1 - (B_k; damping I) y|| is kept as R_k y = (phi_1, ..., phi_k) by two
// rotations a step, R_k upper bidiagonal with rho and theta; W_k R_k = V_k for the directions w_k /
// rho_k; the step of x is beta_1 W_k (phi_1, ..., phi_k). Holds 2 vectors of A.rows() elements and
// 4 of A.cols() beside b and x. An iteration: 1 product with A and 1 with A', 7 passes over vectors
// of A.rows() elements and 11 over those of A.cols(), the products' 2 each included, 3 reductions,
// 1 transfer. A run beside its iterations: 1 product with A and 2 with A', 9 and 14 passes; the
// first 1 product with A, 4 passes and 1 more.
template <class T, class B>
class LsqrSteps {
 public:
  LsqrSteps(Context<B>& context, LeastSquaresWorkspace<T, B>& work, Scalar<T, B>& w_norm,
            double alpha, double damping)
      : context_(&context),
        w_(work.cols().vector(3)),
        w_norm_(&w_norm),
        damping_(damping),
        rho_bar_(alpha) {
    copy(context, work.cols().vector(0), w_);
    write(context, 1, w_norm);
  }

  /// Takes column k of B and alpha_(k+1), whose v is not yet normalised; `w_norm` is ||w_k||,
  /// beta_1 the size of all steps. Returns false, and leaves x, if its step overflows.
  bool take(double beta, double alpha, double w_norm, double beta_1, Span<T, B> v, Span<T, B> x) {
    const double damped = std::hypot(rho_bar_, damping_);  // the first rotation: damping
    const double phi_damped = rho_bar_ / damped * phi_bar_;
    lost_ = std::hypot(lost_, damping_ / damped * phi_bar_);

    const double rho = std::hypot(damped, beta);  // the second one: beta
    const double c = damped / rho, s = beta / rho;
    const double theta = s * alpha, phi = c * phi_damped;
    const LsqrScalars<T> scalars = {static_cast<T>(alpha), static_cast<T>(beta_1 * phi / rho),
                                    static_cast<T>(theta / rho)};
    if (!std::isfinite(scalars.step) || !std::isfinite(scalars.direction)) return false;
    rho_bar_ = -c * alpha;
    phi_bar_ = s * phi_damped;
    normal_ = std::abs(phi_bar_ * alpha * c);
    inverse_norm_ = std::hypot(inverse_norm_, w_norm / rho);
    lsqr_step(*context_, scalars, v, w_, x, *w_norm_);
    return true;
  }

  double residual() const { return std::hypot(phi_bar_, lost_); }  ///< relative to beta_1
  double normal() const { return normal_; }                        ///< ||A'r||, likewise
  double inverse_norm() const { return inverse_norm_; }            ///< ||W_k|| of Frobenius

 private:
  Context<B>* context_;
  Span<T, B> w_;
  Scalar<T, B>* w_norm_;
  double damping_;
  double rho_bar_, phi_bar_ = 1;
  double lost_ = 0;  // the part of the residual that damping keeps
  double normal_ = 0, inverse_norm_ = 0;
};

}  // namespace

template <class T, class B>
Report lsqr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem,
            std::type_identity_t<LeastSquaresWorkspace<T, B>>& work) {
  return detail::solve_least_squares<LsqrSteps<T, B>>("lsqr", LeastSquaresMethod::lsqr, A, b, x,
                                                      options, problem, work);
}

template <class T, class B>
Report lsqr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem) {
  return detail::solve_least_squares<LsqrSteps<T, B>>("lsqr", LeastSquaresMethod::lsqr, A, b, x,
                                                      options, problem);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                \
  template Report lsqr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                       const SolveOptions<T, B>&, const LeastSquares<T>&,         \
                       LeastSquaresWorkspace<T, B>&);                             \
  template Report lsqr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                       const SolveOptions<T, B>&, const LeastSquares<T>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
