// SPDX-License-Identifier: BSD-3-Clause
// IDR(s) with biorthogonal residuals, restarted where it breaks down or has drifted.
#include <tansolve/kernels/bicgstab.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/idr.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/solvers/batches.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace tansolve {
namespace {

using detail::Breakdown;

/// Why a run stopped before its tolerance.
template <class T>
std::optional<Breakdown> why_stopped(const IdrSeen& seen) {
  const auto [divisor, norm, length] = std::array{seen.divisor, seen.norm, seen.length};
  constexpr double eps = std::numeric_limits<T>::epsilon();
  switch (seen.end) {
    case IdrEnd::no_step:
      if (std::abs(divisor) <= eps * norm)
        return {{Status::breakdown, fmt::format("p'g = {:g}, where ||g|| = {:g}", divisor, norm)}};
      return {{Status::not_finite, fmt::format("p'g = {:g}, ||g|| = {:g}", divisor, norm)}};
    case IdrEnd::no_omega:
      if (divisor == 0) return {{Status::breakdown, "omega = 0: r'A M r = 0"}};
      return {{Status::not_finite, fmt::format("r'A M r = {:g}, ||A M r|| = {:g}", divisor, norm)}};
    case IdrEnd::not_finite:
      return {{Status::not_finite, fmt::format("||r|| = {:g}", norm)}};
    default:
      return {};
  }
}

/// One solve. A cycle makes r orthogonal to p_0, ..., p_(s-1) one after another, along g_k = A u_k
/// that are orthogonal to the p_i of i < k, and then reduces it along t = A M r: its next residuals
/// lie in a space of s dimensions fewer.
template <class T, class B>
class Idr {
 public:
  Idr(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, Workspace<T, B>& work,
      std::int64_t s, Span<T, B> x)
      : A_(&A), M_(M), work_(&work), s_(s), x_(x) {
    for (std::int64_t i = 0; i < s; ++i) {
      p_[i] = work.vector(2 + i);
      g_[i] = work.vector(2 + s + i);
      u_[i] = work.vector(2 + 2 * s + i);
    }
  }

  Span<T, B> r() { return work_->vector(0); }
  Span<T, B> v() { return work_->vector(1); }  ///< r - G c, then t
  Scalar<T, B>& rt() { return work_->scalar(state_scalars); }

  /// P with orthonormal columns; orthogonalised twice, which is enough.
  void make_shadow(std::uint64_t seed) {
    Context<B>& context = A_->context();
    for (std::int64_t k = 0; k < s_; ++k) {
      fill_random(context, seed + k, p_[k]);
      for (int repeat = 0; repeat < 2; ++repeat) {
        for (std::int64_t i = 0; i < k; ++i) {
          dot(context, p_[i], p_[k], rt());
          axpby(context, -read(context, rt()), p_[i], 1, p_[k]);
        }
        scale(context, static_cast<T>(1 / detail::norm_of<T, B>(context, p_[k], rt())), p_[k]);
      }
    }
  }

  /// From r, with G = U = 0 and P'G = 1, by which the first cycle's steps are along M r.
  detail::Run run(detail::Scaling<T> to, detail::Progress<T, B>& progress) {
    start(to);
    const std::int64_t cycles = std::max<std::int64_t>(detail::batch_size / (s_ + 1), 1);
    detail::Batches<T, B> batches(
        *A_, M_, 1, [this](std::int64_t i) { iterate(i % (s_ + 1)); }, cycles * (s_ + 1));
    detail::Run run;
    std::int64_t i = 0;
    while (!(run.met || run.breakdown || progress.stopped())) {
      batches.issue(progress.iterations_left());
      const IdrSeen seen = look();
      bool stopped = false;
      for (; i < seen.steps; ++i) {
        stopped = progress.stopped();
        progress.record(to.sigma * seen.r_norms[i % IdrSeen::kept]);
      }
      run.met = seen.end == IdrEnd::met && !stopped;  // else the earlier reason counts
      if (!progress.stopped()) run.breakdown = why_stopped<T>(seen);
    }
    return run;
  }

 private:
  static constexpr std::int64_t state_scalars = sizeof(IdrState) / sizeof(T);

  IdrSpace<T, B> space() {
    const auto size = static_cast<std::size_t>(s_);
    return {{reinterpret_cast<IdrState*>(work_->scalar(0).data()), 1},
            std::span(p_).first(size),
            std::span(g_).first(size),
            std::span(u_).first(size)};
  }

