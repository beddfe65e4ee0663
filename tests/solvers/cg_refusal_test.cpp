// SPDX-License-Identifier: BSD-3-Clause
// What conjugate gradients refuses to start on.
#include "solvers/solving.hpp"

#include <string>

namespace tansolve::test {

template <class Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("cg refuses what cannot be solved, and says what would be right") {
  Context<Checked> context;
  const auto wide = Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const auto square = diagonal_matrix<double>({1, 2});
  const CsrOperator<double, Checked> a(context, wide), s(context, square);
  CHECK(message_of([&] {
          solve(a, {1, 1});
        }) ==
        "cg: csr is 2 x 3, it must be square; for least squares and underdetermined systems LSQR "
        "and LSMR fit");
  CHECK(message_of([&] {
          solve(s, {1, 1, 1});
        }) == "cg: csr is 2 x 2, but b has 3 elements and x has 2");
  CHECK(message_of([&] {
          solve(s, {1, 1}, {.rtol = -1});
        }) == "cg: rtol is -1, it must not be negative");
  CHECK(message_of([&] {
          solve(s, {1, 1}, {.time_limit = nan_of<double>});
        }) == "cg: time_limit is nan, it must not be negative");
  const Jacobi<double, Checked> three(context, upload<double>(context, {1, 2, 3}));
  CHECK(message_of([&] {
          solve(s, {1, 1}, {.preconditioner = &three});
        }) == "cg: the preconditioner jacobi is 3 x 3, but csr is 2 x 2");
  auto x = upload<double>(context, {1, 1, 1});
  CHECK(message_of([&] { cg(s, x.span().subspan(0, 2), x.span().subspan(1, 2)); }) ==
        "cg: b and x overlap, they must be apart");
  Workspace<double, Checked> small(context, cg_workspace(2, false));
  const Jacobi<double, Checked> two(context, upload<double>(context, {1, 2}));
  const auto b = upload<double>(context, {1, 1});
  CHECK(message_of([&] { cg(s, b, x.span().subspan(0, 2), {.preconditioner = &two}, small); }) ==
        "cg: a workspace of 3 vectors of 2 elements and 36 scalars, it needs 4 of 2 and 36");
}

TEST_CASE("cg refuses a preconditioner and a workspace of another context") {
  Context<Checked> context, other;
  const auto matrix = poisson<double>(3, 2);
  const CsrOperator<double, Checked> a(context, matrix), twin(other, matrix);
  const Jacobi<double, Checked> foreign(other, twin);
  const std::vector<double> ones(matrix.rows(), 1.0);
  CHECK(message_of([&] { solve(a, ones, {.preconditioner = &foreign}); }) ==
        "cg: the preconditioner jacobi is of another context than csr");
  const auto b = upload(context, ones);
  auto x = upload(context, ones);
  Workspace<double, Checked> work(other, cg_workspace(a.rows(), false));
  CHECK(message_of([&] { cg(a, b, x, {}, work); }) ==
        "cg: the workspace is of another context than the operator");
}

}  // namespace tansolve::test
