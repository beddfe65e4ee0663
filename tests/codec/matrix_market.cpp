// SPDX-License-Identifier: BSD-3-Clause
// What Matrix Market files may look like, and the matrices that they mean.
#include <tansolve/codec/matrix_market.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/matrices.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

using Triplets = std::vector<Triplet<double>>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Csr<double> read(const std::string& text, Duplicates duplicates = Duplicates::sum) {
  const TemporaryFolder folder;
  return read_matrix_market(folder.write("x.mtx", text), duplicates);
}

Dense read_as_dense(const std::string& text) {
  const TemporaryFolder folder;
  return read_dense(folder.write("x.mtx", text));
}

bool means(const Csr<double>& matrix, std::int64_t rows, std::int64_t cols,
           const Triplets& triplets) {
  return same_matrix(matrix, Csr<double>::from_triplets(rows, cols, triplets));
}

std::string header(const std::string& words) {
  return "%%MatrixMarket matrix " + words + "\n";
}

}  // namespace

TEST_CASE("a coordinate file may have entries in any order, and blanks and comments anywhere") {
  const std::string text =
      header(" Coordinate \t REAL  General") +
      "%comment\n\n  % another\n  3\t4  3 \n% 9 9 9\n\n1 4 2.5\n\t 3 2\t-3e-2  \n"
      "   \n%\n1 1 1\n\n";
  const Triplets expected = {{0, 0, 1}, {0, 3, 2.5}, {2, 1, -3e-2}};
  CHECK(means(read(text), 3, 4, expected));
  CHECK(means(read(text.substr(0, text.size() - 2)), 3, 4, expected));  // no end of the last line
}

TEST_CASE("lines may end with LF, CR LF or CR") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string text = "%%MatrixMarket matrix coordinate real general" + end + "% c" + end +
                             end + "2 2 2" + end + "1 2 3.5" + end + end + "% d" + end + "2 1 4" +
                             end;
    CHECK(means(read(text), 2, 2, {{0, 1, 3.5}, {1, 0, 4}}));
    const auto error = error_of([&] { read(text + "2 2 5" + end); });
    REQUIRE(error);
    CHECK(std::string(error->what()).find("x.mtx:9: more than the 2 entries") != std::string::npos);
  }
}

TEST_CASE("the words of the header may be of either case, and double means real") {
  for (const char* first : {"%%MatrixMarket matrix coordinate double general",
                            "%%matrixmarket MATRIX Coordinate Integer GENERAL"})
    CHECK(means(read(std::string(first) + "\n1 1 1\n1 1 7\n"), 1, 1, {{0, 0, 7}}));
}

TEST_CASE("numbers are rounded correctly in every notation") {
  const struct {
    std::string text;
    double value;
  } cases[] = {{"0.1", 0.1},
               {"+1.5", 1.5},
               {".5", 0.5},
               {"-5.", -5},
               {"1.25d3", 1250},
               {"-1.25D-03", -0.00125},
               {"+1e+2", 100},
               {"1.5+3", 1500},
               {"2-1", 0.2},
               {"inf", inf},
               {"-Infinity", -inf},
               {"+Inf", inf},
               {"NaN", not_a_number},
               {"-0", -0.0},
               {"5e-324", 5e-324},
               {"2.2250738585072011e-308", 2.2250738585072011e-308},
               {"1e-400", 0.0},
               {"-1D-400", -0.0},
               {"9007199254740993", 9007199254740992},
               {"123456789012345678901234567890", 123456789012345678901234567890.0},
               {"1.7976931348623157e308", 1.7976931348623157e308}};
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    const auto matrix = read(header("coordinate real general") + "1 1 1\n1 1 " + text + "\n");
    REQUIRE(matrix.nnz() == 1);
    CHECK(same_value(matrix.values()[0], value));
  }
}

