// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers; looks at symmetry and the diagonal, then decides.
#include "method.hpp"
#include "precondition.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/vector.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/minres.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::app {
namespace {

std::string_view kind_needed(Kind kind) {
  return kind == Kind::definite ? "a symmetric positive definite matrix" : "a symmetric matrix";
}

/// As far as symmetry and the diagonal tell.
Kind kind_of(const Traits& traits) {
  if (!traits.seems_symmetric()) return Kind::general;
  return traits.positive_diagonal ? Kind::definite : Kind::symmetric;
}

std::string kind_text(const Traits& traits) {
  const std::string matrix =
      traits.symmetric ? "the matrix is " : "a random probe finds the matrix ";
  if (!traits.seems_symmetric()) return matrix + "not symmetric";
  if (traits.positive_diagonal) return matrix + "symmetric with a positive diagonal";
  return matrix + (traits.negative_diagonal
                       ? "symmetric, but its diagonal is negative: it is not positive definite "
                         "(its negative may be)"
                       : "symmetric, but its diagonal is not positive throughout: it is not "
                         "positive definite");
}

/// The first of the table for matrices of the kind, or else for the next wider one.
std::string_view solver_for(Kind kind) {
  const auto table = all_solvers<double, Host>();
  const SolverEntry<double, Host>* best = nullptr;
  for (const auto& entry : table)
    if (entry.takes >= kind && (best == nullptr || entry.takes < best->takes)) best = &entry;
  return best->name;
}

/// "n of m diagonal elements are ..., first in row ...", for the elements that are not `fit`.
template <class T, class Fit>
std::string unfit_elements(const std::vector<T>& diagonal, const char* what, const Fit& fit) {
  std::size_t unfit = 0, first = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    if (fit(diagonal[i])) continue;
    if (unfit++ == 0) first = i;
  }
  if (unfit == 0) return {};
  return fmt::format("{} of {} diagonal elements are {}, first in row {} (counting from 1): {}",
                     unfit, diagonal.size(), what, first + 1, diagonal[first]);
}

void choose_solver(const Traits& traits, const std::string& asked, Method& method) {
  const bool automatic = asked == "auto";
  const Kind kind = traits.not_finite.empty() ? kind_of(traits) : Kind::general;
  method.solver = automatic ? std::string(solver_for(kind)) : asked;
  method.solver_reason = automatic ? "" : "asked for; ";
  method.solver_reason += traits.not_finite.empty() ? kind_text(traits) : traits.not_finite;
  const Kind takes = solver_named<double, Host>(method.solver).takes;
  if (takes < kind) method.solver_reason += fmt::format("; {} needs {}", asked, kind_needed(takes));
}

/// Of natural blocks, from which on they are taken for the unknowns of nodes.
constexpr double least_rows_a_block = 1.9;

void choose_preconditioner(const Traits& traits, const std::string& asked, bool any_sign,
                           Method& method) {
  method.automatic_preconditioner = asked == "auto";
  const std::string& unfit = any_sign ? traits.singular_diagonal : traits.unfit_diagonal;
  if (!traits.not_finite.empty()) {
    method.preconditioner_reason = traits.not_finite;
  } else if (asked != "auto") {
    method.preconditioner = asked;
    method.preconditioner_reason = "asked for";
    const auto& entry = preconditioner_named<double, Host>(asked);
    if (entry.takes < kind_of(traits))
      method.preconditioner_reason += fmt::format("; {} needs {}", asked, kind_needed(entry.takes));
  } else if (!unfit.empty()) {
    method.preconditioner_reason = unfit;
  } else if (traits.rows_a_block >= least_rows_a_block) {
    method.preconditioner = "block-jacobi";
    method.preconditioner_reason = fmt::format(
        "{:.2g} consecutive rows on average have the same columns", traits.rows_a_block);
  } else if (traits.constant_diagonal) {
    method.preconditioner_reason = "the diagonal is constant";
  } else {
    method.preconditioner = "jacobi";
    method.preconditioner_reason =
        any_sign ? "the diagonal varies and has no zeros" : "the diagonal is positive and varies";
  }
}

KrylovBasis krylov_basis(const Tuning& tuning) {
  KrylovBasis basis;
  if (tuning.restart) basis.restart = *tuning.restart;
  if (tuning.basis) basis.storage = *tuning.basis;
  return basis;
}

}  // namespace

