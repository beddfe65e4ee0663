// SPDX-License-Identifier: BSD-3-Clause
// tansolve solve: answers, their residuals, the document, and what ends a solve.
#include "apps/program.hpp"

#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace tansolve::test {
namespace {

/// ||b - A x|| / ||b|| by plain loops.
double relative_residual(const Csr<double>& A, const std::vector<double>& b,
                         const std::vector<double>& x) {
  double squares = 0, norm = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    double r = b[i];
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      r -= A.values()[k] * x[A.columns()[k]];
    squares += r * r;
    norm += b[i] * b[i];
  }
  return std::sqrt(squares / norm);
}

const std::string three_by_three =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n"
    "1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n";

}  // namespace

TEST_CASE("solve converges on a Poisson problem and says so in one document") {
  const Shell shell;
  for (const std::string format : {"auto", "dtans", "csr"}) {
    const Outcome run = shell.tansolve("solve gen:poisson7:16 --json --format " + format);
    CHECK(run.code == 0);
    const Json json = run.json();
    CHECK(json["matrix"]["name"] == "gen:poisson7:16");
    CHECK(json["matrix"]["rows"] == 4096);
    CHECK(json["matrix"]["cols"] == 4096);
    CHECK(json["matrix"]["nnz"] == 7 * 4096 - 6 * 256);
    CHECK(json["matrix"]["symmetric"] == true);
    CHECK(json["device"] == "cpu");
    const Json& solve = json["solve"];
    CHECK(solve["status"] == "converged");
    CHECK(solve["solver"] == "cg");
    CHECK(solve["preconditioner"] == "none");
    CHECK(solve["initial_residual"] == 64.0);
    CHECK(solve["relative_residual"].get<double>() <= 1e-8);
    CHECK(solve["true_residual"].get<double>() <= 64e-8);
    CHECK(std::abs(solve["verified_residual"].get<double>() -
                   solve["true_residual"].get<double>()) <= 1e-12);
    CHECK(json["history"].size() == solve["iterations"].get<std::size_t>() + 1);
    CHECK(json["history"][0] == 64.0);
    for (const char* field : {"status_text", "operator_applications", "recurrence_residual",
                              "seconds", "seconds_per_iteration"})
      CHECK_MESSAGE(solve.contains(field), field);
  }
}

TEST_CASE("solve reports the storage of each part") {
  const Shell shell;
  const Json json = shell.tansolve("solve gen:poisson27:8 --format dtans --json").json();
  CHECK(json["plan"]["format"] == "dtans");
  const Json& storage = json["storage"];
  CHECK(storage["bytes_total"] == storage["symbols"].get<int>() + storage["payload"].get<int>() +
                                      storage["row_lengths"].get<int>() +
                                      storage["offsets"].get<int>());
  const int nnz = 22 * 22 * 22;  // (3 n - 2)^3 for n = 8
  CHECK(json["matrix"]["nnz"] == nnz);
  CHECK(storage["csr_bytes"] == 4 * 513 + 12 * nnz);
  CHECK(storage["coo_bytes"] == 16 * nnz);
  CHECK(storage["sell_bytes"].get<int>() >= 12 * nnz);
  CHECK(storage["bytes_per_nnz"].get<double>() ==
        doctest::Approx(storage["bytes_total"].get<double>() / nnz));
  CHECK(json["encode"]["seconds"].get<double>() > 0);
  CHECK(json["encode"]["nnz_per_second"].get<double>() > 0);
}

TEST_CASE("solve ends with 1 at the iteration limit and at the time limit") {
  const Shell shell;
  Outcome run = shell.tansolve("solve gen:poisson7:16 --json --max-iters 3");
  CHECK(run.code == 1);
  CHECK(run.json()["solve"]["status"] == "iteration_limit");
  CHECK(run.json()["solve"]["iterations"] == 3);
  run = shell.tansolve("solve gen:poisson7:16 --json --time-limit 0");
  CHECK(run.code == 1);
  CHECK(run.json()["solve"]["status"] == "time_limit");
}

