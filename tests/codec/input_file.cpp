// SPDX-License-Identifier: BSD-3-Clause
// Whole files, pipes and gzip data, sound and damaged.
#include <tansolve/codec/input_file.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/files.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

std::string random_text(std::size_t bytes) {
  std::mt19937_64 random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 16);
  return text;
}

}  // namespace

TEST_CASE("an input file is its bytes, at sizes around the blocks that it is read in") {
  const TemporaryFolder folder;
  for (const std::size_t bytes : {0, 1, 262143, 262144, 262145, 3000000}) {
    const std::string text = random_text(bytes);
    CHECK((InputFile(folder.write("plain", text)).text() == text));
    CHECK((InputFile(folder.write("packed", gzip(text))).text() == text));
  }
}

TEST_CASE("an input file tells how far it has come") {
  const TemporaryFolder folder;
  const std::string text = random_text(20 << 20);
  for (const std::string& content : {text, gzip(text.substr(0, 3 << 20))}) {
    std::vector<double> told;
    const InputFile file(folder.write("x", content), [&](double done) { told.push_back(done); });
    CHECK(told.size() >= 2);
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(told.front() < 1);
    CHECK(told.back() == 1);
  }
}

TEST_CASE("gzip data may have several members, empty ones, and zeros behind them") {
  const TemporaryFolder folder;
  const std::string packed = gzip("one ") + gzip("") + gzip("two") + std::string(600000, '\0');
  CHECK(InputFile(folder.write("x.mtx", packed)).text() == "one two");
  CHECK(InputFile(folder.write("x.gz", "not compressed")).text() == "not compressed");
}

TEST_CASE("truncated gzip data is refused wherever it ends") {
  const TemporaryFolder folder;
  const std::string packed = gzip(random_text(3000));
  for (std::size_t bytes = 2; bytes < packed.size(); bytes += bytes < packed.size() - 12 ? 7 : 1) {
    const auto path = folder.write("x.gz", packed.substr(0, bytes));
    const auto error = error_of([&] { InputFile file(path); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::bad_input);
    CHECK(std::string(error->what()) ==
          path.string() + ": its gzip data ends too early; the file is truncated");
  }
}

TEST_CASE("damaged gzip data and garbage behind it are refused") {
  const TemporaryFolder folder;
  std::string packed = gzip(random_text(3000));
  for (const std::string& bad : {packed.substr(0, 500) + "\xff" + packed.substr(501),
                                 packed.substr(0, packed.size() - 6) + "\1" +
                                     packed.substr(packed.size() - 5),  // in the checksum
                                 packed + "garbage"}) {
    const auto error = error_of([&] { InputFile file(folder.write("x.gz", bad)); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::bad_input);
    CHECK(std::string(error->what()).find("its gzip data is damaged") != std::string::npos);
  }
}

TEST_CASE("an input file that cannot be read is an io error with its name and the reason") {
  const TemporaryFolder folder;
  auto error = error_of([&] { InputFile file(folder / "x"); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io);
  CHECK(std::string(error->what()) ==
        "cannot read " + (folder / "x").string() + ": No such file or directory");
  error = error_of([&] { InputFile file(folder.path()); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::io);
  CHECK(std::string(error->what()).ends_with(": Is a directory"));
}

TEST_CASE("an input file may be a pipe") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string text = random_text(50000);
  REQUIRE(::write(ends[1], text.data(), text.size()) == 50000);
  ::close(ends[1]);
  CHECK((InputFile("/dev/fd/" + std::to_string(ends[0])).text() == text));
  ::close(ends[0]);
}

TEST_CASE("an input file that is an open descriptor is read from where that stands") {
  const TemporaryFolder folder;
  const int file = ::open(folder.write("x", "before, after").c_str(), O_RDONLY);
  REQUIRE(::lseek(file, 8, SEEK_SET) == 8);
  CHECK(InputFile("/dev/fd/" + std::to_string(file)).text() == "after");
  ::close(file);
  const auto error = error_of([&] { InputFile("/dev/fd/" + std::to_string(file)); });
  REQUIRE(error);
  CHECK(std::string(error->what()).ends_with("Bad file descriptor"));

  int ends[2];  // as some remote shells hand over their input
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  REQUIRE(::write(ends[1], "through a socket", 16) == 16);
  ::close(ends[1]);
  CHECK(InputFile("/dev/fd/" + std::to_string(ends[0])).text() == "through a socket");
  ::close(ends[0]);
}