TEST_CASE("what is not a number in the range of double is refused") {
  for (const std::string text : {"x", "1e400", "-1e400", "+-1", "++1", "1.0.0", "1e", "1e5x", "--1",
                                 "0x10", "1,5", "d5", "e5", "+", "1d+-5", "1 e5"}) {
    CAPTURE(text);
    const auto error =
        error_of([&] { read(header("coordinate real general") + "1 1 1\n1 1 " + text + "\n"); });
    REQUIRE(error);
    CHECK(std::string(error->what()).find("x.mtx:3: expected ") != std::string::npos);
  }
}

TEST_CASE("a pattern reads as ones") {
  CHECK(means(read(header("coordinate pattern general") + "2 3 2\n2 3\n1 1\n"), 2, 3,
              {{0, 0, 1}, {1, 2, 1}}));
  CHECK(means(read(header("coordinate pattern symmetric") + "2 2 2\n2 1\n1 1\n"), 2, 2,
              {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}));
}

TEST_CASE("the triangle that is not stored is filled in, and the diagonal is not doubled") {
  const std::string entries = "3 3 4\n1 1 1\n2 1 2\n2 2 0\n2 3 -4\n";  // (2, 3) lies above
  for (const char* symmetry : {"symmetric", "hermitian"})
    CHECK(means(read(header("coordinate real " + std::string(symmetry)) + entries), 3, 3,
                {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 0}, {1, 2, -4}, {2, 1, -4}}));
  CHECK(means(read(header("coordinate real skew-symmetric") + "3 3 3\n2 1 2\n3 3 0\n2 3 -4\n"), 3,
              3, {{0, 1, -2}, {1, 0, 2}, {1, 2, -4}, {2, 1, 4}, {2, 2, 0}}));
}

TEST_CASE("an array goes by columns; a sparse matrix of it has no zeros, but NaN and inf") {
  CHECK(means(read(header("array real general") + "2 3\n1\n0\n% c\n-0.0\n\n4\nnan\ninf\n"), 2, 3,
              {{0, 0, 1}, {1, 1, 4}, {0, 2, not_a_number}, {1, 2, inf}}));
  CHECK(means(read(header("array integer symmetric") + "3 3\n1\n2\n3\n4\n5\n6\n"), 3, 3,
              {{0, 0, 1},
               {0, 1, 2},
               {0, 2, 3},
               {1, 0, 2},
               {1, 1, 4},
               {1, 2, 5},
               {2, 0, 3},
               {2, 1, 5},
               {2, 2, 6}}));
  CHECK(means(read(header("array real skew-symmetric") + "3 3\n1\n2\n3\n"), 3, 3,
              {{0, 1, -1}, {0, 2, -2}, {1, 0, 1}, {1, 2, -3}, {2, 0, 2}, {2, 1, 3}}));
}

