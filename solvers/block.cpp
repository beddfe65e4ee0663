// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients and BiCGSTAB for several right-hand sides, step by step side by side.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/bicgstab_breakdown.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/cg_breakdown.hpp>
#include <tansolve/solvers/lockstep.hpp>

#include <algorithm>
#include <ostream>

namespace tansolve {

bool MultiReport::solved() const {
  return std::ranges::all_of(columns, &Report::solved);
}

std::ostream& operator<<(std::ostream& out, const MultiReport& report) {
  for (std::size_t c = 0; c < report.columns.size(); ++c)
    out << "column " << c + 1 << " of " << report.columns.size() << '\n' << report.columns[c];
  return out << report.products << " products in " << report.block_products << " calls, "
             << report.seconds << " s\n";
}

namespace {

using detail::Column;

/// d += alpha p, r -= alpha q with alpha = rho / p'q, or why not.
template <class T, class B>
void take_cg_step(Context<B>& context, Column<T, B>& c, T pq, Span<T, B> p, Span<T, B> q,
                  Span<T, B> d, Span<T, B> r, Scalar<T, B>& scalar) {
  const T alpha = static_cast<T>(c.rho / pq);
  if (c.rho > 0 && pq > 0 && alpha > 0 && std::isfinite(c.to.sigma * alpha)) {
    axpby(context, alpha, p, 1, d);
    axpby(context, -alpha, q, 1, r);
  } else {
    c.run.breakdown = detail::why_no_step(c.rho, pq, detail::norm_of<T, B>(context, q, scalar));
  }
}

/// r becomes s = r - alpha v with alpha = r0'r / r0'v, unless that breaks down.
template <class T, class B>
void take_alpha(Context<B>& context, Column<T, B>& c, T r0_v, T v_norm, Span<T, B> v,
                Span<T, B> r) {
  c.alpha = c.rho / r0_v;
  c.run.breakdown =
      detail::no_alpha<T>(r0_v, c.r0_norm, v_norm, static_cast<T>(c.to.sigma * c.alpha));
  if (!c.run.breakdown) axpby(context, static_cast<T>(-c.alpha), v, 1, r);
}

/// d += alpha y + omega z, r = s - omega t with the omega of the least norm, unless that breaks
/// down.
template <class T, class B>
void take_omega(Context<B>& context, Column<T, B>& c, T st, T t_norm, Span<T, B> y, Span<T, B> z,
                Span<T, B> t, Span<T, B> d, Span<T, B> r) {
  c.omega = t_norm > 0 ? st / double{t_norm} / t_norm : 0;
  c.run.breakdown = detail::no_omega(st, t_norm, static_cast<T>(c.to.sigma * c.omega));
  if (c.run.breakdown) return;
  axpbypcz(context, static_cast<T>(c.alpha), y, static_cast<T>(c.omega), z, 1, d);
  axpby(context, static_cast<T>(-c.omega), t, 1, r);
}

/// p = r + beta (p - omega v), unless the residual is small enough or there is no direction.
template <class T, class B>
void take_direction(Context<B>& context, Column<T, B>& c, T r0_r, T r_norm, Span<T, B> r,
                    Span<T, B> v, Span<T, B> p) {
  if (std::isfinite(r_norm)) c.progress.record(c.to.sigma * r_norm);
  c.run.met = r_norm <= c.to.enough;
  if (c.run.met) return;
  c.run.breakdown = detail::no_direction<T>(r0_r, c.r0_norm, r_norm, c.omega);
  const double beta = r0_r / std::exchange(c.rho, r0_r) * (c.alpha / c.omega);
  if (!c.run.breakdown)
    axpbypcz(context, 1, r, static_cast<T>(-beta * c.omega), v, static_cast<T>(beta), p);
}

}  // namespace

// Invariant: of each column that of cg. Holds 4 vectors a column beside b and x (5 with M). An
// iteration, a column: 1 product, 15 passes over vectors, the product's 2 included, 2 reductions;
// and 2 transfers for all columns together; M adds its product and 2 passes, 1 reduction and 1
// transfer for r'Mr. A run of a column beside its iterations: 1 product, 16 passes.
template <class T, class B>
MultiReport pseudo_block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                            std::type_identity_t<Span<const T, B>> b,
                            std::type_identity_t<Span<T, B>> x,
                            const std::type_identity_t<SolveOptions<T, B>>& options,
                            std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  const std::int64_t n = A.rows();
  detail::require_square_systems("pseudo_block_cg", A, columns, b, x, options);
  Context<B>& context = A.context();
  work.require("pseudo_block_cg", context, pseudo_block_cg_workspace(n, columns, M != nullptr));
  constexpr std::int64_t r = 0, d = 1, p = 2, q = 3;  // blocks: those up to p are the columns'
  const std::int64_t z = M != nullptr ? 4 : r;
  constexpr std::int64_t pq = 0, rr = 1, rho = 2;  // kinds of scalars
  std::vector<T> seen;

