// SPDX-License-Identifier: BSD-3-Clause
// Looks at symmetry and the diagonal, then decides.
#include "method.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/vector.hpp>
#include <tansolve/solvers/look.hpp>

#include <fmt/format.h>

#include <algorithm>
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
  if (!symmetric) return why + "; the matrix is not symmetric, which cg needs";
  why += known ? "; the matrix is symmetric" : "; a random probe finds the matrix symmetric";
  if (traits.positive_diagonal) return why + " with a positive diagonal";
  if (traits.negative_diagonal)
    return why +
           ", but its diagonal is negative: it is not positive definite (its negative may be)";
  return why + ", but its diagonal is not positive throughout: it is not positive definite";
}

}  // namespace

template <class T, class B>
Traits look_at(const LinearOperator<T, B>& A, std::optional<bool> symmetric) {
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
  traits.symmetric = symmetric;
  if (!symmetric) {
    Vector<T, B> v(context, n), w(context, n);
    Scalar<T, B> product(context), norm(context);
    traits.asymmetry = probe_symmetry(A, u.span(), v.span(), w.span(), product, norm);
  }
  return traits;
}

Method choose_method(const Traits& traits, Solver solver, Preconditioner preconditioner) {
  Method method{.solver_reason = why_cg(traits, solver)};
  if (preconditioner != Preconditioner::automatic) {
    method.jacobi = preconditioner == Preconditioner::jacobi;
    method.preconditioner_reason = "asked for";
    return method;
  }
  method.jacobi = traits.positive_diagonal && !traits.constant_diagonal;
  method.preconditioner_reason = method.jacobi              ? "the diagonal is positive and varies"
                                 : traits.positive_diagonal ? "the diagonal is constant"
                                                            : "the diagonal is not positive";
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

template Traits look_at(const LinearOperator<double, Host>&, std::optional<bool>);
template Traits look_at(const LinearOperator<float, Host>&, std::optional<bool>);

}  // namespace tansolve::app
