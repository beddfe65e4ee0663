// SPDX-License-Identifier: BSD-3-Clause
// Every preconditioner against every diagonal that it cannot use, in the one wording of all; and
// what solvers say of preconditioners that do not fit.
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/preconditioners/polynomial.hpp>
#include <tansolve/solvers/fcg.hpp>

#include "preconditioners/dense.hpp"
#include "solvers/solving.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace tansolve::test {
namespace {

using Factored = Incomplete<double, Host>;

struct Kind {
  std::string name;
  std::string_view wrong;  ///< what it says of elements that it refuses
  bool takes_negative;
  std::function<void(const CsrOperator<double, Host>&, const Csr<double>&)> make;
};

std::vector<Kind> kinds() {
  const auto without = detail::without_inverse, positive = detail::not_positive;
  return {
      {"jacobi", without, true, [](auto& A, auto&) { Jacobi<double, Host>(A.context(), A); }},
      {"neumann", without, true, [](auto& A, auto&) { Polynomial(A, Neumann{.damping = 1.0}); }},
      {"ilu0", without, true,
       [](auto& A, auto& matrix) { Factored(A.context(), matrix, Factored::Kind::lu); }},
      {"chebyshev", positive, false, [](auto& A, auto&) { Polynomial(A, Chebyshev()); }},
      {"fsai", positive, false,
       [](auto& A, auto& matrix) { Fsai<double, Host>(A.context(), matrix); }},
      {"ic0", positive, false,
       [](auto& A, auto& matrix) { Factored(A.context(), matrix, Factored::Kind::cholesky); }},
      {"amg", positive, false, [](auto& A, auto& matrix) { Amg<double, Host>(A, matrix); }}};
}

/// -1, 4, -1 on seven rows, but for the diagonals of rows 3 and 6; none: absent.
Csr<double> with_diagonals(std::optional<double> bad) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 7; ++i) {
    if (i > 0) triplets.push_back({i, i - 1, -1.0});
    if (i != 2 && i != 5)
      triplets.push_back({i, i, 4.0});
    else if (bad)
      triplets.push_back({i, i, *bad});
    if (i < 6) triplets.push_back({i, i + 1, -1.0});
  }
  return Csr<double>::from_triplets(7, 7, triplets);
}

TEST_CASE("every preconditioner refuses unfit diagonals with count and first row, worded as one") {
  using Limits = std::numeric_limits<double>;
  Context<Host> context(2);
  for (const Kind& kind : kinds())
    for (const std::optional<double> bad :
         {std::optional<double>(), std::optional(0.0), std::optional(-4.0),
          std::optional(Limits::quiet_NaN()), std::optional(Limits::infinity()),
          std::optional(Limits::denorm_min())}) {
      CAPTURE(kind.name);
      CAPTURE(bad.value_or(0));
      const Csr<double> matrix = with_diagonals(bad);
      const CsrOperator<double, Host> A(context, matrix);
      if (bad == -4.0 && kind.takes_negative) {
        kind.make(A, matrix);
        continue;
      }
      const std::string said = refusal(ErrorCode::bad_input, [&] { kind.make(A, matrix); });
      // What looks for other entries that are not finite may come first.
      const std::string not_finite =
          kind.name + ": 2 of 19 entries are not finite, the first in row 3 (counting from 1)";
      if (bad && !std::isfinite(*bad) && said == not_finite) continue;
      CHECK(said.starts_with(fmt::format(
          "{}: 2 of 7 diagonal elements are {}, first in row 3 (counting from 1): ", kind.name,
          kind.wrong)));
    }
}

TEST_CASE("block-jacobi refuses such diagonals as singular blocks, in its own words") {
  Context<Host> context(1);
  for (const std::optional<double> bad :
       {std::optional<double>(), std::optional(0.0), std::optional(std::nan("")),
        std::optional(std::numeric_limits<double>::infinity()),
        std::optional(std::numeric_limits<double>::denorm_min())}) {
    const Csr<double> matrix = with_diagonals(bad);
    CHECK(refusal(ErrorCode::bad_input,
                  [&] { BlockJacobi<double, Host>(context, matrix, {.size = 1}); }) ==
          "block-jacobi: 2 of 7 diagonal blocks are singular or without a finite inverse, the "
          "first begins in row 3 (counting from 1)");
  }
}

TEST_CASE("refusals are the same for any number of threads") {
  std::vector<double> d(200000, 1.0);
  for (const std::size_t i : {70001, 70002, 150000, 199999}) d[i] = std::nan("");
  const Csr<double> matrix = diagonal_matrix(d);
  for (const int threads : {1, 3})
    CHECK(refusal(ErrorCode::bad_input, [&] { detail::require_finite("any", matrix, threads); }) ==
          "any: 4 of 200000 entries are not finite, the first in row 70002 (counting from 1)");
}

TEST_CASE("preconditioners that do not fit end as a status, and no answer is claimed") {
  Context<Host> context(1);
  // Positive definite but for one direction.
  std::vector<double> d(40, 2.0);
  d[17] = -3;
  const Csr<double> matrix = diagonal_matrix(d);
  const Csr<double> regular = generate("poisson5:40x1");
  const CsrOperator<double, Host> A(context, regular), indefinite(context, matrix);
  const auto b = random_vector<double>(40, 4);
  const Jacobi<double, Host> jacobi(context, indefinite);
  const BlockJacobi<double, Host> blocks(context, matrix);
  const Polynomial neumann(indefinite, Neumann{.degree = 0, .damping = 1.0});
  const Factored ilu(context, matrix, Factored::Kind::lu);
  for (const LinearOperator<double, Host>* M :
       std::initializer_list<const LinearOperator<double, Host>*>{&jacobi, &blocks, &neumann,
                                                                  &ilu}) {
    CAPTURE(M->name());
    const auto [report, x] = solve(A, b, {.preconditioner = M});
    if (report.converged())
      CHECK(eigen_residual(regular, b, x) <= 1.001 * report.threshold);
    else
      CHECK(report.status == Status::indefinite_preconditioner);
    // For an operator that is indefinite as well, their product is definite: that is found, too.
    const auto [of_both, y] = solve(indefinite, b, {.preconditioner = M});
    CHECK((of_both.status == Status::indefinite_operator ||
           of_both.status == Status::indefinite_preconditioner ||
           (of_both.converged() && eigen_residual(matrix, b, y) <= 1.001 * of_both.threshold)));
  }
}

}  // namespace
}  // namespace tansolve::test
