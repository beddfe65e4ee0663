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
       {"jacobi", "block-jacobi", "chebyshev", "neumann", "fsai", "afsai", "amg", "ic0", "ilu0"}) {
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

TEST_CASE("multigrid shows its hierarchy, takes its options, and solves by itself") {
  const Shell shell;
  const Outcome run = shell.tansolve("solve gen:poisson7:16 --json --precond amg");
  const Json solve = run.json()["solve"];
  CHECK(solve["status"] == "converged");
  CHECK(solve["iterations"] <= 9);
  const Json hierarchy = solve["preconditioner_hierarchy"];
  CHECK(hierarchy["levels"].size() == 2);
  CHECK(hierarchy["levels"][0]["A"]["rows"] == 4096);
  CHECK(hierarchy["levels"][0]["P"]["format"] == "dtans");
  CHECK(hierarchy["levels"][1]["A"]["rows"] == hierarchy["coarse_inverse"]["rows"]);
  CHECK(hierarchy["levels"][1]["P"].is_null());
  CHECK(hierarchy["operator_complexity"] < 1.4);
  CHECK(hierarchy["bytes"] < hierarchy["csr_bytes"]);
  CHECK(run.err.find("operator complexity") != std::string::npos);
  CHECK_FALSE(shell.tansolve("solve gen:poisson7:4 --json")
                  .json()["solve"]
                  .contains("preconditioner_hierarchy"));

  for (const std::string options :
       {"--amg-cycle w", "--amg-smoother jacobi", "--amg-degree 3", "--amg-theta 0.1",
        "--unknowns-per-node 2", "--solver richardson", "--solver fcg"}) {
    CAPTURE(options);
    const Outcome other = shell.tansolve("solve gen:poisson7:12 --json --precond amg " + options);
    CHECK(other.json()["solve"]["status"] == "converged");
    CHECK(other.json()["solve"]["iterations"] <= 30);
  }
  CHECK(shell.tansolve("solve gen:convdiff7:5 --precond amg").code == 2);
  CHECK(shell.tansolve("solve gen:poisson7:5 --precond amg --unknowns-per-node 2").code == 2);
}

TEST_CASE("multigrid takes near-null vectors and coordinates from files") {
  const Shell shell;
  std::string coordinates = "%%MatrixMarket matrix array real general\n64 3\n";
  for (int axis = 0; axis < 3; ++axis)
    for (int i = 0; i < 64; ++i) {
      const double point[] = {i % 4 + (i / 4 % 4 + i / 16) / 8.0, i / 4 % 4 * 1.0, i / 16 * 1.0};
      coordinates += std::to_string(point[axis]) + "\n";
    }
  shell.folder.write("c.mtx", coordinates);
  std::string ones = "%%MatrixMarket matrix array real general\n192 1\n";
  for (int i = 0; i < 192; ++i) ones += "1\n";
  shell.folder.write("v.mtx", ones);
  const std::string solve = "solve gen:fem3:4 --json --precond amg ";
  CHECK(shell.tansolve(solve + "--coordinates c.mtx").json()["solve"]["status"] == "converged");
  CHECK(shell.tansolve(solve + "--near-null v.mtx").json()["solve"]["status"] == "converged");
  CHECK(shell.tansolve(solve + "--near-null c.mtx").code == 2);
  CHECK(shell.tansolve(solve + "--near-null v.mtx --coordinates c.mtx").code == 2);
  CHECK(shell.tansolve(solve + "--near-null absent.mtx").code == 3);
}

}  // namespace tansolve::test
