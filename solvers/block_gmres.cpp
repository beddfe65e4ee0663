// SPDX-License-Identifier: BSD-3-Clause
// GMRES for several right-hand sides, cycle by cycle side by side.
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/block_gmres.hpp>
#include <tansolve/solvers/gmres_cycle.hpp>
#include <tansolve/solvers/hessenberg.hpp>
#include <tansolve/solvers/lockstep.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace tansolve {
namespace {

using detail::CycleEnd;
using detail::HessenbergQr;

constexpr std::int64_t r = 0, d = 1, q = 2, z = 3;  // blocks; in a cycle r is its latest v

WorkspaceShape shape(std::int64_t n, std::int64_t columns) {
  return {.size = n * columns, .vectors = 4, .scalars = columns};
}

/// h of both passes of Gram-Schmidt, and the norm of what is left.
constexpr std::int64_t coefficients_of(std::int64_t restart) {
  return 2 * restart + 1;
}

/// The Krylov spaces of the columns: A M V_k = V_(k+1) H_k for each.
template <class T, class B>
class Arnoldis {
 public:
  Arnoldis(detail::Lockstep<T, B>& at, Context<B>& context, BlockGmresWorkspace<T, B>& work)
      : at_(&at), context_(&context), work_(&work), h_(work.restart()), y_(work.restart()) {
    const BasisStorage storage = work.bases.front().storage();
    const double rounding = detail::column_rounding<T>(work.restart(), storage);
    for (std::size_t c = 0; c < work.bases.size(); ++c) qr_.emplace_back(work.restart(), rounding);
    ends_.resize(work.bases.size());
    overlaps_.assign(work.bases.size(), std::numeric_limits<double>::infinity());
    at.probe_with(q, z);
    storage_roundoff_ = storage_roundoff<T>(storage);
  }

  HessenbergQr& qr(std::int64_t s) { return qr_[(*at_)[s].index]; }

  /// v_0 = r / ||r||
  void start(std::int64_t s) {
    norm2(*context_, at_->column(r, s), at_->scalar(0, s));
    basis(s).store(0, at_->scalar(0, s), at_->column(r, s));
    qr(s).start();
  }

  /// h = V'q by Gram-Schmidt, and the next v, of what is left.
  void step(std::int64_t s) {
    const std::int64_t j = qr(s).cols();
    const Span<T, B> h = coefficients(s, 0, j + 1), g = coefficients(s, restart(), j + 1);
    Scalar<T, B> norm(coefficients(s, 2 * restart(), 1));
    const Span<T, B> w = at_->column(q, s);
    detail::orthogonalize(basis(s), work_->reorthogonalize, w, h, g, norm);
    basis(s).store(j + 1, norm, w);
    copy(*context_, w, at_->column(r, s));
  }

  /// The coefficients of all columns, in one transfer.
  void read() {
    const std::int64_t count = at_->size() * coefficients_of(restart());
    seen_.resize(count);
    copy_to_host<T>(*context_, work_->coefficients.span().subspan(0, count), seen_);
  }

  /// Takes the column of H of this step, and what follows from it for the run.
  void append(std::int64_t s) {
    auto& c = (*at_)[s];
    const T* column = seen_.data() + s * coefficients_of(restart());
    const std::int64_t j = qr(s).cols();
    for (std::int64_t i = 0; i <= j; ++i)
      h_[i] = static_cast<double>(column[i]) + static_cast<double>(column[restart() + i]);
    const auto taken = qr(s).append(std::span(h_).first(j + 1), column[2 * restart()]);
    if (taken == HessenbergQr::Column::appended) {
      const double residual = c.truth * qr(s).residual();
      c.progress.record(residual);
      // Below the storage's precision the recurrence no longer tells the truth.
      const double enough = std::max(c.progress.threshold(), storage_roundoff_ * c.truth);
      const bool full = qr(s).cols() == restart() && !c.progress.stopped();
      end(s) = residual <= enough ? CycleEnd::met : full ? CycleEnd::full : CycleEnd::stopped;
    } else {
      end(s) = taken == HessenbergQr::Column::not_finite ? CycleEnd::not_finite
               : rounded()                               ? CycleEnd::full
                                                         : CycleEnd::dependent;
    }
    c.full = end(s) != CycleEnd::stopped;
  }

  bool rounded() const { return storage_roundoff_ > storage_roundoff<T>(BasisStorage::working); }