TEST_CASE("duplicates are summed in the order of the file, or refused by line") {
  // (1e16 + 1) - 1e16 is 0, in any other order 1.
  const std::string general =
      header("coordinate real general") + "2 2 4\n2 1 1e16\n1 2 5\n2 1 1\n% c\n2 1 -1e16\n";
  CHECK(means(read(general), 2, 2, {{0, 1, 5}, {1, 0, 0}}));
  auto error = error_of([&] { read(general, Duplicates::refuse); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::bad_input);
  CHECK(std::string(error->what()).ends_with("x.mtx:5: row 2, column 1 occurs a second time"));

  const std::string diagonal = header("coordinate pattern symmetric") + "2 2 2\n1 1\n1 1\n";
  CHECK(means(read(diagonal), 2, 2, {{0, 0, 2}}));
  CHECK(error_of([&] { read(diagonal, Duplicates::refuse); }));
  CHECK_NOTHROW(
      read(header("coordinate real symmetric") + "2 2 2\n1 1 1\n2 1 1\n", Duplicates::refuse));
}

TEST_CASE("a byte order mark before the header is skipped") {
  const std::string text = header("coordinate real general") + "1 1 1\n1 1 7\n";
  CHECK(means(read("\xef\xbb\xbf" + text), 1, 1, {{0, 0, 7}}));
  CHECK(error_of([&] { read("\xef\xbb" + text); }));
}

namespace {

const std::string real_header = header("coordinate real general");
const struct {
  std::string text;
  std::string message;
  ErrorCode code = ErrorCode::bad_input;
} malformed[] = {
    {"", "1: the file is empty; expected \"%%MatrixMarket matrix\""},
    {"%%MatrixMarket matrix coordinate general\n1 1 0\n",
     "1: expected \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found \"%%MatrixMarket matrix "
     "coordinate general\""},
    {"1 1 1\n1 1 1\n",
     "1: expected \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found \"1 1 1\""},
    {"%%MatrixMarket vector array real general\n",
     "1: the object \"vector\" is not supported, only \"matrix\" is", ErrorCode::not_supported},
    {header("list real general"), "1: the format must be coordinate or array, found \"list\""},
    {header("coordinate quad general"),
     "1: the field must be real, integer, pattern or complex, found \"quad\""},
    {header("coordinate real lower"),
     "1: the symmetry must be general, symmetric, skew-symmetric or hermitian, found \"lower\""},
    {header("array complex hermitian"),
     "1: complex matrices are not supported yet; the real matrix [Re A, -Im A; Im A, Re A] stands "
     "for one",
     ErrorCode::not_supported},
    {header("array pattern general"),
     "1: an array has values; a pattern must have the format coordinate"},
    {header("coordinate pattern skew-symmetric"),
     "1: a pattern cannot be skew-symmetric, since its values are 1"},
    {real_header + "% c\n", "2: the file ends before the line with the dimensions"},
    {real_header + "\n2 2\n",
     "3: expected the numbers of rows, columns and entries, found \"2 2\""},
    {real_header + "2 -2 1\n",
     "2: expected the numbers of rows, columns and entries, found \"2 -2 1\""},
    {real_header + "2 2 1e3\n",
     "2: expected the numbers of rows, columns and entries, found \"2 2 1e3\""},
    {header("array real general") + "2 2 4\n",
     "2: expected the numbers of rows and columns, found \"2 2 4\""},
    {real_header + "2147483648 1 0\n",
     "2: 2147483648 x 1: dimensions above 2147483647 are not supported", ErrorCode::not_supported},
    {header("coordinate real symmetric") + "2 3 0\n",
     "2: 2 x 3: a symmetric matrix must be square"},
    {real_header + "2 3 1\n\n0 1 5\n", "4: expected a row from 1 to 2, found \"0 1 5\""},
    {real_header + "2 3 1\n3 1 5\n", "3: expected a row from 1 to 2, found \"3 1 5\""},
    {real_header + "2 3 1\n-1 1 5\n", "3: expected a row from 1 to 2, found \"-1 1 5\""},
    {real_header + "2 3 1\n99999999999999999999 1 5\n",
     "3: expected a row from 1 to 2, found \"99999999999999999999 1 5\""},
    {real_header + "2 3 1\n1.0 1 5\n", "3: expected a row from 1 to 2, found \"1.0 1 5\""},
    {real_header + "2 3 1\n2 4 5\n",
     "3: expected a column from 1 to 3 after the row, found \"2 4 5\""},
    {real_header + "2 3 1\n2\n2 5\n",
     "3: expected a column from 1 to 3 after the row, found \"2\""},
    {real_header + "2 3 1\n2 3\n",
     "3: expected a real number in the range of double, found \"2 3\""},
    {real_header + "2 3 1\n2 3 five\n",
     "3: expected a real number in the range of double, found \"2 3 five\""},
    {real_header + "2 3 1\n2 3 5 6\n", "3: expected nothing behind the value, found \"2 3 5 6\""},
    {header("coordinate pattern general") + "2 3 1\n2 3 5\n",
     "3: expected nothing behind the column, found \"2 3 5\""},
    {header("array real general") + "1 2\n1 2\n", "3: expected one value a line, found \"1 2\""},
    {header("coordinate real skew-symmetric") + "2 2 2\n2 1 4\n2 2 1\n",
     "4: the diagonal of a skew-symmetric matrix must be zero, found \"2 2 1\""},
    {real_header + "2 3 3\n% c\n1 1 1\n1 2 1\n",
     "5: the file ends after 2 of the 3 entries that line 2 announces"},
    {real_header + "2 3 1\n% c\n1 1 1\n% c\n1 2 1\n",
     "6: more than the 1 entries that line 2 announces"},
    {real_header + "1000000000 1000000000 5000000000000\n1 1 1\n",
     "3: the file ends after 1 of the 5000000000000 entries that line 2 announces"},
    {header("array real general") + "2147483647 2147483647\n1\n",
     "3: the file ends after 1 of the 4611686014132420609 entries that line 2 announces"}};
}  // namespace

TEST_CASE("a malformed file is refused with its line and with what was expected") {
  for (const auto& [text, message, code] : malformed) {
    CAPTURE(text);
    const auto error = error_of([&, &t = text] { read(t); });
    REQUIRE(error);
    CHECK(error->code() == code);
    const std::string what = error->what();
    CHECK(what.substr(what.find("x.mtx:") + 6) == message);
  }
}

TEST_CASE("errors deep inside a large file, parsed by several threads, have the right line") {
  constexpr std::int64_t entries = 400000;  // 5 MB, several chunks
  std::string begin = header("coordinate real general") + fmt::format("10 10 {}\n", entries), body;
  std::int64_t bad_line = 0;
  std::size_t bad_at = 0;
  for (std::int64_t k = 0, line = 3; k < entries; ++k, ++line) {
    if (k % 1000 == 999) body += "% a comment\n\r\n", line += 2;
    if (k == 321000) bad_line = line, bad_at = body.size();
    body += fmt::format("{} {} 0.{:05}\n", 1 + k % 10, 1 + k / 10 % 10, k % 100000);
  }
  const auto matrix = read(begin + body);
  CHECK(matrix.nnz() == 100);
  const auto error_line = [&](const std::string& text) {
    const auto error = error_of([&] { read(text); });
    REQUIRE(error);
    const std::string what = error->what();
    return std::stoll(what.substr(what.find("x.mtx:") + 6));
  };
  std::string bad = begin + body;
  bad[begin.size() + bad_at] = 'x';
  bad[bad.size() - 3] = 'x';  // a later one, in the last chunk, is not what is reported
  CHECK(error_line(bad) == bad_line);
  CHECK(error_line(begin + body + "\n\n1 1 1\n") == 3 + entries + 2 * (entries / 1000) + 2);
  CHECK(error_line(begin + body.substr(0, bad_at)) == bad_line - 1);
}

TEST_CASE("what is written is pinned") {
  const TemporaryFolder folder;
  write_matrix_market(
      folder / "x.mtx",
      Csr<double>::from_triplets(2, 3, Triplets{{0, 2, 0.1}, {1, 0, -1e300}, {1, 1, inf}}));
  CHECK(read_bytes(folder / "x.mtx") ==
        "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 3 0.1\n2 1 -1e+300\n2 2 inf\n");
  write_dense(folder / "x.mtx", {2, 1, {1.5, -0.0}});
  CHECK(read_bytes(folder / "x.mtx") == "%%MatrixMarket matrix array real general\n2 1\n1.5\n-0\n");
}

TEST_CASE_TEMPLATE("matrices come back bit for bit, plain and compressed", T, double, float) {
  const TemporaryFolder folder;
  for (const auto& [name, matrix] : nasty_matrices<T>())
    for (const char* file : {"x.mtx", "x.mtx.gz"}) {
      CAPTURE(name);
      write_matrix_market(folder / file, matrix);
      CHECK(read_bytes(folder / file).starts_with("\x1f\x8b") == (std::string(file) == "x.mtx.gz"));
      CHECK(same_matrix(convert<T>(read_matrix_market(folder / file)), matrix));
    }
}

TEST_CASE("a float whose shortest digits a double would misplace comes back bit for bit") {
  // Of 7.038531e-26 the nearest double lies halfway between two floats, and rounds to the wrong
  // one.
  constexpr float value = 7.038531e-26f;
  REQUIRE(static_cast<float>(7.038531e-26) != value);
  const TemporaryFolder folder;
  const auto matrix =
      Csr<float>::from_triplets(1, 2, std::vector<Triplet<float>>{{0, 0, value}, {0, 1, -value}});
  write_matrix_market(folder / "x.mtx", matrix);
  CHECK(same_matrix(convert<float>(read_matrix_market(folder / "x.mtx")), matrix));
}

TEST_CASE("random bit patterns come back bit for bit as dense and as sparse values") {
  std::mt19937_64 random(11);
  Dense dense{500, 40, {}};
  std::vector<Triplet<double>> triplets;
  for (std::int64_t k = 0; k < dense.rows * dense.cols; ++k) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    dense.values.push_back(value);
    triplets.push_back({k % dense.rows, k / dense.rows, value});
  }
  dense.values[0] = -0.0;
  const TemporaryFolder folder;
  write_dense(folder / "x.mtx.gz", dense);
  const Dense read = read_dense(folder / "x.mtx.gz");
  CHECK(read.rows == dense.rows);
  CHECK(read.cols == dense.cols);
  CHECK(std::equal(read.values.begin(), read.values.end(), dense.values.begin(), dense.values.end(),
                   same_value<double>));
  const auto matrix = Csr<double>::from_triplets(dense.rows, dense.cols, triplets);
  write_matrix_market(folder / "y.mtx", matrix);
  CHECK(same_matrix(read_matrix_market(folder / "y.mtx"), matrix));
}

