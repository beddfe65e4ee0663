// SPDX-License-Identifier: BSD-3-Clause
// Where -o leads, and that no way to end, by a signal or by a full disk, costs a result or leaves
// half a file.
#include "apps/program.hpp"

#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <algorithm>
#include <filesystem>

namespace tansolve::test {
namespace {

namespace fs = std::filesystem;

/// Of what the program was writing when it ended.
int unfinished_files(const Shell& shell) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(shell.folder.path()))
    files += contains(entry.path().filename().string(), ".part");
  return files;
}

/// A line that starts the program (whose signals a background job of a shell would else ignore),
/// waits until `ready` succeeds, sends it a signal and ends as it does.
std::string signalled(const std::string& arguments, const std::string& ready,
                      const std::string& signal) {
  return "env --default-signal=INT,HUP \"$P\" " + arguments + " >out 2>err & pid=$!; until " +
         ready + " || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done; kill -" + signal +
         " $pid; wait $pid";
}

}  // namespace

TEST_CASE("an output to standard output goes there alone, the text to stderr") {
  const Shell shell;
  REQUIRE(shell.tansolve("encode gen:poisson5:9 -o a.tans").code == 0);
  const std::string bytes = read_bytes(shell.folder / "a.tans");
  for (const std::string name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    CAPTURE(name);
    const Outcome file = shell.tansolve("encode gen:poisson5:9 -o " + name);
    CHECK(file.code == 0);
    CHECK(file.out == bytes);
    CHECK(contains(file.err, "storage"));
    CHECK(shell.line("\"$P\" encode gen:poisson5:9 -o " + name + " | cat").out == bytes);
    CHECK(shell.line("echo kept; \"$P\" encode gen:poisson5:9 -o " + name).out == "kept\n" + bytes);

    const Outcome solved = shell.tansolve("solve gen:poisson5:9 -o " + name);
    CHECK(solved.out.starts_with("%%MatrixMarket matrix array real general\n81 1\n"));
    CHECK(contains(solved.err, "converged"));
    for (const std::string command :
         {"solve gen:poisson5:9", "encode gen:poisson5:9", "decode a.tans", "gen poisson5:9"}) {
      const Outcome both = shell.tansolve(command + " --json -o " + name);
      CHECK(both.code == 2);
      CHECK(both.out.empty());
      CHECK(contains(both.err, "-o " + name));
    }
  }
  CHECK(shell.tansolve("decode a.tans -o -").out == shell.tansolve("gen poisson5:9 -o -").out);
}

TEST_CASE("a file that standard output is redirected to as well is not taken for -o") {
  const Shell shell;
  const Outcome run = shell.line("\"$P\" solve gen:poisson5:9 --json -o x >x");
  CHECK(run.code == 2);
  CHECK(contains(run.err, "redirected to the same file"));
  CHECK(shell.line("\"$P\" solve gen:poisson5:9 -o /dev/null >/dev/null").code == 0);
}

TEST_CASE("an output without a name is refused, one behind a dangling link is written there") {
  const Shell shell;
  for (const std::string command :
       {"solve gen:poisson5:9", "encode gen:poisson5:9", "decode a.tans", "gen poisson5:9"}) {
    const Outcome run = shell.tansolve(command + " -o ''");
    CHECK(run.code == 2);
    CHECK(contains(run.err, "--output"));
    CHECK(contains(run.err, "empty"));
  }
  fs::create_symlink("x.mtx", shell.folder / "link");
  CHECK(shell.tansolve("solve gen:poisson5:9 -o link").code == 0);
  CHECK(fs::is_symlink(shell.folder / "link"));
  CHECK(read_dense(shell.folder / "x.mtx").rows == 81);
}

TEST_CASE("a signal cancels a solve, whose report and x are written") {
  for (const std::string signal : {"INT", "TERM", "HUP", "HUP $pid; kill -HUP $pid; kill -TERM"}) {
    CAPTURE(signal);
    const Shell shell;
    const Outcome run = shell.line(
        signalled("solve gen:poisson7:30 --rtol 0 --max-iters 1000000000 -v -o x.mtx --json",
                  "grep -q '^       2 ' err", signal));
    CHECK(run.code == 1);
    const Json json = Json::parse(read_bytes(shell.folder / "out"));
    CHECK(json["solve"]["status"] == "cancelled");
    const Dense x = read_dense(shell.folder / "x.mtx");
    REQUIRE(x.rows == 27000);
    CHECK(std::ranges::any_of(x.values, [](double element) { return element != 0; }));
  }
}

