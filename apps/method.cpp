// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers; looks at symmetry and the diagonal, then decides.
#include "method.hpp"
#include "automatic.hpp"
#include "precondition.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/unfit_elements.hpp>
#include <tansolve/kernels/vector.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/look.hpp>
#include <tansolve/solvers/lsmr.hpp>
#include <tansolve/solvers/lsqr.hpp>
#include <tansolve/solvers/minres.hpp>
#include <tansolve/solvers/richardson.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tansolve::app {
namespace {

std::string_view kind_needed(Kind kind) {
  return kind == Kind::definite ? "a symmetric positive definite matrix" : "a symmetric matrix";
}

std::string kind_text(const Traits& traits) {
  if (!traits.not_finite.empty()) return traits.not_finite;
  if (!traits.square) return "the matrix is not square";
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

void choose_solver(const Traits& traits, const std::string& asked, bool damped, Method& method) {
  const bool automatic = asked == "auto";
  const Kind kind = damped ? Kind::rectangular : traits.kind();
  method.solver = automatic ? std::string(solver_for(kind)) : asked;
  method.solver_reason = !automatic ? "asked for; " : damped ? "it can damp; " : "";
  method.solver_reason += kind_text(traits);
  const Kind takes = solver_named<double, Host>(method.solver).takes;
  if (takes < traits.kind())
    method.solver_reason += fmt::format("; {} needs {}", asked, kind_needed(takes));
}

void choose_preconditioner(const Traits& traits, const std::string& asked, bool any_sign,
                           Method& method) {
  method.automatic_preconditioner = asked == "auto";
  if (!traits.not_finite.empty()) {
    method.preconditioner_reason = traits.not_finite;
  } else if (asked != "auto") {
    method.preconditioner = asked;
    method.preconditioner_reason = "asked for";
    const auto& entry = preconditioner_named<double, Host>(asked);
    if (entry.takes < traits.kind())
      method.preconditioner_reason += fmt::format("; {} needs {}", asked, kind_needed(entry.takes));
  } else {
    const AutomaticChoice choice = automatic_preconditioner(traits, any_sign);
    method.preconditioner = choice.name;
    method.preconditioner_reason = choice.reason;
  }
}

KrylovBasis krylov_basis(const Tuning& tuning) {
  KrylovBasis basis;
  if (tuning.restart) basis.restart = *tuning.restart;
  if (tuning.basis) basis.storage = *tuning.basis;
  if (tuning.reorthogonalize) basis.reorthogonalize = *tuning.reorthogonalize;
  return basis;
}

/// The tolerance of ||A'r|| is that of ||r||.
template <class T, class B>
LeastSquares<T> least_squares(const SolveOptions<T, B>& options, const Tuning& tuning) {
  return {.damping = tuning.damping.value_or(0), .normal_rtol = options.rtol};
}

template <class T, class B>
constexpr SolverEntry<T, B> table_of_solvers[] = {
    {"cg", Kind::definite, false,
     [](auto& A, auto b, auto x, auto& options, auto&) { return cg(A, b, x, options); },
     [](auto& A, auto columns, auto b, auto x, auto& options, auto&) {
       return pseudo_block_cg(A, columns, b, x, options);
     }},
    {"fcg", Kind::definite, false,
     [](auto& A, auto b, auto x, auto& options, auto&) { return fcg(A, b, x, options); }},
    {"block_cg", Kind::definite, false,
     [](auto& A, auto b, auto x, auto& options, auto&) {
       return block_cg(A, 1, b, x, options).columns.front();
     },
     [](auto& A, auto columns, auto b, auto x, auto& options, auto&) {
       return block_cg(A, columns, b, x, options);
     }},
    {"minres", Kind::symmetric, false,
     [](auto& A, auto b, auto x, auto& options, auto&) { return minres(A, b, x, options); }},
    {"gmres", Kind::general, true,
     [](auto& A, auto b, auto x, auto& options, auto& tuning) {
       return gmres(A, b, x, options, krylov_basis(tuning));
     },
     [](auto& A, auto columns, auto b, auto x, auto& options, auto& tuning) {
       return pseudo_block_gmres(A, columns, b, x, options, krylov_basis(tuning));
     }},
    {"fgmres", Kind::general, true,
     [](auto& A, auto b, auto x, auto& options, auto& tuning) {
       return fgmres(A, b, x, options, krylov_basis(tuning));
     }},
    {"bicgstab", Kind::general, false,
     [](auto& A, auto b, auto x, auto& options, auto&) { return bicgstab(A, b, x, options); },
     [](auto& A, auto columns, auto b, auto x, auto& options, auto&) {
       return pseudo_block_bicgstab(A, columns, b, x, options);
     }},
    {"idr", Kind::general, false,
     [](auto& A, auto b, auto x, auto& options, auto& tuning) {
       IdrShadow shadow;
       shadow.dimension = tuning.shadow.value_or(shadow.dimension);
       return idr(A, b, x, options, shadow);
     }},
    {"richardson", Kind::general, false,
     [](auto& A, auto b, auto x, auto& options, auto&) { return richardson(A, b, x, options); }},
    {"lsmr", Kind::rectangular, false,
     [](auto& A, auto b, auto x, auto& options, auto& tuning) {
       return lsmr(A, b, x, options, least_squares(options, tuning));
     }},
    {"lsqr", Kind::rectangular, false, [](auto& A, auto b, auto x, auto& options, auto& tuning) {
       return lsqr(A, b, x, options, least_squares(options, tuning));
     }}};

}  // namespace

template <class T, class B>
std::span<const SolverEntry<T, B>> all_solvers() {
  return table_of_solvers<T, B>;
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
  Traits traits;
  traits.symmetric = symmetric;
  traits.not_finite = std::move(not_finite);
  traits.on_gpu = std::is_same_v<B, Cuda>;
  traits.square = A.rows() == A.cols();
  if (!traits.square) return traits;
  Context<B>& context = A.context();
  const std::int64_t n = A.rows();
  Vector<T, B> u(context, n);
  A.diagonal(u);
  std::vector<T> d(n);
  copy_to_host<T>(context, u, d);
  traits.positive_diagonal = std::ranges::all_of(d, [](T value) { return value > 0; });
  traits.negative_diagonal = std::ranges::all_of(d, [](T value) { return value < 0; });
  traits.constant_diagonal = std::ranges::all_of(d, [&](T value) { return value == d.front(); });
  traits.unfit_diagonal =
      detail::unfit_elements<T>(d, detail::not_positive, detail::is_positive<T>);
  traits.singular_diagonal =
      detail::unfit_elements<T>(d, detail::without_inverse, detail::has_inverse<T>);
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
  Method method{.restart = tuning.restart.value_or(0)};
  choose_solver(traits, solver, tuning.damping.has_value(), method);
  const auto& entry = solver_named<double, Host>(method.solver);
  if (!entry.keeps_basis && (tuning.restart || tuning.basis || tuning.reorthogonalize))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} keeps no basis that it restarts from",
                            tuning.restart ? "--restart"
                            : tuning.basis ? "--basis-precision"
                                           : "--reorthogonalize",
                            entry.name));
  if (tuning.shadow && entry.name != "idr")
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--idr-s: {} has no shadow space; idr has", entry.name));
  if (tuning.damping && entry.takes != Kind::rectangular)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--damp: {} cannot damp; lsmr and lsqr can", entry.name));
  if (entry.takes == Kind::rectangular) {
    if (preconditioner != "auto" && preconditioner != "none")
      throw Error(ErrorCode::invalid_argument, fmt::format("--precond: {} takes none", entry.name));
    method.preconditioner_reason = "least squares take none";
    return method;
  }
  choose_preconditioner(traits, preconditioner, entry.takes == Kind::general, method);
  return method;
}

void require_fit(const std::string& name, std::int64_t rows, std::int64_t cols,
                 std::string_view solver) {
  const bool any_shape =
      solver == "auto" || solver_named<double, Host>(solver).takes == Kind::rectangular;
  if (rows != cols && !any_shape)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} x {}, and {} needs a square matrix; LSQR and LSMR (--solver "
                            "lsqr, lsmr) take any",
                            name, rows, cols, solver));
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template std::span<const SolverEntry<T, B>> all_solvers();                                    \
  template const SolverEntry<T, B>& solver_named(std::string_view);                             \
  template Traits look_at(const std::string&, const LinearOperator<T, B>&, std::optional<bool>, \
                          std::string);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
