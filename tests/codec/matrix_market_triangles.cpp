// SPDX-License-Identifier: BSD-3-Clause
// Symmetric Matrix Market files that hold one triangle or both, and the progress of the parsing.
#include <tansolve/codec/matrix_market.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/files.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

std::string header(const std::string& words) {
  return "%%MatrixMarket matrix " + words + "\n";
}

Csr<double> read(const std::string& text, Duplicates duplicates = Duplicates::sum) {
  const TemporaryFolder folder;
  return read_matrix_market(folder.write("x.mtx", text), duplicates);
}

}  // namespace

TEST_CASE("a symmetric file that holds both triangles is refused by line, either one is taken") {
  // Summed, the two would count twice what they mean once.
  for (const char* words : {"coordinate real symmetric", "coordinate real skew-symmetric",
                            "coordinate real hermitian", "coordinate integer symmetric"}) {
    CAPTURE(words);
    const std::string lower = "3 1 5\n2 1 2\n% c\n3 2 7\n", upper = "1 3 5\n1 2 2\n% c\n2 3 7\n";
    const std::string head = header(words);
    CHECK(read(head + "3 3 3\n" + lower).nnz() == 6);
    CHECK(read(head + "3 3 3\n" + upper).nnz() == 6);
    CHECK(read(head + "3 3 4\n" + lower + "2 1 -1\n").nnz() == 6);  // twice on the same side
    for (const auto duplicates : {Duplicates::sum, Duplicates::refuse})
      for (const std::string& last : {std::string("2 3 7\n"), std::string("1 2 4\n1 3 1\n")}) {
        const std::string entries = lower + last;
        const int count = last.size() > 6 ? 5 : 4;
        const auto error =
            error_of([&] { read(head + fmt::format("3 3 {}\n", count) + entries, duplicates); });
        REQUIRE(error);
        CHECK(error->code() == ErrorCode::bad_input);
        CHECK(std::string(error->what())
                  .ends_with(last[0] == '2'
                                 ? "x.mtx:7: row 2, column 3 mirrors row 3, column 2, which the "
                                   "file holds too; of this symmetry it must hold one of the two"
                                 : "x.mtx:7: row 1, column 2 mirrors row 2, column 1, which the "
                                   "file holds too; of this symmetry it must hold one of the two"));
      }
    const TemporaryFolder folder;
    const auto path = folder.write("x.mtx", head + "3 3 4\n" + lower + "1 3 5\n");
    CHECK(error_of([&] { read_dense(path); }));
  }
  CHECK(read(header("coordinate real general") + "2 2 2\n1 2 5\n2 1 5\n").nnz() == 2);
}

TEST_CASE("the parsing of a large file tells how far it has come") {
  std::string text = header("coordinate real general") + "10 10 300000\n";
  for (int k = 0; k < 300000; ++k) text += "1 1 0.123456789\n";  // 5 MB, several chunks
  const TemporaryFolder folder;
  std::vector<double> told;
  read_matrix_market(InputFile(folder.write("x.mtx", text)), Duplicates::sum,
                     [&](double done) { told.push_back(done); });
  REQUIRE(!told.empty());
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.front() > 0);
  CHECK(told.back() <= 1);
}
