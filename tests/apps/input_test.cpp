// SPDX-License-Identifier: BSD-3-Clause
// What MATRIX, --rhs and --x0 may be: pipes, standard input, values that f32 cannot hold; and how
// far reading has come.
#include "apps/program.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace tansolve::test {
namespace {

const std::string diagonal =
    "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 2\n3 3 4\n";

/// A terminal to be written to, and what it was told.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    REQUIRE(master_ >= 0);
    REQUIRE(::grantpt(master_) == 0);
    REQUIRE(::unlockpt(master_) == 0);
    slave_ = ::open(name().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // else it hangs up
  }
  ~Terminal() {
    ::close(slave_);
    ::close(master_);
  }
  std::string name() const { return ::ptsname(master_); }
  std::string text() const {
    std::string text(1 << 16, '\0');
    const ssize_t bytes = ::read(master_, text.data(), text.size());
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return text;
  }

 private:
  int master_, slave_ = -1;
};

}  // namespace

TEST_CASE("a matrix is read from a pipe or standard input, whatever its kind") {
  const Shell shell;
  shell.folder.write("a.mtx", diagonal);
  shell.folder.write("a.mtx.gz", gzip(diagonal));
  // The same in Harwell-Boeing form.
  shell.folder.write(
      "a.rb",
      "title                                                                   |key\n"
      "  3  1  1  1\nrua  3 3 3 0\n(4I2)           (10I1)          (3F5.1)\n"
      " 1 2 3 4\n123\n  1.0  2.0  4.0\n");
  REQUIRE(shell.tansolve("encode a.mtx -o a.tans").code == 0);
  for (const std::string file : {"a.mtx", "a.mtx.gz", "a.rb", "a.tans"}) {
    for (const std::string& line :
         {"cat " + file + " | \"$P\" solve - --json",
          "cat " + file + " | \"$P\" solve /dev/stdin --json", "\"$P\" solve - --json <" + file,
          "mkfifo p; cat " + file + " >p & \"$P\" solve p --json; rm p"}) {
      CAPTURE(line);
      const Outcome run = shell.line(line);
      CHECK(run.code == 0);
      const Json json = run.json();
      CHECK(json["matrix"]["nnz"] == 3);
      CHECK(json["solve"]["status"] == "converged");
    }
  }
  CHECK(shell.line("\"$P\" encode a.mtx -o - | \"$P\" decode - -o -").out == diagonal);
  CHECK(contains(shell.line("\"$P\" solve - --json </dev/null").err, "the file is empty"));
  shell.folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n4\n");
  CHECK(shell.line("cat b.mtx | \"$P\" solve a.mtx --rhs -").code == 0);
}

TEST_CASE("a right-hand side or a guess that is no file names its option and what that takes") {
  const Shell shell;
  Outcome run = shell.tansolve("solve gen:poisson5:4 --rhs onse");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--rhs: cannot read onse"));
  CHECK(contains(run.err, "it takes ones, random, A*ones, file, or the name of"));
  run = shell.tansolve("solve gen:poisson5:4 --x0 zeros");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--x0: cannot read zeros"));
  CHECK(contains(run.err, "it takes the name of a Matrix Market or .npy file"));
  shell.folder.write("bad.mtx", "hello\n");
  for (const std::string option : {"--rhs", "--x0"}) {
    run = shell.tansolve("solve gen:poisson5:4 " + option + " bad.mtx");
    CHECK(run.code == 3);
    CHECK(contains(run.err, option + ": bad.mtx:1: "));
  }
  shell.folder.write("b.npz", read_bytes(TANSOLVE_TEST_DATA "/npz/csr.npz"));
  run = shell.tansolve("solve gen:poisson5:4 --rhs b.npz");
  CHECK(run.code == 3);
  CHECK(
      contains(run.err, "--rhs: b.npz: an archive, as .npz files are; it takes one array, which"));
  run = shell.tansolve("solve gen:poisson5:4 --rhs file");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "--rhs file: the matrix is not from a file that holds"));
}

TEST_CASE("values that vanish in f32 are counted in a warning") {
  const Shell shell;
  shell.folder.write("a.mtx",
                     "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n2 2 2\n3 3 4\n"
                     "1 3 -1e-50\n3 1 1e-60\n");
  shell.folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1e-99\n0\n");
  Outcome run = shell.tansolve("encode a.mtx --precision f32 -o a.tans");
  CHECK(run.code == 0);
  CHECK(contains(run.err,
                 "warning: a.mtx: 2 of 5 entries are so small that f32 makes them 0, first row 1, "
                 "column 3 (counting from 1): -1e-50\n"));
  CHECK(shell.tansolve("encode a.mtx -o a.tans").err.empty());
  run = shell.tansolve("solve gen:poisson5:3x1 --precision f32 --device cpu --rhs b.mtx");
  CHECK(contains(run.err, "warning: --rhs b.mtx: 1 of 3 elements are so small that f32"));
  CHECK(shell.tansolve("solve gen:poisson5:3x1 --rhs b.mtx --device cpu").err.empty());
}

TEST_CASE("a container that something was appended to, or that is cut short, says so") {
  const Shell shell;
  REQUIRE(shell.tansolve("encode gen:poisson5:9 -o a.tans").code == 0);
  const std::string bytes = read_bytes(shell.folder / "a.tans");
  const auto message = [&](const std::string& content) {
    shell.folder.write("b.tans", content);
    const Outcome run = shell.tansolve("info b.tans");
    CHECK(run.code == 3);
    return run.err;
  };
  const std::string must = "by its header it must have " + std::to_string(bytes.size());
  CHECK(contains(message(bytes + "text"), "b.tans: something was appended: "));
  CHECK(contains(message(bytes + "text"), must));
  CHECK(contains(message(bytes.substr(0, bytes.size() - 3)), "b.tans: cut short: "));
  CHECK(contains(message(bytes.substr(0, bytes.size() - 3)), must));
  CHECK(contains(message(bytes.substr(0, 20)), "b.tans: cut short: 20 bytes"));
  CHECK(contains(message(bytes.substr(0, 6)), "b.tans: a tansolve container that is cut short"));
}

TEST_CASE("a terminal sees a bar while a file is read, and in the end nothing") {
  const Shell shell;
  REQUIRE(shell.tansolve("gen poisson5:9 -o a.mtx").code == 0);
  const Terminal terminal;
  const Outcome run = shell.line("\"$P\" info a.mtx >/dev/null 2>" + terminal.name());
  CHECK(run.code == 0);
  const std::string text = terminal.text();
  CHECK(contains(text, "reading    ["));
  CHECK(contains(text, "encoding   ["));
  CHECK(text.ends_with("\r\x1b[K"));
  CHECK(shell.tansolve("info a.mtx").err.empty());
}

}  // namespace tansolve::test
