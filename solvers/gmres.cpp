// SPDX-License-Identifier: BSD-3-Clause
// GMRES and its flexible form: cycles of Arnoldi steps, restarted from the true residual.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/gmres_cycle.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/own_workspace.hpp>
#include <tansolve/solvers/progress.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tansolve {
namespace detail {

/// Makes A Z_k = V_(k+1) H_k grow: V orthonormal from v_0 = r / ||r|| on, Z = V, or M V, or the
/// stored results of a flexible M divided by their norms.
template <class T, class B>
class Arnoldi {
 public:
  Arnoldi(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, bool flexible,
          GmresWorkspace<T, B>& work)
      : A_(&A), M_(M), flexible_(flexible && M != nullptr), work_(&work) {}

  std::int64_t restart() const { return work_->restart(); }
  std::int64_t cols() const { return work_->qr_.cols(); }
  double residual() const { return work_->qr_.residual(); }  ///< relative to ||r||
  bool rounded() const { return storage_roundoff() > tansolve::storage_roundoff<T>({}); }
  double storage_roundoff() const { return tansolve::storage_roundoff<T>(work_->V_.storage()); }

  /// Between cycles r, in cycles the latest v; and the norm of r.
  Span<T, B> w() { return work_->vectors_.vector(latest_); }
  Scalar<T, B>& norm() { return work_->vectors_.scalar(0); }

  void start() {
    work_->V_.store(0, norm(), w());
    work_->qr_.start();
  }

  /// Iterations first ... last - 1, at most gmres_look, and their coefficients in one transfer.
  void advance(std::int64_t first, std::int64_t last) {
    first_ = first;
    for (std::int64_t j = first; j < last; ++j) step(j);
    const std::int64_t count = (last - first) * gmres_column(restart());
    copy_to_host<T>(A_->context(), work_->columns_.span().subspan(0, count),
                    std::span(work_->seen_).first(count));
  }

  /// Takes iteration j, the next, into the least-squares problem.
  HessenbergQr::Column append(std::int64_t j) {
    const T* column = work_->seen_.data() + (j - first_) * gmres_column(restart());
    for (std::int64_t i = 0; i <= j; ++i)
      work_->h_[i] = static_cast<double>(column[i]) + static_cast<double>(column[restart() + i]);
    if (flexible_ && !std::isfinite(column[2 * restart() + 1]))
      work_->h_[0] = column[2 * restart() + 1];
    return work_->qr_.append(std::span(work_->h_).first(j + 1), column[2 * restart()]);
  }

  /// x += Z y with the best y. Returns false, and leaves x, where that is 0 or not finite.
  bool add_step(double r_norm, Span<T, B> x) {
    if (cols() == 0) return false;
    overflowed_ = !form_step(r_norm);
    if (overflowed_) return false;
    copy(A_->context(), x, saved_x());
    axpby(A_->context(), 1, spare(1), 1, x);
    return true;
  }
  bool overflowed() const { return overflowed_; }

  void truncate(std::int64_t cols) { work_->qr_.truncate(cols); }

  /// x as it was before the last step.
  void undo_step(Span<T, B> x) { copy(A_->context(), saved_x(), x); }

  /// How far r is from being orthogonal to the range of A.
  RangeOverlap overlap(double r_norm, Span<const T, B> x) {
    const RangeOverlap range = range_overlap<T, B>(*A_, w(), r_norm, x, spare(0), spare(1), norm());
    write(A_->context(), static_cast<T>(r_norm), norm());  // as a cycle begins with it
    return range;
  }

 private:
  /// Iteration j: h = V'A z_j by Gram-Schmidt, and v_(j+1).
  void step(std::int64_t j) {
    const Span<T, B> h = scalars(j, 0, j + 1), g = scalars(j, restart(), j + 1);
    Scalar<T, B> v_norm(scalars(j, 2 * restart(), 1)), z_norm(scalars(j, 2 * restart() + 1, 1));
    const Span<T, B> v = w(), other = spare(0);
    if (M_ != nullptr) M_->apply(v, other);
    if (flexible_) norm2(A_->context(), other, z_norm);
    if (flexible_) work_->Z_->store(j, z_norm, other);
    if (M_ != nullptr)
      A_->apply(other, v);
    else
      A_->apply(v, other), latest_ = 1 - latest_;
    const Span<T, B> Az = w();
    orthogonalize(work_->V_, work_->reorthogonalize_, Az, h, g, v_norm);
    work_->V_.store(j + 1, v_norm, Az);
  }

