// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve on matrices with a bad diagonal, without symmetry, or with entries that are no
// numbers.
#include "apps/program.hpp"

#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// A symmetric 4 x 4 matrix with the diagonal 2, 3, d, 5 and -1 beside it.
std::string with_diagonal(const std::string& d) {
  return "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n"
         "1 1 2\n2 1 -1\n2 2 3\n3 2 -1\n3 3 " +
         d + "\n4 3 -1\n4 4 5\n";
}

}  // namespace

TEST_CASE("auto takes no preconditioner where the diagonal has no use as one, and says why") {
  const Shell shell;
  for (const std::string d : {"1e-310", "0", "-4"}) {
    CAPTURE(d);
    shell.folder.write("a.mtx", with_diagonal(d));
    const Outcome run = shell.tansolve("solve a.mtx --json --solver cg");
    CHECK(run.code <= 1);
    const Json solve = run.json()["solve"];
    CHECK(solve["preconditioner"] == "none");
    CHECK(contains(solve["preconditioner_reason"],
                   "1 of 4 diagonal elements are not positive with a finite inverse, first in "
                   "row 3 (counting from 1): " +
                       d));
  }
  const std::string general = "solve a.mtx --json --solver bicgstab";  // any sign will do for it
  shell.folder.write("a.mtx", with_diagonal("-4"));
  CHECK(shell.tansolve(general).json()["solve"]["preconditioner"] == "jacobi");
  CHECK(shell.tansolve("solve a.mtx --json").json()["solve"]["preconditioner"] == "none");
  shell.folder.write("a.mtx", with_diagonal("0"));
  CHECK(contains(shell.tansolve(general).json()["solve"]["preconditioner_reason"],
                 "1 of 4 diagonal elements are zero, absent"));
  shell.folder.write("a.mtx", with_diagonal("1e-40"));  // denormal in f32, and 1e40 is infinite
  CHECK(shell.tansolve("solve a.mtx --json").json()["solve"]["preconditioner"] == "jacobi");
  CHECK(shell.tansolve("solve a.mtx --json --precision f32").json()["solve"]["preconditioner"] ==
        "none");
}

TEST_CASE("jacobi that was asked for is refused with matrix, count, row and remedy") {
  const Shell shell;
  for (const std::string d : {"1e-310", "0"}) {
    shell.folder.write("a.mtx", with_diagonal(d));
    const Outcome run = shell.tansolve("solve a.mtx --precond jacobi");
    CHECK(run.code == 2);
    CHECK(contains(run.err,
                   "tansolve: a.mtx: jacobi: 1 of 4 diagonal elements are zero, absent or without "
                   "a finite inverse, first in row 3 (counting from 1): " +
                       d + "; --precond none does without"));
  }
}

TEST_CASE("entries that are not finite end every solve with the same status and the first entry") {
  const Shell shell;
  for (const std::string bad : {"nan", "inf", "-inf"})
    for (const std::string row : {"2 2", "4 3"}) {
      shell.folder.write("a.mtx",
                         "%%MatrixMarket matrix coordinate real general\n4 4 6\n1 1 2\n2 2 3\n"
                         "3 3 4\n4 4 5\n3 4 " +
                             bad + "\n" + row + " " + bad + "\n");
      REQUIRE(shell.tansolve("encode a.mtx -o a.tans").code == 0);
      REQUIRE(shell.tansolve("encode a.mtx -o e.tans --plan geometry=paper").code == 0);
      for (const std::string matrix : {"a.mtx", "a.tans", "e.tans", "a.mtx --precision f32"})
        for (const std::string rest : {"", " --precond jacobi", " --rhs 'A*ones' --format csr"}) {
          const std::string line = "solve " + matrix + rest + " --json";
          CAPTURE(bad);
          CAPTURE(line);
          const Outcome run = shell.tansolve(line);
          CHECK(run.code == 1);
          const Json solve = run.json()["solve"];
          CHECK(solve["status"] == "not_finite");
          const std::string first = row == "2 2" ? "row 2, column 2" : "row 3, column 4";
          const std::string count = row == "2 2" ? "2 of 5" : "2 of 6";
          CHECK(contains(solve["detail"], count + " entries are not finite, first " + first +
                                              " (counting from 1): "));
        }
    }
}

TEST_CASE("what is said against symmetry names the matrix") {
  const Shell shell;
  REQUIRE(shell.tansolve("encode gen:convdiff7:5 -o c.tans").code == 0);
  for (const std::string matrix : {"gen:convdiff7:5", "c.tans"}) {
    const Json solve =
        shell.tansolve("solve " + matrix + " --solver cg --max-iters 3 --json").json()["solve"];
    REQUIRE(solve["warnings"].size() == 1);
    CHECK(solve["warnings"][0].get<std::string>().starts_with(matrix + " is not symmetric"));
  }
}

}  // namespace tansolve::test
