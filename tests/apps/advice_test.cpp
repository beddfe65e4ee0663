// SPDX-License-Identifier: BSD-3-Clause
// A solve that fails says what to try, and what it says helps.
#include "apps/program.hpp"

namespace tansolve::test {

TEST_CASE("cg on an indefinite matrix points to minres, which solves it") {
  const Shell shell;
  shell.folder.write("m.mtx",
                     "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 1\n"
                     "3 3 1\n2 1 5\n");
  const Outcome failed = shell.tansolve("solve m.mtx --solver cg --rhs random");
  CHECK(failed.code == 1);
  CHECK(
      contains(failed.out, "  try --solver minres, for symmetric matrices that are not definite"));
  const Outcome helped = shell.tansolve("solve m.mtx --solver minres --rhs random --json");
  CHECK(helped.code == 0);
  CHECK(helped.json()["solve"]["advice"] == "");
}

TEST_CASE("a limit points to better preconditioners, which meet it") {
  const Shell shell;
  const std::string solve = "solve gen:convdiff7:12 --max-iters 20 --json --precond ";
  CHECK(shell.tansolve(solve + "jacobi").json()["solve"]["advice"] ==
        "--precond ilu0, which knows more of the matrix than its diagonal");
  CHECK(shell.tansolve(solve + "ilu0").json()["solve"]["status"] == "converged");
}

TEST_CASE("where the diagonal has zeros, no preconditioner that divides by it is named") {
  const Shell shell;
  shell.folder.write("m.mtx",
                     "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 2\n3 1 5\n");
  const auto solve = shell.tansolve("solve m.mtx --max-iters 1 --json").json()["solve"];
  CHECK(solve["status"] == "iteration_limit");
  CHECK(contains(solve["advice"], "--restart 200, a larger Krylov space"));
  const auto larger = shell.tansolve("solve m.mtx --max-iters 1 --restart 200 --json").json();
  CHECK(contains(larger["solve"]["advice"], "--solver idr, or a looser --rtol; ilu0 needs rows"));
}

TEST_CASE("a tolerance below what rounding leaves of the residual is said to be too tight") {
  const Shell shell;
  const std::string solve = "solve gen:poisson5:20 --solver cg --rhs random --json --rtol ";
  const auto tight = shell.tansolve(solve + "1e-17").json()["solve"];
  CHECK(tight["status"] == "stagnated");
  CHECK(contains(tight["advice"], "a looser --rtol"));
  CHECK(shell.tansolve(solve + "1e-13").json()["solve"]["status"] == "converged");
}

TEST_CASE("storage beyond csr's is said to be more") {
  const Shell shell;
  shell.folder.write("m.mtx",
                     "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 2\n3 1 5\n");
  const Outcome info = shell.tansolve("info m.mtx --plan geometry=fixed8");
  CHECK(contains(info.out, " times more than csr ("));
}

}  // namespace tansolve::test
