// SPDX-License-Identifier: BSD-3-Clause
// Block conjugate gradients whose directions are orthonormal, as many as are independent.
#include <tansolve/kernels/block.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/lockstep.hpp>
#include <tansolve/solvers/small_matrix.hpp>

#include <utility>

namespace tansolve {
namespace {

using detail::Breakdown;

constexpr std::int64_t r = 0, d = 1, q = 3;  // blocks; p and z are 2 and 4, or 4 and 2

/// The directions P, and what is made of them by small matrices.
template <class T, class B>
class Directions {
 public:
  Directions(Context<B>& context, BlockCgWorkspace<T, B>& work, std::int64_t n,
             std::int64_t columns)
      : context_(&context),
        work_(&work),
        n_(n),
        pq_(columns * columns),
        small_(columns * columns),
        factor_(columns * columns),
        rounded_(columns * columns) {}

  std::int64_t count() const { return count_; }
  Span<T, B> P() const { return block(p_, count_); }
  Span<T, B> Q() const { return block(q, count_); }
  Span<T, B> Z(std::int64_t k) const { return block(z_, k); }

  /// P = an orthonormal basis of the k columns of Z, by their Gram matrix, twice: the first time
  /// errs by rounding times the squared condition of those that are kept. False where Z is not
  /// finite.
  bool take(std::int64_t k) {
    const double eps = std::numeric_limits<T>::epsilon();
    count_ = orthonormalise(k, 8 * static_cast<double>(k) * eps);
    if (count_ > 0) {
      std::swap(p_, z_);
      count_ = orthonormalise(count_, 0.01);
    }
    return count_ >= 0;
  }

  /// P'Q = L L', Q being A P. Says why not, if not.
  std::optional<Breakdown> factor() {
    product(count_, P(), count_, Q(), pq_);
    const auto [good, bad] = detail::cholesky(count_, 4 * std::numeric_limits<T>::epsilon(), pq_);
    if (good == count_) return {};
    const std::string what = fmt::format("a pivot of P'AP is {:g}, P orthonormal", bad);
    if (!std::isfinite(bad)) return {{Status::not_finite, what}};
    return {{bad < 0 ? Status::indefinite_operator : Status::breakdown, what}};
  }

  /// alpha = (P'Q)^-1 P'R for k columns: D += P alpha, R -= Q alpha. False, and nothing is
  /// changed, where alpha is not finite.
  bool step(std::int64_t k, Span<T, B> R, Span<T, B> D) {
    product(count_, P(), k, R, small_);
    detail::cholesky_solve(count_, pq_, k, small_);
    for (std::int64_t i = 0; i < count_ * k; ++i)
      if (!std::isfinite(static_cast<T>(small_[i]))) return false;
    combine(*context_, count_, P(), upload(count_ * k, 1), 1, k, D);
    combine(*context_, count_, Q(), upload(count_ * k, -1), 1, k, R);
    return true;
  }

  /// Z -= P (P'Q)^-1 Q'Z: A-orthogonal to P.
  void turn(std::int64_t k) {
    product(count_, Q(), k, Z(k), small_);
    detail::cholesky_solve(count_, pq_, k, small_);
    combine(*context_, count_, P(), upload(count_ * k, -1), 1, k, Z(k));
  }

 private:
  Span<T, B> block(std::int64_t i, std::int64_t k) const {
    return work_->vectors.vector(i).subspan(0, k * n_);
  }

  /// X'Y on the host.
  void product(std::int64_t j, Span<T, B> X, std::int64_t k, Span<T, B> Y,
               std::vector<double>& to) {
    const Span<double, B> G = work_->gram.span().subspan(0, j * k);
    gram<T>(*context_, j, X, k, Y, G);
    copy_to_host(*context_, G, std::span(to.data(), j * k));
  }

  Span<const T, B> upload(std::int64_t count, double sign) {
    for (std::int64_t i = 0; i < count; ++i) rounded_[i] = static_cast<T>(sign * small_[i]);
    const Span<T, B> to = work_->small.span().subspan(0, count);
    copy_from_host(*context_, std::span(rounded_.data(), count), to);
    return to;
  }

  /// The block p = the k columns of the block z, made orthonormal. Returns their rank.
  std::int64_t orthonormalise(std::int64_t k, double rounding) {
    product(k, Z(k), k, Z(k), pq_);
    const std::int64_t rank = detail::orthonormalising(k, rounding, pq_, factor_, small_);
    if (rank > 0) combine(*context_, k, Z(k), upload(k * rank, 1), 0, rank, block(p_, rank));
    return rank;
  }

