// SPDX-License-Identifier: BSD-3-Clause
// tansolve eigs: pairs, the document, the file of vectors, and what is refused.
#include "apps/program.hpp"

#include <tansolve/codec/matrix_market.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

namespace tansolve::test {
namespace {

const std::string mtx = "%%MatrixMarket matrix coordinate real ";

/// The eigenvalues 2 - 2 cos(k pi / (n + 1)) of the second difference, and their sums.
double poisson_eigenvalue(int nx, int i, int ny, int j) {
  return 4 - 2 * std::cos(i * M_PI / (nx + 1)) - 2 * std::cos(j * M_PI / (ny + 1));
}

}  // namespace

TEST_CASE("eigs finds the ends of a known spectrum and says so in one document") {
  const Shell shell;
  for (const std::string solver : {"lanczos", "lobpcg"}) {
    const Outcome run = shell.tansolve("eigs gen:poisson5:20x17 --nev 3 --json --solver " + solver);
    CHECK(run.code == 0);
    const Json json = run.json();
    CHECK(json["matrix"]["symmetric"] == true);
    CHECK(json["device"] == "cpu");
    const Json& eigs = json["eigs"];
    CHECK(eigs["solver"] == solver);
    CHECK(eigs["status"] == "converged");
    CHECK(eigs["converged"] == 3);
    CHECK(eigs["verified"] == (solver == "lanczos"));
    CHECK(eigs["mass"] == "none");
    const double expected[] = {poisson_eigenvalue(20, 1, 17, 1), poisson_eigenvalue(20, 2, 17, 1),
                               poisson_eigenvalue(20, 1, 17, 2)};
    for (int i = 0; i < 3; ++i) {
      CHECK(std::abs(eigs["eigenvalues"][i].get<double>() - expected[i]) <= 8e-8);
      CHECK(eigs["residuals"][i].get<double>() <= eigs["threshold"].get<double>());
      CHECK(std::abs(eigs["verified_residuals"][i].get<double>() -
                     eigs["residuals"][i].get<double>()) <= 1e-13);
      CHECK(eigs["pair_converged"][i] == true);
    }
    for (const char* field : {"status_text", "norm", "restarts", "searches",
                              "operator_applications", "seconds", "workspace_bytes"})
      CHECK(eigs.contains(field));
  }
}

TEST_CASE("eigs prints pairs for people, and takes every end and storage") {
  const Shell shell;
  shell.folder.write("d.mtx", mtx + "symmetric\n3 3 3\n1 1 1\n2 2 -5\n3 3 2\n");
  CHECK(contains(shell.tansolve("eigs d.mtx --nev 1").out, "-5.0000000000000000e+00"));
  CHECK(
      contains(shell.tansolve("eigs d.mtx --nev 1 --which largest").out, "2.0000000000000000e+00"));
  CHECK(contains(shell.tansolve("eigs d.mtx --nev 1 --which magnitude").out,
                 "-5.0000000000000000e+00"));
  CHECK(shell.tansolve("eigs gen:poisson5:30 --nev 2 --basis-precision f32 --tol 1e-6").code == 0);
  CHECK(shell.tansolve("eigs gen:poisson5:30 --nev 2 --block 2 --ncv 30 --verify off").code == 0);
  const Outcome narrow = shell.tansolve("eigs gen:poisson5:30 --nev 2 --basis-precision f32");
  CHECK(narrow.code == 2);
  CHECK(contains(narrow.err, "needs a wider storage"));
}

TEST_CASE("eigs solves A v = lambda B v for diagonal and other B") {
  const Shell shell;
  std::string diagonal = mtx + "symmetric\n16 16 16\n", other = mtx + "symmetric\n16 16 17\n";
  for (int i = 1; i <= 16; ++i)
    for (std::string* file : {&diagonal, &other}) *file += fmt::format("{} {} 2\n", i, i);
  other += "2 1 0.001\n";
  shell.folder.write("diagonal.mtx", diagonal);
  shell.folder.write("other.mtx", other);
  const double expected = poisson_eigenvalue(4, 1, 4, 1) / 2;
  for (const std::string b : {"diagonal.mtx", "other.mtx"}) {
    const Outcome run = shell.tansolve("eigs gen:poisson5:4 --nev 1 --json --b " + b);
    CHECK(run.code == 0);
    const Json eigs = run.json()["eigs"];
    CHECK(eigs["solver"] == (b == "other.mtx" ? "shift-invert" : "lanczos"));
    CHECK(eigs["mass"] != "none");
    CHECK(eigs["eigenvalues"][0].get<double>() == doctest::Approx(expected).epsilon(1e-3));
  }
  shell.folder.write("singular.mtx", mtx + "symmetric\n16 16 2\n1 1 1\n3 3 1\n");
  const Outcome by_lobpcg =
      shell.tansolve("eigs gen:poisson5:4 --nev 1 --json --b other.mtx --solver lobpcg");
  CHECK(by_lobpcg.json()["eigs"]["eigenvalues"][0].get<double>() ==
        doctest::Approx(expected).epsilon(1e-3));
  const Outcome finite = shell.tansolve("eigs gen:poisson5:4 --nev 2 --json --b singular.mtx");
  CHECK(finite.code == 0);
  CHECK(finite.json()["eigs"]["solver"] == "shift-invert");
  const Outcome infinite =
      shell.tansolve("eigs gen:poisson5:4 --nev 2 --b singular.mtx --which largest");
  CHECK(infinite.code == 1);
  CHECK(contains(infinite.out, "of a singular mass it may be infinite"));
  const Outcome singular =
      shell.tansolve("eigs gen:poisson5:4 --nev 1 --b singular.mtx --solver lanczos");
  CHECK(singular.code == 2);
  CHECK(contains(singular.err,
                 "14 of 16 diagonal elements are not positive and finite, first in row 2"));
  CHECK(shell.tansolve("eigs gen:poisson5:4 --nev 1 --b other.mtx --solver lanczos").code == 2);
  CHECK(shell.tansolve("eigs gen:poisson5:5 --nev 1 --b other.mtx").code == 3);
}

TEST_CASE("eigs finds inner eigenvalues and proves its counts") {
  const Shell shell;
  for (const std::string more : {"", " --precision f32"}) {
    const Json eigs =
        shell.tansolve("eigs gen:poisson5:20x17 --nev 3 --which near:3.1 --json" + more)
            .json()["eigs"];
    CHECK(eigs["solver"] == "shift-invert");
    CHECK(eigs["verified"] == true);
    CHECK(contains(eigs["proof"].get<std::string>(), "nearer to the target than"));
    CHECK(eigs["factorizations"] >= 3);
    CHECK(eigs["solutions"] > 3);
    CHECK(eigs["factor_bytes"] > 0);
    std::vector<double> distances;
    for (int i = 1; i <= 20; ++i)
      for (int j = 1; j <= 17; ++j)
        distances.push_back(std::abs(poisson_eigenvalue(20, i, 17, j) - 3.1));
    std::ranges::sort(distances);
    for (int i = 0; i < 3; ++i)
      CHECK(std::abs(std::abs(eigs["eigenvalues"][i].get<double>() - 3.1) - distances[i]) <=
            eigs["threshold"].get<double>());
  }
  const Outcome counted =
      shell.tansolve("eigs gen:poisson5:20 --nev 4 --solver lanczos --verify inertia");
  CHECK(counted.code == 0);
  CHECK(contains(counted.out, "to count eigenvalues: a factor of"));
  CHECK(contains(counted.out, "by inertia, as many as found"));
  CHECK(contains(shell.tansolve("eigs gen:poisson5:20 --which near:x").err, "near:SIGMA"));
  CHECK(shell.tansolve("eigs gen:poisson5:20 --which near:1 --solver lanczos").code == 2);
  CHECK(shell.tansolve("eigs gen:poisson5:20 --which magnitude --solver shift-invert").code == 2);
}

TEST_CASE("eigs turns from lanczos to shift-invert where that stalls") {
  const Shell shell;
  const auto eigenvalue = [](int i) { return std::pow(10, -6 + i / 50.0); };
  std::string file = mtx + "symmetric\n300 300 300\n";
  for (int i = 1; i <= 300; ++i) file += fmt::format("{} {} {}\n", i, i, eigenvalue(i));
  shell.folder.write("cluster.mtx", file);
  const Outcome run = shell.tansolve("eigs cluster.mtx --nev 10 --json");
  CHECK(run.code == 0);
  CHECK(contains(run.err, "for lanczos has stalled after"));
  const Json eigs = run.json()["eigs"];
  CHECK(eigs["solver"] == "shift-invert");
  CHECK(eigs["verified"] == true);
  CHECK(eigs["operator_applications"] > 200);  // of both
  for (int i = 0; i < 10; ++i)
    CHECK(eigs["eigenvalues"][i].get<double>() == doctest::Approx(eigenvalue(i + 1)).epsilon(1e-6));
  const Outcome dense = shell.tansolve("eigs cluster.mtx --nev 10 --tol 0");
  CHECK(dense.code == 0);  // exact, of a diagonal matrix
  CHECK(contains(dense.out,
                 "shift-invert: the true residual no longer decreases; "
                 "residuals do not fall to the threshold"));
  CHECK(contains(dense.out, "so it is solved densely"));
  const Outcome limited = shell.tansolve("eigs cluster.mtx --nev 10 --json --max-products 260");
  CHECK(limited.code == 1);
  CHECK(contains(limited.err, "for lanczos has stalled after"));
  CHECK(limited.json()["eigs"]["status"] == "iteration_limit");
  CHECK(limited.json()["eigs"]["eigenvalues"][9].is_number());
  const Json alone = shell.tansolve("eigs cluster.mtx --nev 10 --json --solver lanczos").json();
  CHECK(alone["eigs"]["solver"] == "lanczos");
  CHECK(alone["eigs"]["converged"] == 10);
}

TEST_CASE("eigs solves repeatedly, with the same result, and tells the seconds of each") {
  const Shell shell;
  const Json once = shell.tansolve("eigs gen:poisson5:20x17 --nev 3 --json").json()["eigs"];
  const Json thrice =
      shell.tansolve("eigs gen:poisson5:20x17 --nev 3 --json --repeat 3").json()["eigs"];
  CHECK(once["seconds_of_each"].size() == 1);
  CHECK(thrice["seconds_of_each"].size() == 3);
  CHECK(thrice["eigenvalues"] == once["eigenvalues"]);
  CHECK(contains(shell.tansolve("eigs gen:poisson5:20x17 --nev 3 --repeat 2").out,
                 "each solve with its workspace: "));
  CHECK(shell.tansolve("eigs gen:poisson5:20x17 --repeat 0").code == 2);
}

TEST_CASE("eigs keeps within its seconds where it orders, factorises or counts") {
  const Shell shell;
  for (const std::string option : {"--solver shift-invert", "--which near:3"}) {
    const Outcome run = shell.tansolve("eigs gen:poisson7:20 --json --time-limit 0 " + option);
    CHECK(run.code == 1);
    CHECK(run.json()["eigs"]["status"] == "time_limit");
  }
}

TEST_CASE("eigs writes vectors, column by column") {
  const Shell shell;
  CHECK(shell.tansolve("eigs gen:poisson5:12x11 --nev 3 -o same.mtx").code == 0);
  CHECK(shell.tansolve("eigs gen:poisson5:12x11 --nev 3 --vectors v.mtx").code == 0);
  CHECK(read_dense(shell.folder / "same.mtx").values == read_dense(shell.folder / "v.mtx").values);
  const Dense v = read_dense(shell.folder / "v.mtx");
  CHECK(v.rows == 132);
  REQUIRE(v.cols == 3);
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k <= j; ++k) {
      double sum = 0;
      for (int i = 0; i < 132; ++i) sum += v.values[j * 132 + i] * v.values[k * 132 + i];
      CHECK(std::abs(sum - (j == k)) <= 1e-12);
    }
}