  detail::Lockstep<T, B> at("pseudo_block_cg", A, columns, b, x, options, 3, work);
  if (options.probe_symmetry)
    at.warn(probe_symmetry(A, at.column(r, 0), at.column(p, 0), at.column(q, 0), at.scalar(pq, 0),
                           at.scalar(rr, 0)));
  const auto begin = [&](std::int64_t s) {
    dot(context, at.column(r, s), at.column(r, s), at.scalar(rr, s));
    at[s].rr = read(context, at.scalar(rr, s));
    fill(context, 0, at.column(p, s));
    at[s].rho = 1;  // with p = 0: the first direction is z
  };
  at.start(begin);
  while (at.size() > 0) {
    if (M != nullptr) {
      at.apply(*M, r, z);  // Z = M R
      for (std::int64_t s = 0; s < at.size(); ++s)
        dot(context, at.column(r, s), at.column(z, s), at.scalar(rho, s));
      at.read(rho, seen);
    }
    for (std::int64_t s = 0; s < at.size(); ++s) {  // p = z + (rho / rho_old) p
      const double next = M != nullptr ? static_cast<double>(seen[s]) : at[s].rr;
      const double beta = next / std::exchange(at[s].rho, next);
      axpby(context, 1, at.column(z, s), static_cast<T>(beta), at.column(p, s));
    }
    at.apply(A, p, q);  // Q = A P
    for (std::int64_t s = 0; s < at.size(); ++s)
      dot(context, at.column(p, s), at.column(q, s), at.scalar(pq, s));
    at.read(pq, seen);
    for (std::int64_t s = 0; s < at.size(); ++s) {
      take_cg_step(context, at[s], seen[s], at.column(p, s), at.column(q, s), at.column(d, s),
                   at.column(r, s), at.scalar(pq, s));
      dot(context, at.column(r, s), at.column(r, s), at.scalar(rr, s));
    }
    at.read(rr, seen);
    for (std::int64_t s = 0; s < at.size(); ++s)
      if (!at[s].run.breakdown) detail::record_square(at[s], seen[s]);
    at.look(begin);
  }
  return at.finish();
}

