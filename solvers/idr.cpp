// SPDX-License-Identifier: BSD-3-Clause
// IDR(s) with biorthogonal residuals, restarted where it breaks down or has drifted.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <fmt/format.h>

namespace tansolve {
namespace {

using detail::Breakdown;

constexpr std::int64_t most = 16;  // vectors of the shadow space
using Numbers = std::array<double, most + 1>;

/// Consecutive vectors of a workspace.
template <class T, class B>
struct Family {
  Workspace<T, B>* work;
  std::int64_t first;
  Span<T, B> operator[](std::int64_t i) const { return work->vector(first + i); }
};

/// z = beta z + sum_i c_i v_i for the terms c_i v_i, two of them a pass over z.
template <class T, class B>
class Combination {
 public:
  void add(double c, Span<T, B> v) { terms_[count_++] = {static_cast<T>(c), v}; }
  void into(Context<B>& context, double beta, Span<T, B> z) const {
    T b = static_cast<T>(beta);
    for (std::int64_t i = 0; i < count_; i += 2, b = 1) {
      const auto& [c, v] = terms_[i];
      if (i + 1 < count_)
        axpbypcz(context, c, v, terms_[i + 1].c, terms_[i + 1].v, b, z);
      else
        axpby(context, c, v, b, z);
    }
  }

 private:
  struct Term {
    T c;
    Span<T, B> v;
  };
  std::array<Term, most + 1> terms_;
  std::int64_t count_ = 0;
};

/// Why g = A u is of no use as the k-th of its cycle, if it is not. Below the rounding errors of
/// its sum, p'g is as good as 0.
template <class T>
std::optional<Breakdown> no_step(double pg, double g_norm, double step) {
  if (std::abs(pg) <= std::numeric_limits<T>::epsilon() * g_norm)
    return {{Status::breakdown, fmt::format("p'g = {:g}, where ||g|| = {:g}", pg, g_norm)}};
  if (std::isfinite(pg) && std::isfinite(g_norm) && std::isfinite(step)) return {};
  return {{Status::not_finite, fmt::format("p'g = {:g}, ||g|| = {:g}", pg, g_norm)}};
}

/// The same of the last step of a cycle, omega = r't / t't with t = A M r.
std::optional<Breakdown> no_omega_step(double rt, double t_norm, double step) {
  if (rt == 0) return {{Status::breakdown, "omega = 0: r'A M r = 0"}};
  if (std::isfinite(rt) && std::isfinite(t_norm) && std::isfinite(step)) return {};
  return {{Status::not_finite, fmt::format("r'A M r = {:g}, ||A M r|| = {:g}", rt, t_norm)}};
}

/// r't / t't, enlarged where r and t are nearly orthogonal: a residual that grows somewhat is
/// better than directions that lose their accuracy (Sleijpen and van der Vorst, Numer. Algorithms
/// 10 (1995)).
double omega_of(double rt, double t_norm, double r_norm) {
  constexpr double least_cosine = 0.7;
  const double cosine = std::abs(rt / t_norm / r_norm);
  return rt / t_norm / t_norm * (cosine < least_cosine ? least_cosine / cosine : 1);
}

/// One solve. A cycle makes r orthogonal to p_0, ..., p_(s-1) one after another, along g_k = A u_k
/// that are orthogonal to the p_i of i < k, and then reduces it along A M r: its next residuals lie
/// in a space of s dimensions fewer.
template <class T, class B>
struct Idr {
  Context<B>& context;
  const LinearOperator<T, B>& A;
  const LinearOperator<T, B>* M;
  detail::Progress<T, B>& progress;
  Workspace<T, B>& work;
  std::int64_t s;
  Span<T, B> x, r, v, z;  // z = M v, which is v without M
  Family<T, B> p, g, u;

  double sigma = 1;               // sigma r = b - A x
  double r_norm = 0;              // ||r||
  double omega = 1;               // of the cycle before
  Numbers f{};                    // P'r
  std::array<Numbers, most> m{};  // m[i][j] = p_i'g_j, 0 for i < j

  /// P with orthonormal columns; orthogonalised twice, which is enough.
  void make_shadow(std::uint64_t seed) {
    Scalar<T, B>& scalar = work.scalar(0);
    for (std::int64_t k = 0; k < s; ++k) {
      fill_random(context, seed + k, p[k]);
      for (int repeat = 0; repeat < 2; ++repeat) {
        for (std::int64_t i = 0; i < k; ++i) {
          dot(context, p[i], p[k], scalar);
          axpby(context, -read(context, scalar), p[i], 1, p[k]);
        }
        scale(context, static_cast<T>(1 / detail::norm_of<T, B>(context, p[k], scalar)), p[k]);
      }
    }
  }

  /// P'w, and ||w|| behind it.
  Numbers project(Span<T, B> w) {
    for (std::int64_t i = 0; i < s; ++i) dot(context, p[i], w, work.scalar(i));
    norm2(context, w, work.scalar(s));
    std::array<T, most + 1> values;
    copy_to_host<T>(context, work.scalars(0, s + 1), std::span(values.data(), s + 1));
    Numbers h{};
    std::copy_n(values.begin(), s + 1, h.begin());
    return h;
  }

