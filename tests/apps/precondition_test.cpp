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

TEST_CASE("preconditioners take parameters, and refuse others by name") {
  const Shell shell;
  const auto solve = [&](const std::string& precond) {
    const Outcome run = shell.tansolve("solve gen:varcoef7:8 --json --precond " + precond);
    CHECK(run.code == 0);
    return run.json()["solve"];
  };
  CHECK(solve("chebyshev:degree=8")["iterations"] < solve("chebyshev")["iterations"]);
  CHECK(contains(solve("chebyshev:degree=6")["preconditioner_note"], "degree 6, "));
  CHECK(solve("neumann:degree=6,damping=0.8")["iterations"] < solve("neumann")["iterations"]);
  CHECK(solve("fsai:power=2,bits=20")["iterations"] < solve("fsai")["iterations"]);
  CHECK(solve("afsai:steps=8,entries=2")["status"] == "converged");
  CHECK(contains(solve("block-jacobi:size=4")["preconditioner_note"], "128 blocks of up to 4"));
  CHECK(contains(solve("block-jacobi:size=4,fp32-error=0")["preconditioner_note"],
                 ", 0 of them in fp32"));
  CHECK(solve("ic0:shift=0.5")["preconditioner_note"] ==
        "the diagonal 1.5 times as large, as asked for");
  CHECK(solve("ilu0:shift=0.5")["iterations"] > solve("ilu0")["iterations"]);

  const auto refused = [&](const std::string& precond, const std::string& why) {
    CAPTURE(precond);
    const Outcome run = shell.tansolve("solve gen:varcoef7:8 --precond " + precond);
    CHECK(run.code == 2);
    CHECK(contains(run.err, "--precond: " + why));
  };
  refused("magic", "'magic' must be one of auto|none|jacobi|");
  refused("chebyshev:degree=many", "'degree=many' of chebyshev must be an integer from 0 to 100");
  refused("chebyshev:degree=101", "'degree=101' of chebyshev must be");
  refused("chebyshev:degree=2.5", "'degree=2.5' of chebyshev must be");
  refused("chebyshev:degree", "'degree' of chebyshev must be");
  refused("chebyshev:", "'' of chebyshev is unknown; it takes degree");
  refused("chebyshev:degree=2,degree=2", "'degree=2' of chebyshev is given twice");
  refused("afsai:size=2", "'size=2' of afsai is unknown; it takes power, steps, entries, bits");
  refused("jacobi:size=2", "'size=2' of jacobi is unknown: it takes no parameters");
  refused("auto:size=2", "'size=2' of auto is unknown");
  refused("amg:cycle=f", "'cycle=f' of amg must be one of v|w");
  refused("ic0:shift=-1", "'shift=-1' of ic0 must be a number from 0 to 1000");
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

  for (const std::string options : {":cycle=w", ":smoother=jacobi", ":degree=3,theta=0.1",
                                    ":unknowns=2", " --solver richardson", " --solver fcg"}) {
    CAPTURE(options);
    const Outcome other = shell.tansolve("solve gen:poisson7:12 --json --precond amg" + options);
    CHECK(other.json()["solve"]["status"] == "converged");
    CHECK(other.json()["solve"]["iterations"] <= 30);
  }
  CHECK(shell.tansolve("solve gen:convdiff7:5 --precond amg").code == 2);
  CHECK(shell.tansolve("solve gen:poisson7:5 --precond amg:unknowns=2").code == 2);
}

TEST_CASE("multigrid takes near-null vectors and coordinates from files") {
  const Shell shell;
  shell.folder.write("short.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
  for (const std::string rest : {"--precond jacobi", "--precond amg", "--precond amg --refine"})
    CHECK(shell.tansolve("solve gen:poisson5:12 --near-null short.mtx " + rest).code ==
          (contains(rest, "jacobi") ? 2 : 3));
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
  Outcome run = shell.tansolve(solve + "--near-null c.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--near-null c.mtx: 64 x 3, it must be 192 x 1, or have more columns"));
  run = shell.tansolve(solve + "--coordinates v.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--coordinates v.mtx: 192 x 1, it must be n/2 x 2 or n/3 x 3"));
  ones.replace(ones.rfind("1\n"), 1, "nan");
  shell.folder.write("nan.mtx", ones);
  run = shell.tansolve(solve + "--near-null nan.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--near-null nan.mtx: row 192, column 1 is nan, it must be finite"));
  CHECK(shell.tansolve(solve + "--near-null v.mtx --coordinates c.mtx").code == 2);
  CHECK(shell.tansolve(solve + "--near-null absent.mtx").code == 3);
}

}  // namespace tansolve::test