  void start(detail::Scaling<T> to) {
    Context<B>& context = A_->context();
    for (std::int64_t i = 0; i < s_; ++i) {
      fill(context, 0, g_[i]);
      fill(context, 0, u_[i]);
    }
    IdrState state;
    state.sigma = to.sigma;
    state.enough = to.enough;
    for (std::int64_t i = 0; i < s_; ++i) state.m[i][i] = 1;
    copy_from_host<T>(context, {reinterpret_cast<const T*>(&state), state_scalars},
                      {work_->scalar(0).data(), state_scalars});
    idr_begin(context, space(), r());
  }

  IdrSeen look() {
    constexpr std::int64_t count = sizeof(IdrSeen) / sizeof(T);
    IdrSeen seen;
    copy_to_host<T>(A_->context(), work_->scalars(0, count),
                    std::span(reinterpret_cast<T*>(&seen), count));
    return seen;
  }

  void iterate(std::int64_t k) {
    Context<B>& context = A_->context();
    if (k == s_) return last_step();
    if (M_ != nullptr) {
      idr_rest(context, space(), k, r(), v());
      M_->apply(v(), z());
      idr_direction(context, space(), k, z());  // u_k = omega M v + U c
    } else {
      idr_rest_direction(context, space(), k, r());
    }
    A_->apply(u_[k], g_[k]);
    idr_image(context, space(), k);
    idr_step(context, space(), k, x_, r());  // r orthogonal to p_k, too
  }

  void last_step() {
    Context<B>& context = A_->context();
    const Span<T, B> t = v(), y = M_ != nullptr ? z() : r();
    Scalar<T, B>& t_norm = work_->scalar(state_scalars + 1);
    if (M_ != nullptr) {
      M_->apply(r(), y);
      A_->apply(y, t);
      dot_and_norm(context, r(), t, rt(), t_norm);
    } else {
      A_->apply_dot(r(), t, rt());
      norm2(context, t, t_norm);
    }
    idr_last_step(context, space(), rt(), t_norm, y, t, x_, r());
  }

  Span<T, B> z() { return work_->vector(2 + 3 * s_); }  // M v or M r

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  Workspace<T, B>* work_;
  std::int64_t s_;
  Span<T, B> x_;
  std::array<Span<T, B>, IdrState::most> p_, g_, u_;
};

void require_shadow(IdrShadow shadow) {
  if (shadow.dimension < 1 || shadow.dimension > IdrState::most)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("idr: a shadow space of {} dimensions, it must be from 1 to {}",
                            shadow.dimension, IdrState::most));
}

}  // namespace

// Invariant: x and r with sigma r = b - A x up to rounding; g_k = A u_k; P'G lower triangular.
// Holds 3 s + 2 vectors beside b and x (one more with M). A cycle of s + 1 iterations: s + 1
// products, 3 s^2 + 14 s + 8 passes over vectors, the products' 2 s + 2 included,
// s^2 + 3 s + 3 reductions; each iteration 1 transfer, on a GPU 1 a batch; M adds its products and
// 2 s + 2 passes. With s = 4, for these 5 iterations: 112 passes, 31 reductions. A solve begins
// with 5 s^2 + 2 s passes, for P; a run beside its iterations: 1 product, 3 s + 9 passes.
// Iterations that were issued beyond the last wanted change neither x nor r.
template <class T, class B>
Report idr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options, IdrShadow shadow,
           std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  require_square_system("idr", A, b, x, options);
  require_shadow(shadow);
  Context<B>& context = A.context();
  work.require("idr", context, idr_workspace(A.rows(), M != nullptr, shadow));
  const std::int64_t s = std::min(A.rows(), shadow.dimension);

  detail::Progress<T, B> progress("idr", A, options, work.bytes());
  Idr<T, B> idr(A, M, work, s, x);
  idr.make_shadow(shadow.seed);
  return detail::solve_by_runs(
      progress, context, b, x, idr.r(), idr.rt(),
      [&](detail::Scaling<T> to) { return idr.run(to, progress); },
      detail::ProbeSpace<T, B>{&A, idr.v(), work.vector(2 + s)});
}

template <class T, class B>
Report idr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
           std::type_identity_t<Span<T, B>> x,
           const std::type_identity_t<SolveOptions<T, B>>& options, IdrShadow shadow) {
  require_shadow(shadow);
  return detail::solve_with_own_workspace(
      "idr", A, b, x, options, idr_workspace(A.rows(), options.preconditioner != nullptr, shadow),
      [&](Workspace<T, B>& work) { return idr(A, b, x, options, shadow, work); });
}

#define TANSOLVE_INSTANTIATE(T, B)                                               \
  template Report idr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&, IdrShadow, Workspace<T, B>&);   \
  template Report idr(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>, \
                      const SolveOptions<T, B>&, IdrShadow);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