TEST_CASE("solve writes an x whose residual, recomputed from the file, is small") {
  const Shell shell;
  CHECK(shell.tansolve("solve gen:varcoef7:8 --rhs random --seed 5 -o x.mtx").code == 0);
  CHECK(shell.tansolve("gen varcoef7:8@5 -o a.mtx").code == 0);
  const Csr<double> A = read_matrix_market(shell.folder / "a.mtx");
  const Dense x = read_dense(shell.folder / "x.mtx");
  REQUIRE(x.rows == 512);
  REQUIRE(x.cols == 1);
  // The random right-hand side is that of the seed: solving A x = b from x must need no iteration.
  const Json again = shell.tansolve("solve a.mtx --rhs random --seed 5 --x0 x.mtx --json").json();
  CHECK(again["solve"]["iterations"] == 0);
  CHECK(again["solve"]["status"] == "converged");

  CHECK(shell.tansolve("solve a.mtx --rhs ones -o y.mtx").code == 0);
  const Dense y = read_dense(shell.folder / "y.mtx");
  CHECK(relative_residual(A, std::vector<double>(512, 1.0), y.values) <= 1.01e-8);
}

TEST_CASE("solve finds the solution that a right-hand side was made from") {
  const Shell shell;
  for (const std::string precision : {"f64", "f32"}) {
    const std::string line = "solve gen:varcoef7:6:10 --rhs 'A*ones' -o x.mtx --precision ";
    CHECK(shell.tansolve(line + precision).code == 0);
    for (const double x : read_dense(shell.folder / "x.mtx").values)
      CHECK(std::abs(x - 1) <= (precision == "f64" ? 1e-6 : 1e-2));
  }
}

