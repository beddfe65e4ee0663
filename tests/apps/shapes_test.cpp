// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve on matrices of every shape, and for several right-hand sides.
#include "apps/program.hpp"

#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/npy.hpp>

#include <cmath>

namespace tansolve::test {
namespace {

const std::string tall =  // (2 0; 0 1; 0 0; 2 0)
    "%%MatrixMarket matrix coordinate real general\n4 2 3\n1 1 2\n2 2 1\n4 1 2\n";
const std::string wide =
    "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n2 2 1\n1 3 2\n";
const std::string square =  // (4, -1, 0; -1, 4, -1; 0, -1, 4)
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n";
/// Of x = (1 2 3)', 0 and (0 0 1)'.
const std::string three_columns =
    "%%MatrixMarket matrix array real general\n3 3\n2\n4\n10\n0\n0\n0\n0\n-1\n4\n";

}  // namespace

TEST_CASE("auto solves tall and wide systems, says how, and what the transpose takes") {
  const Shell shell;
  shell.folder.write("tall.mtx", tall);
  shell.folder.write("wide.mtx", wide);
  REQUIRE(shell.tansolve("encode tall.mtx -o tall.tans").code == 0);
  for (const std::string matrix :
       {"tall.mtx", "tall.tans", "tall.mtx --format csr", "tall.mtx --format dtans --solver lsqr",
        "tall.mtx --precision f32"}) {
    CAPTURE(matrix);
    const Outcome run = shell.tansolve("solve --json -o x.mtx " + matrix);
    CHECK(run.code == 0);
    const Json json = run.json();
    CHECK(json["solve"]["status"] == "inconsistent");
    CHECK(json["solve"]["least_squares"]["found"] == true);
    CHECK(json["solve"]["least_squares"]["normal_residual"].get<double>() <= 1e-5);
    CHECK(json["solve"]["true_residual"] == doctest::Approx(1));
    CHECK(json["solve"]["verified_residual"] == doctest::Approx(1));
    CHECK(json["transpose"]["storage"]["bytes_total"].get<int>() > 0);
    CHECK(json["transpose"]["plan"]["format"] == json["plan"]["format"]);
    CHECK(contains(json["solve"]["solver_reason"], "not square"));
    const Dense x = read_dense(shell.folder / "x.mtx");
    REQUIRE(x.rows == 2);
    CHECK(x.values[0] == doctest::Approx(0.5));
    CHECK(x.values[1] == doctest::Approx(1));
  }
  const Outcome run = shell.tansolve("solve --json -o x.mtx wide.mtx");
  CHECK(run.code == 0);
  CHECK(run.json()["solve"]["status"] == "converged");
  CHECK(run.json()["solve"]["solver"] == "lsmr");
  CHECK(read_dense(shell.folder / "x.mtx").values[2] == doctest::Approx(0.25));  // least norm
  CHECK(contains(shell.tansolve("solve tall.mtx").out, "x is a least-squares solution"));
  CHECK(shell.tansolve("solve tall.mtx --max-iters 1").code == 1);
  CHECK(shell.tansolve("solve gen:poisson5:9 --json").json()["transpose"].is_null());
}

TEST_CASE("solve damps, and refuses what does not go with least squares") {
  const Shell shell;
  shell.folder.write("tall.mtx", tall);
  Outcome run = shell.tansolve("solve tall.mtx --damp 2 --json -o x.mtx");
  CHECK(run.code == 0);
  CHECK(contains(run.json()["solve"]["detail"], "x is the solution damped by 2"));
  const Dense x = read_dense(shell.folder / "x.mtx");
  CHECK(x.values[0] == doctest::Approx(4.0 / 12));  // (8 + 4) x = 4
  CHECK(x.values[1] == doctest::Approx(1.0 / 5));
  CHECK(shell.tansolve("solve gen:poisson5:4 --damp 1 --json").json()["solve"]["solver"] == "lsmr");
  const auto refused = [&](const std::string& line, const std::string& why) {
    CAPTURE(line);
    const Outcome refusal = shell.tansolve("solve " + line);
    CHECK(refusal.code == 2);
    CHECK(contains(refusal.err, why));
  };
  refused("gen:poisson5:4 --solver cg --damp 1", "--damp: cg cannot damp");
  refused("tall.mtx --damp -1", "--damp");
  refused("tall.mtx --precond jacobi", "--precond: lsmr takes none");
  refused("gen:poisson5:4 --solver lsqr --null-space constant", "--null-space: lsqr does without");
  refused("tall.mtx --solver minres", "tall.mtx is 4 x 2, and minres needs a square matrix");
}

TEST_CASE("solve takes several right-hand sides, and reports and writes every column") {
  const Shell shell;
  shell.folder.write("a.mtx", square);
  shell.folder.write("b.mtx", three_columns);
  write_npy(shell.folder / "b.npy", read_dense(shell.folder / "b.mtx"));
  for (const std::string solver : {"cg", "block_cg", "gmres", "bicgstab", "lsqr"})
    for (const std::string rhs : {"b.mtx", "b.npy"})
      for (const std::string to : {"x.mtx", "x.npy"}) {
        CAPTURE(solver);
        CAPTURE(rhs);
        CAPTURE(to);
        const Outcome run =
            shell.tansolve("solve a.mtx --json --solver " + solver + " --rhs " + rhs + " -o " + to);
        CHECK(run.code == 0);
        const Json json = run.json();
        REQUIRE(json["solve"].size() == 3);
        REQUIRE(json["history"].size() == 3);
        for (std::size_t c = 0; c < 3; ++c) {
          const Json& solve = json["solve"][c];
          CHECK(solve["status"] == "converged");
          CHECK(solve["verified_residual"].get<double>() <=
                1.01 * solve["threshold"].get<double>());
          CHECK(json["history"][c].size() == solve["iterations"].get<std::size_t>() + 1);
        }
        CHECK(json["solve"][1]["iterations"] == 0);  // b = 0
        const Dense x =
            to == "x.npy" ? read_npy(InputFile(shell.folder / to)) : read_dense(shell.folder / to);
        REQUIRE(x.rows == 3);
        REQUIRE(x.cols == 3);
        const double expected[] = {1, 2, 3, 0, 0, 0, 0, 0, 1};
        for (int i = 0; i < 9; ++i) CHECK(std::abs(x.values[i] - expected[i]) <= 1e-7);
        if (solver == "cg")  // from the answers: no iteration
          CHECK(shell.tansolve("solve a.mtx --json --rhs " + rhs + " --x0 " + to)
                    .json()["solve"][2]["iterations"] == 0);
      }
  CHECK(contains(shell.tansolve("solve a.mtx --rhs b.mtx").out, "column 3 of 3\nconverged"));
  CHECK(shell.tansolve("solve a.mtx --rhs b.mtx --max-iters 1").code == 1);
  CHECK(shell.line("\"$P\" solve a.mtx --rhs - --json <b.npy").code == 0);
}

TEST_CASE("solve refuses right-hand sides that do not fit, naming the file") {
  const Shell shell;
  shell.folder.write("a.mtx", square);
  shell.folder.write("b.mtx", three_columns);
  shell.folder.write("x.mtx", "%%MatrixMarket matrix array real general\n3 1\n0\n0\n0\n");
  shell.folder.write("c.npy", std::string("\x93NUMPY\x01\x00\x3a\x00", 10) +
                                  "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}  \n" +
                                  std::string(24, '\0'));
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Outcome run = shell.tansolve("solve a.mtx " + options);
    CHECK(run.code == 3);
    INFO(run.err);
    CHECK(contains(run.err, why));
  };
  refused("--rhs b.mtx --x0 x.mtx", "--x0 x.mtx: 3 x 1, it must be 3 x 3");
  refused("--rhs c.npy", "complex");
  write_npy(shell.folder / "short.npy", {.rows = 2, .cols = 2, .values = {1, 2, 3, 4}});
  refused("--rhs short.npy", "--rhs short.npy: 2 x 2, it must be 3 x 1, or have more columns");
  write_npy(shell.folder / "huge.npy", {.rows = 3, .cols = 2, .values = {1, 2, 3, 4, 1e99, 6}});
  refused("--precision f32 --rhs huge.npy", "element 2 of column 2");
}

}  // namespace tansolve::test