  /// c with sum_j m[i][j] c_j = h_i for first <= i, j < last.
  Numbers solve(std::int64_t first, std::int64_t last, const Numbers& h) const {
    Numbers c{};
    for (std::int64_t i = first; i < last; ++i) {
      c[i] = h[i];
      for (std::int64_t j = first; j < i; ++j) c[i] -= m[i][j] * c[j];
      c[i] /= m[i][i];
    }
    return c;
  }

  /// x and r along a direction and its image under A.
  std::optional<Breakdown> advance(double step, Span<T, B> direction, Span<T, B> image) {
    axpby(context, static_cast<T>(sigma * step), direction, 1, x);
    axpby(context, static_cast<T>(-step), image, 1, r);
    r_norm = detail::norm_of<T, B>(context, r, work.scalar(s));
    if (!std::isfinite(r_norm)) return {{Status::not_finite, fmt::format("||r|| = {:g}", r_norm)}};
    progress.record(sigma * r_norm);
    return {};
  }

  /// Makes r orthogonal to p_k; g_i and u_i of k <= i < known are those of the cycle before.
  std::optional<Breakdown> step(std::int64_t k, std::int64_t known) {
    const Numbers c = solve(k, known, f);
    Combination<T, B> rest, direction, image_part, direction_part;
    rest.add(1, r);
    for (std::int64_t i = k; i < known; ++i) rest.add(-c[i], g[i]);
    rest.into(context, 0, v);  // v = r - sum_i c_i g_i, orthogonal to every p_i
    if (M != nullptr) M->apply(v, z);
    direction.add(omega, z);
    for (std::int64_t i = k + 1; i < known; ++i) direction.add(c[i], u[i]);
    direction.into(context, c[k], u[k]);  // u_k = omega M v + sum_i c_i u_i
    A.apply(u[k], g[k]);
    const Numbers h = project(g[k]), a = solve(0, k, h);
    for (std::int64_t i = 0; i < k; ++i) {
      image_part.add(-a[i], g[i]);
      direction_part.add(-a[i], u[i]);
    }
    image_part.into(context, 1, g[k]);  // orthogonal to the p_i of i < k
    direction_part.into(context, 1, u[k]);
    for (std::int64_t i = k; i < s; ++i) {
      m[i][k] = h[i];
      for (std::int64_t j = 0; j < k; ++j) m[i][k] -= m[i][j] * a[j];
    }
    const double beta = f[k] / m[k][k];
    if (auto broken = no_step<T>(m[k][k], h[s], static_cast<T>(sigma * beta))) return broken;
    for (std::int64_t i = k; i < s; ++i) f[i] -= beta * m[i][k];
    return advance(beta, u[k], g[k]);
  }

  /// r - omega A M r, with the next omega.
  std::optional<Breakdown> last_step() {
    const Span<T, B> t = v, y = M != nullptr ? z : r;
    if (M != nullptr) {
      M->apply(r, y);
      A.apply(y, t);
      dot(context, r, t, work.scalar(0));
    } else {
      A.apply_dot(r, t, work.scalar(0));
    }
    norm2(context, t, work.scalar(1));
    const auto [rt, t_norm] = detail::read_scalars<2>(context, work, 0);
    omega = omega_of(rt, t_norm, r_norm);
    if (auto broken = no_omega_step(rt, t_norm, static_cast<T>(sigma * omega))) return broken;
    return advance(omega, y, t);
  }

  detail::Run run(detail::Scaling<T> to) {
    sigma = to.sigma;
    omega = 1;
    detail::Run run;
    const auto going = [&] {
      run.met = r_norm <= to.enough;
      return !(run.met || run.breakdown || progress.stopped());
    };
    for (bool first = true; first || going(); first = false) {
      f = project(r);
      r_norm = f[s];
      for (std::int64_t k = 0; k < s && going(); ++k) run.breakdown = step(k, first ? k : s);
      if (going()) run.breakdown = last_step();
    }
    return run;
  }
};

void require_shadow(IdrShadow shadow) {
  if (shadow.dimension < 1 || shadow.dimension > most)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("idr: a shadow space of {} dimensions, it must be from 1 to {}",
                            shadow.dimension, most));
}

}  // namespace

// Invariant: x and r with sigma r = b - A x up to rounding; g_k = A u_k; P'G lower triangular.
// Holds 3 s + 2 vectors beside b and x (one more with M). A cycle of s + 1 iterations: s + 1
// products, and with s = 4, for these 5: 167 passes over vectors, the products' 10 included, 32
// reductions, 11 reads by the host; M adds its products and 2 passes.
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
  const Span<T, B> r = work.vector(0), v = work.vector(1);
  const Span<T, B> z = M != nullptr ? work.vector(3 * s + 2) : v;

  detail::Progress<T, B> progress("idr", A, options, work.bytes());
  Idr<T, B> idr{context,           A, M, progress, work, s, x, r, v, z, {&work, 2}, {&work, 2 + s},
                {&work, 2 + 2 * s}};
  idr.make_shadow(shadow.seed);
  return detail::solve_by_runs(
      progress, context, b, x, r, work.scalar(0),
      [&](detail::Scaling<T> to) { return idr.run(to); },
      detail::ProbeSpace<T, B>{&A, v, idr.g[0]});
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
