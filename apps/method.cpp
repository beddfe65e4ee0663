// SPDX-License-Identifier: BSD-3-Clause
// Looks at symmetry and the diagonal, then decides.
#include "method.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/vector.hpp>
#include <tansolve/solvers/look.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tansolve::app {
namespace {

[[noreturn]] void refuse_asymmetry(const std::string& evidence) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}; cg, the only solver of this build, needs a symmetric positive "
                          "definite matrix; --solver cg tries it all the same",
                          evidence));
}

std::string why_cg(const Traits& traits, Solver solver) {
  const bool known = traits.symmetric.has_value();
  const bool symmetric = traits.symmetric.value_or(traits.asymmetry.empty());
  if (!symmetric && solver == Solver::automatic) refuse_asymmetry(traits.asymmetry);
  std::string why = solver == Solver::cg ? "asked for" : "the only solver of this build";
  if (!traits.not_finite.empty()) return why + ", but " + traits.not_finite;
  if (!symmetric) return why + "; the matrix is not symmetric, which cg needs";
  why += known ? "; the matrix is symmetric" : "; a random probe finds the matrix symmetric";
  if (traits.positive_diagonal) return why + " with a positive diagonal";
  if (traits.negative_diagonal)
    return why +
           ", but its diagonal is negative: it is not positive definite (its negative may be)";
  return why + ", but its diagonal is not positive throughout: it is not positive definite";
}

template <class T>
std::string unfit_elements(const std::vector<T>& diagonal) {
  std::size_t unfit = 0, first = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const T d = diagonal[i];
    if (d > 0 && std::isfinite(d) && std::isfinite(1 / d)) continue;
    if (unfit++ == 0) first = i;
  }
  if (unfit == 0) return {};
  return fmt::format(
      "{} of {} diagonal elements are not positive with a finite inverse, first in row {} "
      "(counting from 1): {}",
      unfit, diagonal.size(), first + 1, diagonal[first]);
}

}  // namespace

template <class T, class B>
Traits look_at(const std::string& name, const LinearOperator<T, B>& A,
               std::optional<bool> symmetric, std::string not_finite) {
  Context<B>& context = A.context();
  const std::int64_t n = A.rows();
  Vector<T, B> u(context, n);
  A.diagonal(u);
  std::vector<T> d(n);
  copy_to_host<T>(context, u, d);
  Traits traits;
  traits.positive_diagonal = std::ranges::all_of(d, [](T value) { return value > 0; });
  traits.negative_diagonal = std::ranges::all_of(d, [](T value) { return value < 0; });
  traits.constant_diagonal = std::ranges::all_of(d, [&](T value) { return value == d.front(); });
  traits.unfit_diagonal = unfit_elements(d);
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

Method choose_method(const Traits& traits, Solver solver, Preconditioner preconditioner) {
  Method method{.solver_reason = why_cg(traits, solver)};
  if (!traits.not_finite.empty()) {
    method.preconditioner_reason = traits.not_finite;
  } else if (preconditioner != Preconditioner::automatic) {
    method.jacobi = preconditioner == Preconditioner::jacobi;
    method.preconditioner_reason = "asked for";
  } else if (!traits.unfit_diagonal.empty()) {
    method.preconditioner_reason = traits.unfit_diagonal;
  } else {
    method.jacobi = !traits.constant_diagonal;
    method.preconditioner_reason =
        method.jacobi ? "the diagonal is positive and varies" : "the diagonal is constant";
  }
  return method;
}

void require_solver(const std::string& name, std::int64_t rows, std::int64_t cols, Solver solver,
                    std::optional<bool> symmetric) {
  if (rows != cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} x {}; cg, the only solver of this build, needs a square "
                            "matrix",
                            name, rows, cols));
  if (solver == Solver::automatic && symmetric == false)
    refuse_asymmetry(fmt::format("{} is not symmetric", name));
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template Traits look_at(const std::string&, const LinearOperator<T, B>&, std::optional<bool>, \
                          std::string);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