// Invariant: of each column that of bicgstab. Holds 6 vectors a column beside b and x (8 with M).
// An iteration, a column: 2 products, 27 passes over vectors, the products' 4 included, 6
// reductions; and 6 transfers for all columns together; M adds its 2 products. A run of a column
// beside its iterations: 1 product, 18 passes.
template <class T, class B>
MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>& A, std::int64_t columns,
                                  std::type_identity_t<Span<const T, B>> b,
                                  std::type_identity_t<Span<T, B>> x,
                                  const std::type_identity_t<SolveOptions<T, B>>& options,
                                  std::type_identity_t<Workspace<T, B>>& work) {
  const LinearOperator<T, B>* M = options.preconditioner;
  detail::require_square_systems("pseudo_block_bicgstab", A, columns, b, x, options);
  Context<B>& context = A.context();
  work.require("pseudo_block_bicgstab", context,
               pseudo_block_bicgstab_workspace(A.rows(), columns, M != nullptr));
  constexpr std::int64_t r = 0, d = 1, p = 2, r0 = 3, v = 4, t = 5;  // blocks; s is r
  const std::int64_t y = M != nullptr ? 6 : p, z = M != nullptr ? 7 : r;
  std::vector<T> first, second;

  detail::Lockstep<T, B> at("pseudo_block_bicgstab", A, columns, b, x, options, 4, work);
  at.probe_with(v, t);
  const auto begin = [&](std::int64_t s) {
    copy(context, at.column(r, s), at.column(r0, s));
    copy(context, at.column(r, s), at.column(p, s));
    at[s].r0_norm = detail::norm_of<T, B>(context, at.column(r, s), at.scalar(0, s));
    at[s].rho = static_cast<T>(at[s].r0_norm * at[s].r0_norm);  // r0'r, as bicgstab has it
  };
  // Reads u'w and ||w|| of every column.
  const auto reduce = [&](std::int64_t u, std::int64_t w) {
    for (std::int64_t s = 0; s < at.size(); ++s) {
      dot(context, at.column(u, s), at.column(w, s), at.scalar(0, s));
      norm2(context, at.column(w, s), at.scalar(1, s));
    }
    at.read(0, first);
    at.read(1, second);
  };
  at.start(begin);
  while (at.size() > 0) {
    if (M != nullptr) at.apply(*M, p, y);  // Y = M P
    at.apply(A, y, v);                     // V = A M P
    reduce(r0, v);
    for (std::int64_t s = 0; s < at.size(); ++s)
      take_alpha(context, at[s], first[s], second[s], at.column(v, s), at.column(r, s));
    if (M != nullptr) at.apply(*M, r, z);  // Z = M S
    at.apply(A, z, t);                     // T = A M S
    reduce(r, t);
    for (std::int64_t s = 0; s < at.size(); ++s)
      if (!at[s].run.breakdown)
        take_omega(context, at[s], first[s], second[s], at.column(y, s), at.column(z, s),
                   at.column(t, s), at.column(d, s), at.column(r, s));
    reduce(r0, r);
    for (std::int64_t s = 0; s < at.size(); ++s)
      if (!at[s].run.breakdown)
        take_direction(context, at[s], first[s], second[s], at.column(r, s), at.column(v, s),
                       at.column(p, s));
    at.look(begin);
  }
  return at.finish();
}

template <class T, class B>
MultiReport pseudo_block_cg(const LinearOperator<T, B>& A, std::int64_t columns,
                            std::type_identity_t<Span<const T, B>> b,
                            std::type_identity_t<Span<T, B>> x,
                            const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_columns_with_own_workspace(
      "pseudo_block_cg", A, columns, b, x, options,
      pseudo_block_cg_workspace(A.rows(), columns, options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) { return pseudo_block_cg(A, columns, b, x, options, work); });
}

template <class T, class B>
MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>& A, std::int64_t columns,
                                  std::type_identity_t<Span<const T, B>> b,
                                  std::type_identity_t<Span<T, B>> x,
                                  const std::type_identity_t<SolveOptions<T, B>>& options) {
  return detail::solve_columns_with_own_workspace(
      "pseudo_block_bicgstab", A, columns, b, x, options,
      pseudo_block_bicgstab_workspace(A.rows(), columns, options.preconditioner != nullptr),
      [&](Workspace<T, B>& work) {
        return pseudo_block_bicgstab(A, columns, b, x, options, work);
      });
}

#define TANSOLVE_INSTANTIATE(T, B)                                                               \
  template MultiReport pseudo_block_cg(const LinearOperator<T, B>&, std::int64_t,                \
                                       Span<const T, B>, Span<T, B>, const SolveOptions<T, B>&,  \
                                       Workspace<T, B>&);                                        \
  template MultiReport pseudo_block_cg(const LinearOperator<T, B>&, std::int64_t,                \
                                       Span<const T, B>, Span<T, B>, const SolveOptions<T, B>&); \
  template MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>&, std::int64_t,          \
                                             Span<const T, B>, Span<T, B>,                       \
                                             const SolveOptions<T, B>&, Workspace<T, B>&);       \
  template MultiReport pseudo_block_bicgstab(const LinearOperator<T, B>&, std::int64_t,          \
                                             Span<const T, B>, Span<T, B>,                       \
                                             const SolveOptions<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