TEST_CASE("solve takes right-hand sides from files of either kind") {
  const Shell shell;
  shell.folder.write("a.mtx", three_by_three);
  shell.folder.write("array.mtx", "%%MatrixMarket matrix array real general\n3 1\n2\n4\n10\n");
  shell.folder.write(
      "coordinate.mtx",
      "%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 10\n1 1 2\n2 1 4\n");
  for (const std::string rhs : {"array.mtx", "coordinate.mtx"}) {
    CHECK(shell.tansolve("solve a.mtx -o x.mtx --rhs " + rhs).code == 0);
    const Dense x = read_dense(shell.folder / "x.mtx");
    // (4, -1, 0; -1, 4, -1; 0, -1, 4) (1, 2, 3) = (2, 4, 10)
    for (int i = 0; i < 3; ++i) CHECK(x.values[i] == doctest::Approx(i + 1));
  }
  shell.folder.write("short.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
  const Outcome run = shell.tansolve("solve a.mtx --rhs short.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "short.mtx: 2 x 1, it must be 3 x 1"));
  CHECK(shell.tansolve("solve a.mtx --rhs file").code == 3);
}

TEST_CASE("solve says not_finite for a right-hand side with a NaN") {
  const Shell shell;
  shell.folder.write("a.mtx", three_by_three);
  shell.folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n2\nnan\n10\n");
  const Outcome run = shell.tansolve("solve a.mtx --rhs b.mtx --json");
  CHECK(run.code == 1);
  CHECK(run.json()["solve"]["status"] == "not_finite");
  CHECK(contains(run.json()["solve"]["detail"], "b[1]"));
  CHECK(run.json()["solve"]["true_residual"].is_null());
}

TEST_CASE("solve chooses jacobi where the diagonal varies and says why") {
  const Shell shell;
  const Json varying = shell.tansolve("solve gen:varcoef7:8 --json").json();
  CHECK(varying["solve"]["preconditioner"] == "jacobi");
  const Json none = shell.tansolve("solve gen:varcoef7:8 --json --precond none").json();
  CHECK(none["solve"]["preconditioner"] == "none");
  CHECK(none["solve"]["iterations"] > varying["solve"]["iterations"]);
  CHECK(shell.tansolve("solve gen:poisson5:8 --json --precond jacobi")
            .json()["solve"]["preconditioner"] == "jacobi");
}

TEST_CASE("auto takes the solver that fits, and says why") {
  const Shell shell;
  shell.folder.write("i.mtx",
                     "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -2\n");
  CHECK(shell.tansolve("encode gen:convdiff7:5 -o c.tans").code == 0);
  struct Case {
    const char *matrix, *solver, *reason;
  };
  for (const auto& [matrix, solver, reason] :
       {Case{"gen:poisson7:5", "cg", "the matrix is symmetric with a positive diagonal"},
        Case{"i.mtx", "minres", "symmetric, but its diagonal is not positive throughout"},
        Case{"gen:convdiff7:5", "gmres", "the matrix is not symmetric"},
        Case{"c.tans", "gmres", "a random probe finds the matrix not symmetric"}}) {
    CAPTURE(matrix);
    const Outcome run = shell.tansolve(std::string("solve --json ") + matrix);
    CHECK(run.code == 0);
    const Json solve = run.json()["solve"];
    CHECK(solve["solver"] == solver);
    CHECK(contains(solve["solver_reason"], reason));
    CHECK(solve["warnings"].empty());
  }
}

TEST_CASE("every solver of the table solves a definite system, and says that it was asked for") {
  const Shell shell;
  for (const std::string solver : {"cg", "fcg", "block_cg", "minres", "gmres", "fgmres", "bicgstab",
                                   "idr", "richardson", "lsmr", "lsqr"}) {
    CAPTURE(solver);
    const Outcome run = shell.tansolve("solve gen:varcoef7:6 --json --solver " + solver);
    CHECK(run.code == 0);
    CHECK(run.json()["solve"]["solver"] == solver);
    CHECK(contains(run.json()["solve"]["solver_reason"], "asked for; the matrix is symmetric"));
    const Outcome restarted =
        shell.tansolve("solve gen:poisson7:5 --restart 20 --solver " + solver);
    const Outcome sparing =
        shell.tansolve("solve gen:poisson7:5 --reorthogonalize needed --solver " + solver);
    if (contains(solver, "gmres")) {
      CHECK(restarted.code == 0);
      CHECK(sparing.code == 0);
      continue;
    }
    CHECK(sparing.code == 2);
    CHECK(contains(sparing.err, "--reorthogonalize: " + solver + " keeps no basis"));
    CHECK(restarted.code == 2);
    CHECK(contains(restarted.err, "--restart: " + solver + " keeps no basis"));
  }
  const Outcome mistyped = shell.tansolve("solve gen:poisson7:5 --max-iter=7 --x 3");
  CHECK(mistyped.code == 2);
  CHECK(contains(mistyped.err, "'--max-iter' is no option of solve, but --max-iters is\n"));
  const Outcome foreign = shell.tansolve("eigs gen:poisson7:5 --sparsify 3");
  CHECK(contains(foreign.err, "'--sparsify' is no option of eigs\n"));
  CHECK(contains(shell.tansolve("info K.mtx M.mtx").err, "'M.mtx' is one argument too many\n"));
  const Outcome unknown = shell.tansolve("solve gen:poisson7:5 --solver magic");
  CHECK(unknown.code == 2);
  CHECK(contains(unknown.err,
                 "'magic' must be one of auto|cg|fcg|block_cg|minres|gmres|fgmres|bicgstab|idr|"
                 "richardson|lsmr|lsqr"));
}

TEST_CASE("solve refines the answers of f32 to the accuracy of f64") {
  const Shell shell;
  for (const std::string rest :
       {"", " --precond ic0", " --format csr --solver gmres", " --rhs random --solver bicgstab"}) {
    CAPTURE(rest);
    const Outcome run =
        shell.tansolve("solve gen:varcoef7:10:100 --refine --rtol 1e-12 --json" + rest);
    CHECK(run.code == 0);
    const Json solve = run.json()["solve"];
    CHECK(solve["status"] == "converged");
    CHECK(contains(solve["solver"], " in f32, refined"));
    CHECK(solve["iterations"] >= 3);
    CHECK(solve["iterations"] <= 8);
    CHECK(solve["inner_iterations"] > solve["iterations"]);
    CHECK(solve["preconditioner"] != "none");
    CHECK(solve["verified_residual"].get<double>() <= 1.01 * solve["threshold"].get<double>());
  }
  CHECK(shell.tansolve("encode gen:varcoef7:10:100 -o v.tans").code == 0);
  CHECK(shell.tansolve("solve v.tans --refine").code == 0);
  const auto refused = [&](const std::string& rest, const std::string& why) {
    const Outcome run = shell.tansolve("solve gen:varcoef7:6 --refine " + rest);
    CHECK(run.code == 2);
    CHECK(contains(run.err, "--refine: " + why));
  };
  refused("--precision f32", "what is refined in f32 must be f64");
  refused("--solver lsqr", "lsqr is not refined");

  const auto status = [&](const std::string& rest) {
    const Outcome run =
        shell.tansolve("solve gen:poisson5:40 --refine --precond none --json " + rest);
    CHECK(run.code == 1);
    return run.json()["solve"]["status"];
  };
  CHECK(status("--max-iters 5") == "iteration_limit");
  CHECK(status("--time-limit 0") == "time_limit");
  refused("--null-space constant", "it does not go with --null-space");
}

TEST_CASE("solve gives idr a shadow space of the size asked for") {
  const Shell shell;
  const auto iterations = [&](const std::string& rest) -> std::int64_t {
    return shell.tansolve("solve gen:convdiff7:10 --json --solver idr" + rest)
        .json()["solve"]["iterations"];
  };
  CHECK(iterations(" --idr-s 4") == iterations(""));
  CHECK(iterations(" --idr-s 8") != iterations(""));
  CHECK(shell.tansolve("solve gen:convdiff7:5 --solver idr --idr-s 17").code == 2);
  const Outcome other = shell.tansolve("solve gen:convdiff7:5 --solver gmres --idr-s 2");
  CHECK(other.code == 2);
  CHECK(contains(other.err, "--idr-s: gmres has no shadow space; idr has"));
}

TEST_CASE("solve projects constant vectors out of a graph's Laplacian") {
  const Shell shell;
  const std::string line = "solve gen:laplacian:ws:300:6 --rhs random --json -o x.mtx";
  CHECK(shell.tansolve(line + " --max-iters 200").code == 1);  // b is out of reach
  for (const std::string solver : {"cg", "bicgstab", "idr"}) {
    CAPTURE(solver);
    const Outcome run = shell.tansolve(line + " --null-space constant --solver " + solver);
    CHECK(run.code == 0);
    const Json solve = run.json()["solve"];
    CHECK(solve["preconditioner"] == "jacobi, projected");
    CHECK(solve["verified_residual"].get<double>() <= 1.01 * solve["threshold"].get<double>());
    double sum = 0;
    for (const double x : read_dense(shell.folder / "x.mtx").values) sum += x;
    CHECK(std::abs(sum) <= 1e-9);
  }
}

TEST_CASE("solve tries what was asked for, with a warning, but no matrix that is not square") {
  const Shell shell;
  Outcome run = shell.tansolve("solve gen:convdiff7:5 --solver cg --max-iters 50 --json");
  CHECK(run.code == 1);
  REQUIRE(run.json()["solve"]["warnings"].size() == 1);
  CHECK(run.json()["solve"]["warnings"][0] == "gen:convdiff7:5 is not symmetric, which cg needs");
  CHECK(contains(run.json()["solve"]["solver_reason"],
                 "not symmetric; cg needs a symmetric positive definite matrix"));

  shell.folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n");
  run = shell.tansolve("solve wide.mtx --solver cg");
  CHECK(run.code == 2);
  CHECK(contains(run.err, "wide.mtx is 1 x 2"));
  CHECK(contains(run.err, "LSQR and LSMR"));
}

TEST_CASE("cg on a negative definite matrix says what is wrong, and auto solves it") {
  const Shell shell;
  shell.folder.write("a.mtx",
                     "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 -1\n2 2 -2\n");
  CHECK(shell.tansolve("solve a.mtx").code == 0);
  const Outcome run = shell.tansolve("solve a.mtx --json --solver cg");
  CHECK(run.code == 1);
  CHECK(run.json()["solve"]["status"] == "indefinite_operator");
  CHECK(contains(run.json()["solve"]["solver_reason"], "diagonal is negative"));
}

TEST_CASE("solve -v shows every iteration on stderr") {
  const Shell shell;
  const Outcome run = shell.tansolve("solve gen:poisson5:9 -v --json --max-iters 4");
  CHECK(contains(run.err, "\n       0 "));
  CHECK(contains(run.err, "\n       4 "));
  CHECK(run.json()["history"].size() == 5);
}

TEST_CASE("solve either solves or says why not for every real matrix") {
  const char* folder = std::getenv("TANSOLVE_MATRICES");
  if (folder == nullptr) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder of matrices");
    return;
  }
  const Shell shell;
  int converged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().string();
    if (!name.ends_with(".gz")) continue;
    CAPTURE(name);
    const Outcome run =
        shell.tansolve("solve '" + name + "' --json --rhs 'A*ones' --format dtans --max-iters 100");
    CHECK(run.code <= 3);
    if (run.code >= 2) {
      CHECK(contains(run.err, "tansolve: "));
      CHECK(run.out.empty());
      continue;
    }
    const Json solve = run.json()["solve"];
    const bool least = solve["least_squares"].is_object() && solve["least_squares"]["found"];
    CHECK((solve["status"] == "converged" || least) == (run.code == 0));
    converged += solve["status"] == "converged";
    const double truth = solve["true_residual"], threshold = solve["threshold"];
    CHECK((truth <= threshold) == (solve["status"] == "converged"));
    CHECK(std::abs(solve["verified_residual"].get<double>() - truth) <=
          1e-6 * std::max(truth, threshold));
  }
  MESSAGE("converged: ", converged);
  CHECK(converged > 0);
}

