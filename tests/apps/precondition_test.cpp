// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve --precond: every name, what is reported of it, what auto takes.
#include "apps/program.hpp"

namespace tansolve::test {

TEST_CASE("every preconditioner of the table solves, and reports its cost") {
  const Shell shell;
  const auto solve = [&](const std::string& name, const std::string& rest) {
    const Outcome run = shell.tansolve("solve gen:varcoef7:8 --json --precond " + name + rest);
    CHECK(run.code == 0);
    return run.json()["solve"];
  };
  const Json none = solve("none", "");
  CHECK(none["preconditioner_bytes"] == 0);
  CHECK(shell.tansolve("encode gen:varcoef7:8 -o v.tans").code == 0);
  for (const std::string name :
       {"jacobi", "block-jacobi", "chebyshev", "neumann", "fsai", "afsai", "ic0", "ilu0"}) {
    CAPTURE(name);
    const Json result = solve(name, "");
    CHECK(result["status"] == "converged");
    CHECK(result["preconditioner"] == (name == "afsai" ? "fsai" : name));
    CHECK(result["preconditioner_reason"] == "asked for");
    CHECK(result["iterations"] < none["iterations"]);
    CHECK(result["verified_residual"] <= result["threshold"].get<double>() * 1.001);
    CHECK(result["preconditioner_bytes"] > 0);
    CHECK(result["preconditioner_seconds"] > 0);
    CHECK(solve(name, " --precision f32")["status"] == "converged");
    // A container is decoded for those that need entries.
    const Outcome container = shell.tansolve("solve v.tans --json --precond " + name);
    CHECK(container.json()["solve"]["iterations"] == result["iterations"]);
  }
}

TEST_CASE("a preconditioner for other matrices is taken when asked for, and says so") {
  const Shell shell;
  const Json solve = shell.tansolve("solve gen:convdiff7:5 --json --precond fsai").json()["solve"];
  CHECK(solve["preconditioner_reason"] ==
        "asked for; fsai needs a symmetric positive definite matrix");
  CHECK(shell.tansolve("solve gen:convdiff7:5 --json --precond ilu0")
            .json()["solve"]["preconditioner_reason"] == "asked for");
}

TEST_CASE("auto takes block-jacobi where consecutive rows have the same columns") {
  const Shell shell;
  const Json solve = shell.tansolve("solve gen:fem3:4 --json").json()["solve"];
  CHECK(solve["preconditioner"] == "block-jacobi");
  CHECK(solve["preconditioner_reason"] == "3 consecutive rows on average have the same columns");
  CHECK(solve["preconditioner_note"] == "64 blocks of up to 3 rows, 64 of them in fp32");
  // Singular blocks, although no diagonal element is 0.
  shell.folder.write("s.mtx",
                     "%%MatrixMarket matrix coordinate real general\n4 4 8\n1 1 1\n1 2 1\n2 1 1\n"
                     "2 2 1\n3 3 2\n3 4 1\n4 3 1\n4 4 2\n");
  const Json jacobi = shell.tansolve("solve s.mtx --json").json()["solve"];
  CHECK(jacobi["preconditioner"] == "jacobi");
  CHECK(jacobi["preconditioner_note"] ==
        "it is jacobi instead, since block-jacobi: 1 of 2 diagonal blocks are singular or "
        "without a finite inverse, the first begins in row 1 (counting from 1)");
  CHECK(shell.tansolve("solve s.mtx --precond block-jacobi").code == 2);
}

}  // namespace tansolve::test