TEST_CASE("a signal cancels a search for eigenvalues, whose report and vectors are written") {
  for (const std::string solver : {"lanczos", "lobpcg"}) {
    CAPTURE(solver);
    const Shell shell;
    const Outcome run = shell.line(
        signalled("eigs gen:poisson5:200 --nev 3 --tol 0 -v -o v.mtx --json --solver " + solver,
                  "grep -q ' products' err", "INT"));
    CHECK(run.code == 1);
    const Json json = Json::parse(read_bytes(shell.folder / "out"));
    CHECK(json["eigs"]["status"] == "cancelled");
    const Dense vectors = read_dense(shell.folder / "v.mtx");
    REQUIRE(vectors.rows == 40000);
    CHECK(vectors.cols == 3);
    CHECK(std::ranges::any_of(vectors.values, [](double element) { return element != 0; }));
  }
}

TEST_CASE("a signal that ends the program leaves no unfinished file and says so to the shell") {
  const struct {
    std::string name;
    int number;
  } signals[] = {{"INT", 2}, {"TERM", 15}, {"HUP", 1}};
  for (const auto& [signal, number] : signals) {
    CAPTURE(signal);
    const Shell shell;
    const Outcome run =
        shell.line(signalled("gen poisson7:80 -o a.mtx.gz", "ls *.part-* 2>/dev/null", signal));
    CHECK(run.code == 128 + number);
    CHECK(unfinished_files(shell) == 0);
    CHECK_FALSE(fs::exists(shell.folder / "a.mtx.gz"));
  }
  const Shell shell;
  CHECK(shell.line(signalled("encode gen:varcoef7:120 -o a.tans", "sleep 0.2", "INT")).code == 130);
  CHECK(fs::is_empty(shell.folder / "out"));
  CHECK(unfinished_files(shell) == 0);
  CHECK_FALSE(fs::exists(shell.folder / "a.tans"));
}

TEST_CASE("signals that were ignored stay ignored") {
  const Shell shell;
  const Outcome run = shell.line(
      "trap '' HUP; \"$P\" solve gen:poisson7:30 --rtol 0 --max-iters 200 -v >/dev/null 2>err & "
      "pid=$!; until grep -q '^       2 ' err; do sleep 0.01; done; kill -HUP $pid; wait $pid");
  CHECK(run.code == 1);
  CHECK(contains(read_bytes(shell.folder / "err"), "\n     200 "));
}

TEST_CASE("a file beyond the size limit is an error and leaves nothing behind") {
  const Shell shell;
  const Outcome run = shell.line("ulimit -f 8; \"$P\" gen poisson5:300 -o a.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "cannot write a.mtx: File too large"));
  CHECK(unfinished_files(shell) == 0);
  CHECK_FALSE(fs::exists(shell.folder / "a.mtx"));
}

TEST_CASE("an answer that cannot be written costs 3 and not the report") {
  const Shell shell;
  for (const std::string kind : {"", " --json"}) {
    const Outcome run =
        shell.line("ulimit -f 16; \"$P\" solve gen:poisson7:30 --max-iters 2 -o x.mtx" + kind);
    CHECK(run.code == 3);
    CHECK(contains(run.out, "iteration_limit"));
    CHECK(contains(run.err, "cannot write x.mtx"));
  }
  const Outcome full = shell.tansolve("solve gen:poisson7:30 --json -o /dev/full");
  CHECK(full.code == 3);
  CHECK(full.json()["solve"]["status"] == "converged");
}

TEST_CASE("a closed pipe or a full disk behind standard output costs 3 and not the file") {
  const Shell shell;
  for (const std::string kind : {"", " --json"})
    for (const std::string& line :
         {"(sleep 0.1; \"$P\" solve gen:poisson5:9 -o x.mtx" + kind + "; echo $? >code) | :",
          "\"$P\" solve gen:poisson5:9 -o x.mtx" + kind + " >/dev/full; echo $? >code"}) {
      CAPTURE(line);
      fs::remove(shell.folder / "x.mtx");
      const Outcome run = shell.line(line);
      CHECK(read_bytes(shell.folder / "code") == "3\n");
      CHECK(contains(run.err, "standard output could not be written"));
      CHECK(read_dense(shell.folder / "x.mtx").rows == 81);
    }
  CHECK(contains(shell.line("(sleep 0.1; \"$P\" gen poisson5:9 -o -) | :").err, "Broken pipe"));
}

TEST_CASE("solve refuses a folder as its output before it solves") {
  const Shell shell;
  const Outcome run = shell.tansolve("solve gen:poisson5:9 -v -o .");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "it is a folder"));
  CHECK_FALSE(contains(run.err, "\n       1 "));
}

}  // namespace tansolve::test
