// SPDX-License-Identifier: BSD-3-Clause
// Files appear whole or not at all, and every failure to write is reported.
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/output_file.hpp>
#include <tansolve/codec/resolved_path.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "support/files.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

std::vector<bool> synced_folders;  // of each fsync: whether it was of a folder

}  // namespace

/// Takes the place of the C library's, and remembers.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  synced_folders.push_back(S_ISDIR(status.st_mode));
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

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

TEST_CASE("an output file appears where a dangling symbolic link points, and a cycle is refused") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("sub/second", folder / "first");
  std::filesystem::create_symlink("x", folder / "sub/second");
  OutputFile file(folder / "first");
  file.write("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder / "first"));
  CHECK(std::filesystem::is_symlink(folder / "sub/second"));
  CHECK(read_bytes(folder / "sub/x") == "new");

  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  const auto error = error_of([&] { OutputFile(folder / "a"); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io);
  CHECK(std::filesystem::is_symlink(folder / "a"));
}

TEST_CASE("an open descriptor is written to where it stands, also when it is a regular file") {
  const TemporaryFolder folder;
  folder.write("x", "before ");
  const int descriptor = ::open((folder / "x").c_str(), O_WRONLY | O_APPEND);
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(descriptor), folder / "link");
  for (const std::string& name :
       {"/dev/fd/" + std::to_string(descriptor), "/proc/self/fd/" + std::to_string(descriptor),
        (folder / "link").string()}) {
    OutputFile file(name);
    file.write("more ");
    file.commit();
    CHECK(resolve(name).descriptor == descriptor);
  }
  REQUIRE(::write(descriptor, "after", 5) == 5);
  CHECK(read_bytes(folder / "x") == "before more more more after");
  CHECK(count_files(folder) == 2);
  ::close(descriptor);
  const auto error = error_of([&] { OutputFile file("/dev/fd/" + std::to_string(descriptor)); });
  REQUIRE(error);
  CHECK(std::string(error->what()).ends_with("Bad file descriptor"));
  CHECK(resolve("/dev/stdout").descriptor == 1);
  CHECK(resolve(folder / "x").descriptor == -1);
  CHECK(resolve(folder / "1").descriptor == -1);
}

TEST_CASE("a commit flushes the file, then the folder that has its new name") {
  const TemporaryFolder folder;
  OutputFile file(folder / "x");
  file.write("abc");
  synced_folders.clear();
  file.commit();
  CHECK(synced_folders == std::vector{false, true});
}

TEST_CASE("unfinished files can be removed, and only those") {
  const TemporaryFolder folder;
  OutputFile done(folder / "done");
  done.commit();
  OutputFile first(folder / "first"), second(folder / "second", true);
  first.write(std::string(3 << 20, 'n'));
  CHECK(count_files(folder) == 3);
  remove_unfinished_files();
  CHECK(count_files(folder) == 1);
  CHECK(std::filesystem::exists(folder / "done"));
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
