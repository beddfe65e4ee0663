// SPDX-License-Identifier: BSD-3-Clause
// Files appear whole or not at all, and every failure to write is reported.
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/output_file.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "support/files.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

std::size_t count_files(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

}  // namespace

TEST_CASE("an output file appears under its name at the commit, and leaves nothing else") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder / "x");
    file.write("abc");
    CHECK_FALSE(std::filesystem::exists(folder / "x"));
    CHECK(count_files(folder) == 1);
    file.write("de", 2);
    file.commit();
    CHECK(read_bytes(folder / "x") == "abcde");
  }
  CHECK(count_files(folder) == 1);
}

TEST_CASE("an output file that is not committed leaves the old file and no other") {
  const TemporaryFolder folder;
  folder.write("x", "old");
  { OutputFile(folder / "x").write(std::string(3 << 20, 'n')); }
  { OutputFile(folder / "x.gz", true).write("new"); }
  CHECK(read_bytes(folder / "x") == "old");
  CHECK(count_files(folder) == 1);
}

TEST_CASE("an output file replaces an old one, and what a symbolic link names") {
  const TemporaryFolder folder;
  folder.write("x", "old");
  std::filesystem::create_symlink("x", folder / "link");
  OutputFile file(folder / "link");
  file.write("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_bytes(folder / "x") == "new");
}

TEST_CASE("an output file keeps the order of small and large pieces, plain and compressed") {
  const TemporaryFolder folder;
  std::string expected;
  for (const bool compressed : {false, true}) {
    OutputFile file(folder / "x", compressed);
    expected.clear();
    for (int k = 0; k < 40; ++k) {
      const std::string piece(static_cast<std::size_t>(k % 5 == 4 ? 3000000 : 100000 + k),
                              static_cast<char>('a' + k % 26));
      file.write(piece);
      expected += piece;
    }
    file.commit();
    CHECK((InputFile(folder / "x").text() == expected));
    CHECK((read_bytes(folder / "x").size() < expected.size() / 100) == compressed);
  }
}

TEST_CASE("an output file says why it cannot be written, and names itself") {
  const TemporaryFolder folder;
  auto error = error_of([&] { OutputFile(folder / "missing/x"); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io);
  CHECK(std::string(error->what()) ==
        "cannot write " + (folder / "missing/x").string() + ": No such file or directory");

  error = error_of([&] { OutputFile file(folder.path()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io);
  CHECK(std::string(error->what()).ends_with("Is a directory"));

  if (::geteuid() != 0) {
    std::filesystem::permissions(
        folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    error = error_of([&] { OutputFile file(folder / "x"); });
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
    REQUIRE(error);
    CHECK(std::string(error->what()).ends_with("Permission denied"));
  }
}

TEST_CASE("a full disk is an error at the latest at the commit") {
  for (const bool compressed : {false, true})
    for (const std::size_t bytes : {std::size_t{10}, std::size_t{5} << 20}) {
      const auto error = error_of([&] {
        OutputFile file("/dev/full", compressed);
        file.write(std::string(bytes, 'x'));
        file.commit();
      });
      REQUIRE(error);
      CHECK(error->code() == ErrorCode::io);
      CHECK(std::string(error->what()) == "cannot write /dev/full: No space left on device");
    }
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("a pipe is written to directly") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string name = "/dev/fd/" + std::to_string(ends[1]);
  OutputFile file(name);
  file.write("through the pipe");
  file.commit();
  char text[64];
  CHECK(std::string(text, static_cast<std::size_t>(::read(ends[0], text, sizeof text))) ==
        "through the pipe");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("an output file refuses to go on after its commit") {
  const TemporaryFolder folder;
  OutputFile file(folder / "x");
  file.commit();
  CHECK(error_of([&] { file.write("late"); })->code() == ErrorCode::invalid_argument);
  CHECK(error_of([&] { file.commit(); })->code() == ErrorCode::invalid_argument);
  CHECK(read_bytes(folder / "x").empty());
}