TEST_CASE("eigs gives the codes of the shell") {
  const Shell shell;
  const auto code = [&](const std::string& arguments) {
    return shell.tansolve("eigs " + arguments).code;
  };
  CHECK(code("gen:poisson5:30 --nev 4 --max-products 50") == 1);
  CHECK(contains(shell.tansolve("eigs gen:poisson5:30 --nev 4 --max-products 50").out,
                 "  try --solver shift-invert"));
  CHECK(contains(shell.tansolve("eigs gen:poisson5:2").out, "converged: 4 of 4 pairs"));
  CHECK(code("gen:poisson5:3 --nev 10") == 2);
  CHECK(code("gen:poisson5:3 --nev 0") == 2);
  CHECK(code("gen:convdiff7:4 --nev 2") == 2);
  CHECK(code("gen:poisson5:9 --nev 2 --solver qr") == 2);
  CHECK(code("gen:poisson5:9 --nev 2 --precond jacobi --solver lanczos") == 2);
  CHECK(code("gen:poisson5:9 --nev 2 --precond jacobi") == 0);
  for (const std::string option : {"--ncv 9", "--block 2", "--filter 7", "--basis-precision f32"}) {
    CHECK(code("gen:poisson5:9 --nev 2 --solver lanczos --tol 1e-5 " + option) == 0);
    CHECK(code("gen:poisson5:9 --nev 2 --solver shift-invert " + option) == 2);
    CHECK(code("gen:poisson5:9 --nev 2 --solver lobpcg " + option) == 2);
  }
  CHECK(code("nowhere.mtx") == 3);
  shell.folder.write("wide.mtx", mtx + "general\n2 3 1\n1 1 1\n");
  CHECK(code("wide.mtx") == 2);
  shell.folder.write("nan.mtx", mtx + "symmetric\n2 2 1\n1 1 nan\n");
  CHECK(code("nan.mtx --nev 1") == 2);
}

}  // namespace tansolve::test