  /// The end of the cycle of a slot.
  class Cycle {
   public:
    Cycle(Arnoldis& arnoldis, std::int64_t s) : of_(&arnoldis), s_(s) {}
    std::int64_t cols() const { return of_->qr(s_).cols(); }
    double residual() const { return of_->qr(s_).residual(); }
    bool rounded() const { return of_->rounded(); }
    bool overflowed() const { return of_->overflowed_; }
    Span<T, B> w() { return of_->at_->column(r, s_); }
    Scalar<T, B>& norm() { return of_->at_->scalar(0, s_); }
    void truncate(std::int64_t cols) { of_->qr(s_).truncate(cols); }
    RangeOverlap overlap(double, Span<const T, B>) { return of_->at_->overlap(s_); }
    /// x += M V y with the best y; false, and x as it was, where that is 0 or not finite.
    bool add_step(double r_norm, Span<T, B> x) {
      if (cols() == 0) return false;
      of_->overflowed_ = !of_->form_step(s_, r_norm);
      if (of_->overflowed_) return false;
      copy(*of_->context_, x, of_->at_->column(q, s_));
      axpby(*of_->context_, 1, of_->at_->column(d, s_), 1, x);
      return true;
    }
    void undo_step(Span<T, B> x) { copy(*of_->context_, of_->at_->column(q, s_), x); }

   private:
    Arnoldis* of_;
    std::int64_t s_;
  };

  /// Takes the step of the cycle that a slot has ended; why no other cycle would help.
  double advance(std::int64_t s) {
    auto& c = (*at_)[s];
    Cycle cycle(*this, s);
    overflowed_ = false;
    return detail::take_step<T, B>(cycle, c.progress, c.truth, at_->b_of(c), at_->x_of(c));
  }
  std::optional<detail::Breakdown> verdict(std::int64_t s, double previous) {
    auto& c = (*at_)[s];
    if (end(s) == CycleEnd::stopped) return {};
    Cycle cycle(*this, s);
    return detail::why_no_restart<T, B>(cycle, end(s), previous, c.truth, at_->x_of(c),
                                        overlaps_[c.index]);
  }

 private:
  CycleEnd& end(std::int64_t s) { return ends_[(*at_)[s].index]; }

  /// d = ||r|| M V y with the best y. Returns whether that is finite.
  bool form_step(std::int64_t s, double r_norm) {
    auto& c = (*at_)[s];
    const std::int64_t k = qr(s).cols();
    qr(s).solve(y_);
    std::vector<T> y(k);
    for (std::int64_t i = 0; i < k; ++i) y[i] = static_cast<T>(r_norm * y_[i]);
    if (!std::ranges::all_of(y, [](T yi) { return std::isfinite(yi); })) return false;
    const Span<T, B> device_y = coefficients(s, 0, k);
    copy_from_host<T>(*context_, y, device_y);
    basis(s).combine(device_y, at_->column(c.M ? z : d, s));
    if (c.M) c.M->apply(at_->column(z, s), at_->column(d, s));
    return std::isfinite(detail::norm_of<T, B>(*context_, at_->column(d, s), at_->scalar(0, s)));
  }

  std::int64_t restart() const { return work_->restart(); }
  Basis<T, B>& basis(std::int64_t s) { return work_->bases[(*at_)[s].index]; }
  Span<T, B> coefficients(std::int64_t s, std::int64_t first, std::int64_t count) {
    return work_->coefficients.span().subspan(s * coefficients_of(restart()) + first, count);
  }

  detail::Lockstep<T, B>* at_;
  Context<B>* context_;
  BlockGmresWorkspace<T, B>* work_;
  std::vector<HessenbergQr> qr_;
  std::vector<double> h_, y_;
  std::vector<T> seen_;
  std::vector<CycleEnd> ends_;    // of the columns' latest cycles
  std::vector<double> overlaps_;  // of their residuals with the range of A, when last measured
  bool overflowed_ = false;       // the step that was formed last
  double storage_roundoff_;
};

/// The shape, where the bases of all columns together fit into the memory that there is.
template <class T, class B>
WorkspaceShape checked_shape(const Context<B>& context, std::int64_t n, std::int64_t columns,
                             const KrylovBasis& basis) {
  const auto refuse = [](ErrorCode code, const std::string& why) {
    throw Error(code, "pseudo_block_gmres: " + why);
  };
  if (columns < 1)
    refuse(ErrorCode::invalid_argument,
           fmt::format("there are {} columns, there must be 1 at least", columns));
  const std::int64_t count = detail::restart_for("pseudo_block_gmres", n, basis) + 1;
  const double bytes = static_cast<double>(columns) *
                       static_cast<double>(Basis<T, B>::bytes(context, n, count, basis.storage));
  const std::int64_t available = detail::available_memory(context);
  if (bytes > static_cast<double>(available))
    refuse(ErrorCode::out_of_memory,
           fmt::format("restart is {} for each of {} columns, lower one or narrow the storage: "
                       "{:.0f} bytes requested, {} are there",
                       basis.restart, columns, bytes, available));
  return shape(n, columns);
}

template <class T, class B>
std::vector<Basis<T, B>> make_bases(Context<B>& context, std::int64_t n, std::int64_t columns,
                                    const KrylovBasis& basis) {
  std::vector<Basis<T, B>> bases;
  const std::int64_t count = detail::restart_for("pseudo_block_gmres", n, basis) + 1;
  for (std::int64_t c = 0; c < columns; ++c) bases.emplace_back(context, n, count, basis.storage);
  return bases;
}

}  // namespace