  /// Whether ||r|| Z y, then in spare(1), is finite.
  bool form_step(double r_norm) {
    Context<B>& context = A_->context();
    const std::span<T> y = std::span(work_->seen_).first(cols());
    work_->qr_.solve(work_->y_);
    std::transform(work_->y_.begin(), work_->y_.begin() + cols(), y.begin(),
                   [=](double yi) { return static_cast<T>(r_norm * yi); });
    if (!std::all_of(y.begin(), y.end(), [](T yi) { return std::isfinite(yi); })) return false;
    const Span<T, B> device_y = work_->columns_.span().subspan(0, cols());
    copy_from_host<T>(context, y, device_y);
    const bool mapped = M_ != nullptr && !flexible_;
    (flexible_ ? *work_->Z_ : work_->V_).combine(device_y, spare(mapped ? 0 : 1));
    if (mapped) M_->apply(spare(0), spare(1));
    norm2(context, spare(1), norm());
    return std::isfinite(read(context, norm()));
  }

  Span<T, B> saved_x() { return work_->vectors_.vector(3); }
  Span<T, B> spare(int i) { return work_->vectors_.vector(i == 0 ? 1 - latest_ : 2); }
  Span<T, B> scalars(std::int64_t j, std::int64_t first, std::int64_t count) {
    return work_->columns_.span().subspan((j - first_) * gmres_column(restart()) + first, count);
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  bool flexible_;
  GmresWorkspace<T, B>* work_;
  bool overflowed_ = false;
  std::int64_t latest_ = 0;  // the vector that w() is
  std::int64_t first_ = 0;   // the iteration that the columns begin with
};

}  // namespace detail

namespace {

using detail::Breakdown;
using End = detail::CycleEnd;
using Column = detail::HessenbergQr::Column;

/// Iterations between two looks of the host: it must not wait for a GPU after each.
template <class B>
constexpr std::int64_t a_look =
    std::is_same_v<B, Host> || std::is_same_v<B, Checked> ? 1 : detail::gmres_look;

/// Iterations from v_0 = r / ||r|| until the residual is `enough`, or no further.
template <class T, class B>
End run_cycle(detail::Arnoldi<T, B>& arnoldi, detail::Progress<T, B>& progress, double r_norm,
              double enough) {
  arnoldi.start();
  while (arnoldi.cols() < arnoldi.restart()) {
    const std::int64_t begin = arnoldi.cols();
    const std::int64_t end =
        begin + std::min({a_look<B>, arnoldi.restart() - begin, progress.iterations_left()});
    arnoldi.advance(begin, end);
    for (std::int64_t j = begin; j < end; ++j) {
      const Column column = arnoldi.append(j);
      if (column == Column::not_finite) return End::not_finite;
      // Rounded vectors depend on each other only nearly: for them it is a cycle's end like
      // another.
      if (column == Column::dependent) return arnoldi.rounded() ? End::full : End::dependent;
      progress.record(r_norm * arnoldi.residual());
      if (r_norm * arnoldi.residual() <= enough) return End::met;
      if (progress.stopped()) return End::stopped;
    }
  }
  return End::full;
}

// Invariant: A Z_k = V_(k+1) H_k up to rounding, V_k orthonormal as its storage allows, v_0 = r /
// ||r|| for r = b - A x, and y_k the minimiser of || ||r|| e_1 - H_k y ||. Holds restart + 1
// vectors of the basis (flexible: 2 restart + 1) and 4 more beside b and x. Iteration j = 0, 1, ...
// of a cycle: 1 product, 3 (j + 1) + 1 passes over stored vectors and 9 over others, the product's
// 2 included, 2 (j + 1) + 1 reductions, 1 transfer, on a GPU 1 in gmres_look; where a second pass
// of Gram-Schmidt is not needed, 2 (j + 1) + 1 and 7, and (j + 1) + 1 reductions, where it is found
// to be, 4 (j + 1) + 1 and 10, and 2 (j + 1) + 2. A fixed M adds its product, a flexible one 4
// passes and a reduction more. A cycle of k iterations beside them: 1 product, k + 1 passes over
// stored vectors and 15 over others; a fixed M adds its product.
template <class T, class B>
Report solve(std::string_view name, bool flexible, const LinearOperator<T, B>& A,
             Span<const T, B> b, Span<T, B> x, const SolveOptions<T, B>& options,
             GmresWorkspace<T, B>& work) {
  require_square_system(name, A, b, x, options);
  work.require(name, A.context(), A.rows(), flexible);
  detail::Arnoldi<T, B> arnoldi(A, options.preconditioner, flexible, work);
  detail::Progress<T, B> progress(name, A, options, work.bytes());
  double truth = progress.start(b, x, arnoldi.w(), arnoldi.norm());  // ||r||, r = b - A x
  double overlap = std::numeric_limits<double>::infinity();
  bool converged = progress.meets(truth), broke_down = !std::isfinite(truth);
  std::optional<Breakdown> breakdown;
  std::int64_t cycles = 0;
  while (!(converged || broke_down || progress.stopped())) {
    // Below the storage's precision the recurrence no longer tells the truth.
    const double enough = std::max(progress.threshold(), arnoldi.storage_roundoff() * truth);
    const End end = run_cycle(arnoldi, progress, truth, enough);
    ++cycles;
    const double previous =
        std::exchange(truth, detail::take_step<T, B>(arnoldi, progress, truth, b, x));
    converged = progress.meets(truth);
    if (!converged && end != End::stopped)
      breakdown = detail::why_no_restart<T, B>(arnoldi, end, previous, truth, x, overlap);
    broke_down = breakdown.has_value();
  }
  return progress.finish(x, arnoldi.norm(), truth, false, breakdown ? &*breakdown : nullptr,
                         std::max<std::int64_t>(cycles - 1, 0));
}

template <class T, class B>
Report solve(std::string_view name, bool flexible, const LinearOperator<T, B>& A,
             Span<const T, B> b, Span<T, B> x, const SolveOptions<T, B>& options,
             const KrylovBasis& basis) {
  require_square_system(name, A, b, x, options);
  return detail::solve_with_own(
      [&] { return GmresWorkspace<T, B>(A.context(), A.rows(), basis, flexible); },
      [&](auto& work) { return solve(name, flexible, A, b, x, options, work); });
}

}  // namespace

template <class T, class B>
Report gmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
             std::type_identity_t<Span<T, B>> x,
             const std::type_identity_t<SolveOptions<T, B>>& options,
             std::type_identity_t<GmresWorkspace<T, B>>& work) {
  return solve("gmres", false, A, b, x, options, work);
}

template <class T, class B>
Report gmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
             std::type_identity_t<Span<T, B>> x,
             const std::type_identity_t<SolveOptions<T, B>>& options, const KrylovBasis& basis) {
  return solve("gmres", false, A, b, x, options, basis);
}

template <class T, class B>
Report fgmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options,
              std::type_identity_t<GmresWorkspace<T, B>>& work) {
  return solve("fgmres", true, A, b, x, options, work);
}

template <class T, class B>
Report fgmres(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
              std::type_identity_t<Span<T, B>> x,
              const std::type_identity_t<SolveOptions<T, B>>& options, const KrylovBasis& basis) {
  return solve("fgmres", true, A, b, x, options, basis);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                  \
  template Report gmres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,  \
                        const SolveOptions<T, B>&, GmresWorkspace<T, B>&);          \
  template Report gmres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,  \
                        const SolveOptions<T, B>&, const KrylovBasis&);             \
  template Report fgmres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&, GmresWorkspace<T, B>&);         \
  template Report fgmres(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                         const SolveOptions<T, B>&, const KrylovBasis&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