  Context<B>* context_;
  BlockCgWorkspace<T, B>* work_;
  std::int64_t n_, count_ = 0, p_ = 2, z_ = 4;
  std::vector<double> pq_, small_, factor_;
  std::vector<T> rounded_;
};

}  // namespace

// Invariant: sigma_c r_c = b - A x and R'P = 0 for the last P, whose columns are orthonormal and
// span Z = M R and the P before it, made A-orthogonal to that. P may have fewer columns than R.
// Holds 5 vectors a column beside b and x. An iteration of k columns and as many directions, k up
// to 4: k products and, a column, 29 passes over vectors, the product's 2 included; 6 transfers
// from the device and 5 to it, and M adds its products less 2 passes. Above, small products read a
// block every 4 columns anew. A run of a column beside its iterations: 1 product, 13 passes; the
// first iteration, which has no P before it, takes 5 fewer.
template <class T, class B>
MultiReport block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                     std::type_identity_t<Span<const T, B>> b, std::type_identity_t<Span<T, B>> x,
                     const std::type_identity_t<SolveOptions<T, B>>& options,
                     std::type_identity_t<BlockCgWorkspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  detail::require_square_systems("block_cg", A, columns, b, x, options);
  Context<B>& context = A.context();
  work.vectors.require("block_cg", context, BlockCgWorkspace<T, B>::shape(A.rows(), columns));
  detail::Lockstep<T, B> at("block_cg", A, columns, b, x, options, 2, work.vectors);
  if (options.probe_symmetry)
    at.warn(probe_symmetry(A, at.column(r, 0), at.column(q, 0), at.column(2, 0), at.scalar(0, 0),
                           at.scalar(1, 0)));
  Directions<T, B> directions(context, work, A.rows(), columns);
  std::vector<T> rr;
  const auto begin = [](std::int64_t) {};  // a fresh r joins the block as it is
  const auto precondition = [&] {
    if (M == nullptr) return copy(context, at.block(r), directions.Z(at.size()));
    M->apply_block(at.size(), at.block(r), directions.Z(at.size()));
    at.took_part(true);
  };
  const auto end_all = [&](const Breakdown& why) {
    for (std::int64_t s = 0; s < at.size(); ++s) at[s].run.breakdown = why;
    at.look(begin);
  };

  at.start(begin);
  bool afresh = true;
  while (at.size() > 0) {
    precondition();  // Z = M R
    if (!afresh) directions.turn(at.size());
    afresh = false;
    if (!directions.take(at.size()) || directions.count() == 0) {
      end_all(directions.count() < 0
                  ? Breakdown{Status::not_finite, "the directions M r"}
                  : Breakdown{Status::breakdown, "M r = 0 for residuals that are not 0"});
      afresh = true;
      continue;
    }
    A.apply_block(directions.count(), directions.P(), directions.Q());  // Q = A P
    at.took_part(false);
    if (const auto breakdown = directions.factor()) {
      end_all(*breakdown);
      afresh = true;
      continue;
    }
    if (!directions.step(at.size(), at.block(r), at.block(d))) {
      end_all({Status::not_finite, "the step (P'AP)^-1 P'r overflows"});
      afresh = true;
      continue;
    }
    for (std::int64_t s = 0; s < at.size(); ++s)
      dot(context, at.column(r, s), at.column(r, s), at.scalar(0, s));
    at.read(0, rr);
    for (std::int64_t s = 0; s < at.size(); ++s) detail::record_square(at[s], rr[s]);
    at.look(begin);
  }
  return at.finish();
}

template <class T, class B>
MultiReport block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                     std::type_identity_t<Span<const T, B>> b, std::type_identity_t<Span<T, B>> x,
                     const std::type_identity_t<SolveOptions<T, B>>& options) {
  detail::require_square_systems("block_cg", A, columns, b, x, options);
  return detail::solve_with_own(
      [&] { return BlockCgWorkspace<T, B>(A.context(), A.rows(), columns); },
      [&](auto& work) { return block_cg(A, columns, b, x, options, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                               \
  template MultiReport block_cg(const LinearOperator<T, B>&, std::int64_t, Span<const T, B>,     \
                                Span<T, B>, const SolveOptions<T, B>&, BlockCgWorkspace<T, B>&); \
  template MultiReport block_cg(const LinearOperator<T, B>&, std::int64_t, Span<const T, B>,     \
                                Span<T, B>, const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