TEST_CASE("a dense matrix is read from either format") {
  const auto holds = [](const Dense& dense, std::int64_t rows, std::int64_t cols,
                        const std::vector<double>& values) {
    return dense.rows == rows && dense.cols == cols &&
           std::equal(dense.values.begin(), dense.values.end(), values.begin(), values.end(),
                      same_value<double>);
  };
  CHECK(holds(read_as_dense(header("array real general") + "3 1\n0\n-0.0\nnan\n"), 3, 1,
              {0, -0.0, not_a_number}));
  CHECK(
      holds(read_as_dense(header("array real symmetric") + "2 2\n1\n2\n3\n"), 2, 2, {1, 2, 2, 3}));
  CHECK(holds(read_as_dense(header("coordinate real general") + "3 2 3\n3 1 7\n1 2 -0\n3 1 1\n"), 3,
              2, {0, 0, 8, -0.0, 0, 0}));
  CHECK(holds(read_as_dense(header("coordinate real skew-symmetric") + "2 2 1\n2 1 7\n"), 2, 2,
              {0, 7, -7, 0}));
  const auto error = error_of([&] {
    read_as_dense(header("coordinate real general") + "1000000000 1000000000 1\n1 1 1\n");
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::not_supported);
  CHECK(std::string(error->what()).find("x.mtx:2: 1000000000 x 1000000000") != std::string::npos);
}

TEST_CASE("a few bytes that state huge dimensions are refused before memory is taken for them") {
  const std::string few = header("coordinate real general") + "2147483647 1 1\n1 1 1\n";
  const TemporaryFolder folder;
  const auto path = folder.write("huge.mtx", few);
  for (const bool dense : {false, true}) {
    const auto error =
        error_of([&] { dense ? void(read_dense(path)) : void(read_matrix_market(path)); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::not_supported);
    CHECK(std::string(error->what()).find("the dimensions that it states need 17179869176 bytes") !=
          std::string::npos);
  }
}

TEST_CASE("a dense matrix with too few values is not written") {
  const TemporaryFolder folder;
  CHECK(error_of([&] {
          write_dense(folder / "x.mtx", {2, 2, {1, 2, 3}});
        })->code() == ErrorCode::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(folder / "x.mtx"));
}