TEST_CASE("solve keeps its result and exit code when stderr cannot be written") {
  const Shell shell;
  const Outcome good = shell.line("\"$P\" solve gen:poisson5:9 --json 2>/dev/full");
  CHECK(good.code == 0);
  CHECK(good.json()["solve"]["status"] == "converged");
  CHECK(shell.line("\"$P\" solve no-such-file 2>/dev/full").code == 3);
  CHECK(shell.line("\"$P\" solve --bogus 2>&-").code == 2);
}

TEST_CASE("solve refuses what f32 would turn into zeros or infinities") {
  const Shell shell;
  const std::string head = "%%MatrixMarket matrix array real general\n2 1\n";
  const std::string matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 ";
  shell.folder.write("a.mtx", matrix + "2\n");
  shell.folder.write("huge.mtx", matrix + "1e200\n");
  shell.folder.write("tiny_b.mtx", head + "1e-200\n1e-200\n");
  shell.folder.write("huge_b.mtx", head + "1\n1e200\n");
  const Outcome tiny = shell.tansolve("solve a.mtx --rhs tiny_b.mtx --precision f32");
  CHECK(tiny.code == 3);
  CHECK(contains(tiny.err, "tiny_b.mtx: every element rounds to 0 in f32"));
  CHECK(contains(shell.tansolve("solve a.mtx --rhs huge_b.mtx --precision f32").err, "element 2"));
  const Outcome huge = shell.tansolve("encode huge.mtx --precision f32 -o h.tans");
  CHECK(huge.code == 3);
  CHECK(contains(huge.err, "huge.mtx: row 2, column 2 (counting from 1): 1e+200 is beyond f32"));
  CHECK(shell.tansolve("solve a.mtx --rhs tiny_b.mtx").code == 0);
}

TEST_CASE("solve gives the same bits in every run") {
  const Shell shell;
  CHECK(shell.tansolve("solve gen:varcoef7:8 -o x.mtx --threads 2").code == 0);
  CHECK(shell.tansolve("solve gen:varcoef7:8 -o y.mtx --threads 1 --deterministic on").code == 0);
  CHECK(read_bytes(shell.folder / "x.mtx") == read_bytes(shell.folder / "y.mtx"));
}

}  // namespace tansolve::test