template <class T, class B>
BlockGmresWorkspace<T, B>::BlockGmresWorkspace(Context<B>& context, std::int64_t n,
                                               std::int64_t columns, const KrylovBasis& basis)
    : reorthogonalize(basis.reorthogonalize),
      vectors(context, checked_shape<T>(context, n, columns, basis)),
      bases(make_bases<T>(context, n, columns, basis)),
      coefficients(context, columns * coefficients_of(restart())) {}

template <class T, class B>
std::int64_t BlockGmresWorkspace<T, B>::bytes() const {
  return vectors.bytes() + std::ssize(bases) * bases.front().bytes() +
         coefficients.size() * std::int64_t{sizeof(T)};
}

// Invariant: of each column that of gmres. Holds restart + 1 vectors of a basis and 4 more a column
// beside b and x. Iteration j = 0, 1, ... of a column's cycle: 1 product, 3 (j + 1) + 1 passes over
// stored vectors and 11 over others, the product's 2 included, 2 (j + 1) + 1 reductions, or what
// gmres takes where a second pass is made when it is needed; and 1 transfer for all columns
// together. A cycle of k iterations beside them: 1 product, k + 1 passes over stored vectors and 19
// over others; M adds its product.
template <class T, class B>
MultiReport pseudo_block_gmres(const LinearOperator<T, B>& A, std::int64_t columns,
                               std::type_identity_t<Span<const T, B>> b,
                               std::type_identity_t<Span<T, B>> x,
                               const std::type_identity_t<SolveOptions<T, B>>& options,
                               std::type_identity_t<BlockGmresWorkspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  detail::require_square_systems("pseudo_block_gmres", A, columns, b, x, options);
  Context<B>& context = A.context();
  work.vectors.require("pseudo_block_gmres", context, shape(A.rows(), columns));
  detail::Lockstep<T, B> at("pseudo_block_gmres", A, columns, b, x, options, 2, work.vectors);
  Arnoldis<T, B> arnoldis(at, context, work);
  const auto begin = [&](std::int64_t s) { arnoldis.start(s); };

  at.start(begin);
  while (at.size() > 0) {
    if (M != nullptr) at.apply(*M, r, z);  // Z = M V
    at.apply(A, M != nullptr ? z : r, q);  // Q = A M V
    for (std::int64_t s = 0; s < at.size(); ++s) arnoldis.step(s);
    arnoldis.read();
    for (std::int64_t s = 0; s < at.size(); ++s) arnoldis.append(s);
    at.look(
        begin, [&](std::int64_t s) { return arnoldis.advance(s); },
        [&](std::int64_t s, double previous) { return arnoldis.verdict(s, previous); });
  }
  return at.finish();
}

template <class T, class B>
MultiReport pseudo_block_gmres(const LinearOperator<T, B>& A, std::int64_t columns,
                               std::type_identity_t<Span<const T, B>> b,
                               std::type_identity_t<Span<T, B>> x,
                               const std::type_identity_t<SolveOptions<T, B>>& options,
                               const KrylovBasis& basis) {
  detail::require_square_systems("pseudo_block_gmres", A, columns, b, x, options);
  return detail::solve_with_own(
      [&] { return BlockGmresWorkspace<T, B>(A.context(), A.rows(), columns, basis); },
      [&](auto& work) { return pseudo_block_gmres(A, columns, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                                 \
  template class BlockGmresWorkspace<T, B>;                                                        \
  template MultiReport pseudo_block_gmres(const LinearOperator<T, B>&, std::int64_t,               \
                                          Span<const T, B>, Span<T, B>, const SolveOptions<T, B>&, \
                                          BlockGmresWorkspace<T, B>&);                             \
  template MultiReport pseudo_block_gmres(const LinearOperator<T, B>&, std::int64_t,               \
                                          Span<const T, B>, Span<T, B>, const SolveOptions<T, B>&, \
                                          const KrylovBasis&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
