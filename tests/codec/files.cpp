// SPDX-License-Identifier: BSD-3-Clause
// Recognising files, reading mutated ones without a crash, and reading the real ones.
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/matrices.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

const std::string coordinate =
    "%%MatrixMarket matrix coordinate real symmetric\n% comment\n4 4 5\n1 1 1.5\n2 1 -2e3\n\n3 3 "
    "0.25\n"
    "4 2 1d-2\n4 4 inf\n";
const std::string array =
    "%%MatrixMarket matrix array integer general\r\n3 2\r\n1\r\n-2\r\n3\r\n4\r\n5\r\n66\r\n";
const std::string harwell_boeing =
    "title                                                                   key\n"
    "             6             1             1             2             1\n"
    "RSA                        3             3             4             0\n"
    "(4I3)           (4I3)           (1P,3E10.3)         (3F6.1)\n"
    "F                          1             0\n"
    "  1  3  4  5\n  1  3  2  3\n 1.500E+00-2.000D+00 3.000E+00\n 4.000E+00\n   1.0   2.0   3.0\n";

}  // namespace

TEST_CASE("files are recognised by their content") {
  const TemporaryFolder folder;
  for (const bool packed : {false, true}) {
    const auto put = [&](const std::string& text) {
      return folder.write("misleading.tans", packed ? gzip(text) : text);
    };
    CHECK(recognise(InputFile(put(coordinate))) == FileKind::matrix_market);
    CHECK(recognise(InputFile(put(array))) == FileKind::matrix_market);
    CHECK(recognise(InputFile(put("%%matrixmarket nonsense"))) == FileKind::matrix_market);
    CHECK(recognise(InputFile(put(harwell_boeing))) == FileKind::harwell_boeing);
    CHECK(read_matrix(put(coordinate)).nnz() == 7);
    CHECK(read_matrix(put(array)).nnz() == 6);
    CHECK(read_matrix(put(harwell_boeing)).nnz() == 5);
  }
  const std::string magic = "\x89TANS\r\n\x1a";
  CHECK(recognise(InputFile(folder.write("x.mtx", magic))) == FileKind::container);
  CHECK(error_of([&] { read_matrix(folder / "x.mtx"); })->code() == ErrorCode::bad_input);
}

TEST_CASE("a file of no known kind is refused with the kinds that are readable") {
  const TemporaryFolder folder;
  const std::string readable =
      "readable are Matrix Market, Harwell-Boeing and Rutherford-Boeing files (each also "
      "gzip-compressed), SciPy's .npz and tansolve containers";
  const struct {
    std::string text, message;
  } cases[] = {
      {"", "the file is empty; " + readable},
      {"1 1 1\n", "not a matrix file; " + readable},
      {"\x93NUMPY\x01", "a dense NumPy array where a matrix is expected; " + readable},
      {"hello\n1 2 3 4\nworld\n", "not a matrix file; " + readable},
      {"\x89TANS\n\x1a\n and more",
       "a tansolve container that is cut short, or whose line ends were translated; copy it as "
       "binary data"}};
  for (const auto& [text, message] : cases) {
    const auto path = folder.write("x", text);
    for (const auto& error : {error_of([&, &path = path] { recognise(InputFile(path)); }),
                              error_of([&, &path = path] { read_matrix(path); })}) {
      REQUIRE(error);
      CHECK(error->code() == ErrorCode::bad_input);
      CHECK(std::string(error->what()) == path.string() + ": " + message);
    }
  }
}

TEST_CASE("refusing duplicates reaches the reader of each kind") {
  const TemporaryFolder folder;
  const std::string entry = "1 1 4\n";
  CHECK(read_matrix(folder.write("x", "%%MatrixMarket matrix coordinate real general\n1 1 2\n" +
                                          entry + entry))
            .nnz() == 1);
  CHECK(error_of([&] { read_matrix(folder / "x", Duplicates::refuse); }));
  std::string repeated = harwell_boeing;
  repeated[repeated.find("  1  3  2  3") + 5] = '1';
  CHECK(read_matrix(folder.write("x", repeated)).nnz() == 3);
  CHECK(error_of([&] { read_matrix(folder / "x", Duplicates::refuse); }));
}

TEST_CASE("a file with random damage is read or refused, never worse") {
  const TemporaryFolder folder;
  std::mt19937_64 random(13);
  int read = 0, refused = 0;
  for (const std::string& original :
       {coordinate, array, harwell_boeing, gzip(coordinate), gzip(harwell_boeing)})
    for (int round = 0; round < 2000; ++round) {
      std::string text = original;
      for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
        const std::size_t at = random() % text.size();
        const std::string_view likely = "0123456789 \n\r\t+-.eEdD%()IPF,";
        const char byte =
            random() % 4 == 0 ? static_cast<char>(random()) : likely[random() % likely.size()];
        switch (random() % 8) {
          case 0:
            text.erase(at, 1 + random() % 4);
            break;
          case 1:
            text.insert(at, 1, byte);
            break;
          case 2:
            text.resize(at);
            break;
          default:
            text[at] = byte;
        }
        if (text.empty()) text.push_back(' ');
      }
      const auto path = folder.write("x", text);
      for (const bool dense : {false, true}) {
        const auto error =
            error_of([&] { dense ? void(read_dense(path)) : void(read_matrix(path)); });
        ++(error ? refused : read);
      }
    }
  CHECK(read > 500);
  CHECK(refused > 1000);
}

TEST_CASE("real files read with the sizes and entries of their manifest") {
  const auto folder = real_matrices();
  if (!folder) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  std::ifstream manifest(*folder / "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);  // the names of the columns
  int files = 0;
  while (std::getline(manifest, line)) {
    std::vector<std::string> columns;
    std::istringstream stream(line);
    for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
    REQUIRE(columns.size() >= 7);
    const auto path = *folder / columns[0];
    CAPTURE(path);
    ++files;
    if (columns[4] == "complex") {
      const auto error = error_of([&] { read_matrix(path); });
      REQUIRE(error);
      CHECK(error->code() == ErrorCode::not_supported);
      CHECK(std::string(error->what()).find("complex matrices are not supported yet") !=
            std::string::npos);
      continue;
    }
    std::int64_t entries = std::stoll(columns[3]);
    const std::string& remarks = columns[6];
    const std::string expanded = " entries when expanded";
    if (const auto end = remarks.find(expanded); end != std::string::npos)
      entries = std::stoll(remarks.substr(remarks.rfind('(', end) + 1));
    if (const auto end = remarks.rfind(" duplicate"); end != std::string::npos)
      entries -= std::stoll(remarks.substr(remarks.rfind('(', end) + 1));
    const bool is_array = columns[5].find("array") != std::string::npos;
    const auto matrix = read_matrix(path);
    CHECK(matrix.rows() == std::stoll(columns[1]));
    CHECK(matrix.cols() == std::stoll(columns[2]));
    if (is_array) {
      const Dense dense = read_dense(path);
      CHECK(std::ssize(dense.values) == entries);
      CHECK(matrix.nnz() == std::count_if(dense.values.begin(), dense.values.end(),
                                          [](double value) { return !(value == 0); }));
    } else {
      CHECK(matrix.nnz() == entries);
    }
    if (columns[5] == "symmetric") CHECK(is_symmetric(matrix));
  }
  CHECK(files > 0);
}