template <class T, class B>
std::span<const SolverEntry<T, B>> all_solvers() {
  static constexpr SolverEntry<T, B> table[] = {
      {"cg", Kind::definite, false,
       [](auto& A, auto b, auto x, auto& options, auto&) { return cg(A, b, x, options); }},
      {"fcg", Kind::definite, false,
       [](auto& A, auto b, auto x, auto& options, auto&) { return fcg(A, b, x, options); }},
      {"minres", Kind::symmetric, false,
       [](auto& A, auto b, auto x, auto& options, auto&) { return minres(A, b, x, options); }},
      {"gmres", Kind::general, true,
       [](auto& A, auto b, auto x, auto& options, auto& tuning) {
         return gmres(A, b, x, options, krylov_basis(tuning));
       }},
      {"fgmres", Kind::general, true,
       [](auto& A, auto b, auto x, auto& options, auto& tuning) {
         return fgmres(A, b, x, options, krylov_basis(tuning));
       }},
      {"bicgstab", Kind::general, false,
       [](auto& A, auto b, auto x, auto& options, auto&) { return bicgstab(A, b, x, options); }},
      {"idr", Kind::general, false,
       [](auto& A, auto b, auto x, auto& options, auto&) { return idr(A, b, x, options); }}};
  return table;
}

template <class T, class B>
const SolverEntry<T, B>& solver_named(std::string_view name) {
  return *std::ranges::find(all_solvers<T, B>(), name, &SolverEntry<T, B>::name);
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const auto& entry : all_solvers<double, Host>()) names.emplace_back(entry.name);
  return names;
}

template <class T, class B>
Traits look_at(const std::string& name, const LinearOperator<T, B>& A,
               std::optional<bool> symmetric, std::string not_finite) {
  Context<B>& context = A.context();
  const std::int64_t n = A.rows();
  Vector<T, B> u(context, n);
  A.diagonal(u);
  std::vector<T> d(n);
  copy_to_host<T>(context, u, d);
  const auto invertible = [](T value) { return std::isfinite(value) && std::isfinite(1 / value); };
  Traits traits;
  traits.positive_diagonal = std::ranges::all_of(d, [](T value) { return value > 0; });
  traits.negative_diagonal = std::ranges::all_of(d, [](T value) { return value < 0; });
  traits.constant_diagonal = std::ranges::all_of(d, [&](T value) { return value == d.front(); });
  traits.unfit_diagonal = unfit_elements(d, "not positive with a finite inverse",
                                         [&](T value) { return value > 0 && invertible(value); });
  traits.singular_diagonal =
      unfit_elements(d, "zero, absent or without a finite inverse", invertible);
  traits.symmetric = symmetric;
  traits.not_finite = std::move(not_finite);
  if (!symmetric && traits.not_finite.empty()) {
    Vector<T, B> v(context, n), w(context, n);
    Scalar<T, B> product(context), norm(context);
    if (!probe_symmetry(A, u.span(), v.span(), w.span(), product, norm).empty())
      traits.asymmetry =
          fmt::format("{} is not symmetric: u'Av and v'Au differ for random u and v", name);
  }
  return traits;
}

Method choose_method(const Traits& traits, const std::string& solver,
                     const std::string& preconditioner, const Tuning& tuning) {
  Method method;
  choose_solver(traits, solver, method);
  const auto& entry = solver_named<double, Host>(method.solver);
  if (!entry.keeps_basis && (tuning.restart || tuning.basis))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} keeps no basis that it restarts from",
                            tuning.restart ? "--restart" : "--basis", entry.name));
  choose_preconditioner(traits, preconditioner, entry.takes == Kind::general, method);
  return method;
}

void require_square(const std::string& name, std::int64_t rows, std::int64_t cols) {
  if (rows != cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} x {}; the solvers of this build, {}, need a square matrix: "
                            "least squares and underdetermined systems are for LSQR and LSMR",
                            name, rows, cols, fmt::join(solver_names(), ", ")));
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template std::span<const SolverEntry<T, B>> all_solvers();                                    \
  template const SolverEntry<T, B>& solver_named(std::string_view);                             \
  template Traits look_at(const std::string&, const LinearOperator<T, B>&, std::optional<bool>, \
                          std::string);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
