// SPDX-License-Identifier: BSD-3-Clause
// Harwell-Boeing and Rutherford-Boeing files and the Fortran numbers in them.
#include <tansolve/codec/fortran_format.hpp>
#include <tansolve/codec/harwell_boeing.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "support/files.hpp"

using namespace tansolve;
using namespace tansolve::test;

namespace {

using Triplets = std::vector<Triplet<double>>;

HarwellBoeing read(const std::string& text, Duplicates duplicates = Duplicates::sum) {
  const TemporaryFolder folder;
  return read_harwell_boeing(folder.write("x.hb", text), duplicates);
}

bool means(const Csr<double>& matrix, std::int64_t rows, std::int64_t cols,
           const Triplets& triplets) {
  return same_matrix(matrix, Csr<double>::from_triplets(rows, cols, triplets));
}

/// A Rutherford-Boeing file: four lines of header, then pointers, rows and values.
std::string file(const std::string& type_and_sizes, const std::string& formats,
                 const std::string& data) {
  return "title                                                                   |key\n"
         "  4  1  1  1\n" +
         type_and_sizes + "\n" + formats + "\n" + data;
}

//   . 4 .
//   1 . 6      with (3, 1) = 2, (3, 3) = 7
//   2 . 7
const std::string small = file("rua  3 3 5 0", "(4I2)           (10I1)          (2F5.1)",
                               " 1 3 4 6\n23123\n  1.0  2.0\n  4.0  6.0\n  7.0\n");
const Triplets small_triplets = {{0, 1, 4}, {1, 0, 1}, {1, 2, 6}, {2, 0, 2}, {2, 2, 7}};

double real(const char* field, const char* format) {
  const auto parsed = detail::parse_fortran_format(format);
  REQUIRE(parsed);
  const auto value = detail::parse_fortran_real(field, *parsed);
  REQUIRE(value);
  return *value;
}

}  // namespace

TEST_CASE("a symmetric file that holds both triangles is refused by line") {
  for (const char* type : {"rsa", "rza"}) {
    const auto error = error_of([&] {
      read(file(std::string(type) + "  2 2 2 0", "(4I2)           (10I1)          (2F5.1)",
                " 1 2 3\n21\n  4.0  5.0\n"));
    });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::bad_input);
    CHECK(std::string(error->what()).find("x.hb:6: row 1, column 2 mirrors row 2, column 1") !=
          std::string::npos);
  }
}

TEST_CASE("Fortran formats are understood with counts, groups and scale factors") {
  const auto check = [](const char* text, std::int64_t per_line, char letter, std::int64_t width,
                        std::int64_t decimals, std::int64_t scale) {
    CAPTURE(text);
    const auto format = detail::parse_fortran_format(text);
    REQUIRE(format);
    CHECK(format->per_line == per_line);
    CHECK(format->letter == letter);
    CHECK(format->width == width);
    CHECK(format->decimals == decimals);
    CHECK(format->scale == scale);
  };
  check("(13I6)", 13, 'I', 6, 0, 0);
  check("(1P,5D16.9)", 5, 'D', 16, 9, 1);
  check("(1P5D16.8)", 5, 'D', 16, 8, 1);
  check("(3e26.18)", 3, 'E', 26, 18, 0);
  check("( 10 F 8.3 )", 10, 'F', 8, 3, 0);
  check("(4(1PE20.12))", 4, 'E', 20, 12, 1);
  check("(-2P3G12.4E3)", 3, 'G', 12, 4, -2);
  check("(I8)", 1, 'I', 8, 0, 0);
  for (const std::string bad :
       {"", "13I6", "(13I6", "(13I6))", "(0I6)", "(13I0)", "(I)", "(13A6)", "(*)", "(2I6,3F8.1)",
        "(99999999999I6)", "(5000(5000I6))", "(3F8.)", "(((3I6)))"}) {
    CAPTURE(bad);
    CHECK_FALSE(detail::parse_fortran_format(bad));
  }
}

TEST_CASE("real fields are read by Fortran's rules") {
  CHECK(real("  1.500 ", "(F8.3)") == 1.5);
  CHECK(real("   12345", "(F8.3)") == 12.345);  // no point: 3 decimals
  CHECK(real(" 12345E2", "(F8.3)") == 1234.5);  // also with an exponent
  CHECK(real("  1.5D+3", "(D8.1)") == 1500);
  CHECK(real(" 1.5+300", "(E8.1)") == 1.5e300);
  CHECK(real(" 1.5-300", "(E8.1)") == 1.5e-300);
  CHECK(real("15+2", "(E4.1)") == 150);
  CHECK(real("   250.0", "(1PF8.3)") == 25);   // no exponent: divided by 10^1
  CHECK(real("   2.5E2", "(1PE8.3)") == 250);  // with one, the scale does not matter
  CHECK(real("   250.0", "(-1PF8.3)") == 2500);
  CHECK(real("     250", "(1PF8.2)") == 0.25);
  CHECK(real(" 1.5E 03", "(E8.1)") == 1500);  // blanks do not count
  CHECK(real("-.5", "(F3.1)") == -0.5);
  CHECK(real("+5.", "(F3.1)") == 5);
  CHECK(real("  -Inf", "(F6.1)") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(real("NaN", "(1PF3.1)")));
  CHECK(real("1234567890123456789.", "(F20.0)") == 1234567890123456768.0);
  const auto format = *detail::parse_fortran_format("(F8.3)");
  for (const std::string bad : {"", "    ", "x", "1.2.3", "1E", "1E99999", "+", "-", ".", "1e+-2",
                                "1.5E400", "E5", "1X5", "1 D D"}) {
    CAPTURE(bad);
    CHECK_FALSE(detail::parse_fortran_real(bad, format));
  }
}

TEST_CASE("columns of abutting fields become rows") {
  CHECK(means(read(small).matrix, 3, 3, small_triplets));
  std::string crlf;
  for (const char c : small) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(means(read(crlf).matrix, 3, 3, small_triplets));
  CHECK(read(small).rhs.rows == 3);
  CHECK(read(small).rhs.cols == 0);
}

TEST_CASE("symmetric, skew-symmetric, pattern and integer matrices are read") {
  const std::string formats = "(4I2) (4I2) (4F3.0)";
  const std::string data = " 1 2 3 3\n 1 3\n 5.-6.\n";
  const Triplets symmetric = {{0, 0, 5}, {1, 2, -6}, {2, 1, -6}};
  CHECK(means(read(file("RSA 3 3 2 0", formats, data)).matrix, 3, 3, symmetric));
  CHECK(means(read(file("rha 3 3 2", formats, data)).matrix, 3, 3, symmetric));
  CHECK(means(read(file("isa 3 3 2", "(4I2) (4I2) (4I3)", " 1 2 3 3\n 1 3\n  5 -6\n")).matrix, 3, 3,
              symmetric));
  CHECK(means(read(file("psa 3 3 2", "(4I2) (4I2)", " 1 2 3 3\n 1 3\n")).matrix, 3, 3,
              {{0, 0, 1}, {1, 2, 1}, {2, 1, 1}}));
  CHECK(means(read(file("pra 3 2 2", "(4I2) (4I2)", " 1 2 3\n 1 3\n")).matrix, 3, 2,
              {{0, 0, 1}, {2, 1, 1}}));
  CHECK(means(read(file("rza 3 3 1", formats, " 1 1 2 2\n 3\n 6.\n")).matrix, 3, 3,
              {{1, 2, -6}, {2, 1, 6}}));
}

TEST_CASE("dense right-hand sides are read, whatever follows them is not") {
  const std::string text =
      "title\n 9 1 1 1 6\nRUA 2 2 2 0\n"
      "(16I5)          (16I5)          (1P,2D8.1)          (3F6.2)\n"
      "FGX            2             0\n"
      "    1    2    3\n    1    2\n 1.0D+00 2.0D+00\n"
      "  1.50  2.50  3.50\n  4.50\n  9.00  9.00  9.00\n";
  const auto [matrix, rhs] = read(text);
  CHECK(means(matrix, 2, 2, {{0, 0, 1}, {1, 1, 2}}));
  CHECK(rhs.rows == 2);
  CHECK(rhs.cols == 2);
  CHECK(rhs.values == std::vector{1.5, 2.5, 3.5, 4.5});
}

TEST_CASE("sparse right-hand sides are read, also of a pattern") {
  const std::string text =
      "title\n 9 1 1 0 3\nPUA 2 2 2 0\n(16I3)          (16I3)                              "
      "(3F6.2)\n"
      "M  3  2\n  1  2  3\n  1  2\n  1  2  2  3\n  2  1\n  1.50 -2.50\n";
  const auto [matrix, rhs] = read(text);
  CHECK(means(matrix, 2, 2, {{0, 0, 1}, {1, 1, 1}}));
  CHECK(rhs.cols == 3);
  CHECK(rhs.values == std::vector<double>{0, 1.5, 0, 0, -2.5, 0});
}

TEST_CASE("duplicates in a column are summed, or refused by line") {
  const std::string text =
      file("rua 2 1 3", "(4I2) (1I2) (1F2.0)", " 1 4\n 1\n 2\n 1\n1.\n2.\n3.\n");
  CHECK(means(read(text).matrix, 2, 1, {{0, 0, 4}, {1, 0, 2}}));
  const auto error = error_of([&] { read(text, Duplicates::refuse); });
  REQUIRE(error);
  CHECK(std::string(error->what()).ends_with("x.hb:8: row 1, column 1 occurs a second time"));
}

namespace {

const std::string formats = "(4I2) (4I2) (4F3.0)";
const std::string type = "rua 3 3 2 0";
const struct {
  std::string text;
  std::string message;
  ErrorCode code = ErrorCode::bad_input;
} malformed[] = {
    {"", "1: the file ends before its title"},
    {"t\n1 1 1\n",
     "2: expected the numbers of lines: all, pointers, rows, values[, right-hand "
     "sides]; found \"1 1 1\""},
    {file("rua 3 3", formats, ""),
     "3: expected a type of three letters and the numbers of rows, "
     "columns and entries; found \"rua 3 3\""},
    {file("rxa 3 3 2", formats, ""),
     "3: expected a type of R, I, P or C, then S, U, R, Z or H, "
     "then A or E; found \"rxa\""},
    {file("cua 3 3 2", formats, ""),
     "3: complex matrices are not supported yet; the real matrix [Re A, -Im A; Im A, Re A] stands "
     "for one",
     ErrorCode::not_supported},
    {file("rse 3 3 2 9", formats, ""), "3: unassembled (elemental) matrices are not supported",
     ErrorCode::not_supported},
    {file("rsa 3 2 2", formats, ""), "3: 3 x 2: a symmetric matrix must be square"},
    {file("rua 3 3000000000 2", formats, ""),
     "3: 3 x 3000000000: dimensions above 2147483647 are not supported", ErrorCode::not_supported},
    {file("rua 3 3 5000000", formats, ""),
     "3: 5000000 entries are announced, but the file has only 126 bytes"},
    {file(type, "(4I2) (4I2)", ""),
     "4: expected a format like (13I6) or (1P,5D16.9) for the "
     "values, found \"(4I2) (4I2)\""},
    {file(type, "(4I2) (4A2) (4F3.0)", ""),
     "4: expected a format like (13I6) or (1P,5D16.9) for "
     "the row indices, found \"(4A2)\""},
    {file(type, formats, " 1 2 3\n"),
     "5: expected one of the column pointers in columns 7 to 8, found \"\""},
    {file(type, formats, " 1 2 1 3\n"), "5: the pointer of column 3 is 1, it must lie from 2 to 3"},
    {file(type, formats, " 2 2 3 3\n"), "5: the pointer of column 1 is 2, it must lie from 1 to 1"},
    {file(type, formats, " 1 2 3 4\n"), "5: the pointer of column 4 is 4, it must lie from 3 to 3"},
    {file(type, formats, " 1 2 2 2\n"),
     "5: the last column pointer is 2, it must be 3, one more than the number of entries"},
    {file(type, formats, " 1 2 3 3\n 4 1\n"), "6: row index 1 is 4, it must lie from 1 to 3"},
    {file(type, formats, " 1 2 3 3\n 3 0\n"), "6: row index 2 is 0, it must lie from 1 to 3"},
    {file(type, formats, " 1 2 3 3\n 3 x\n"),
     "6: expected one of the row indices in columns 3 to 4, found \" x\""},
    {file(type, formats, " 1 2 3 3\n 3 1\n"), "6: the file ends inside the values"},
    {file(type, formats, " 1 2 3 3\n 3 1\n 1.  .\n"),
     "7: expected one of the values in columns 4 to 6, found \"  .\""},
    {file("rza 3 3 2", formats, " 1 2 3 3\n 2 2\n 1. 1.\n"),
     "6: the diagonal of a skew-symmetric matrix must be zero, found a 1 in row 2"},
    {"t\n4 1 1 1 1\nRUA 3 3 2 0\n" + formats + "\nF 9000\n",
     "5: 9000 right-hand sides are announced, but the file has only 51 bytes"}};

}  // namespace

TEST_CASE("a malformed Harwell-Boeing file is refused with its line and what was expected") {
  for (const auto& [text, message, code] : malformed) {
    CAPTURE(text);
    const auto error = error_of([&, &t = text] { read(t); });
    REQUIRE(error);
    CHECK(error->code() == code);
    const std::string what = error->what();
    CHECK(what.substr(what.find("x.hb:") + 5) == message);
  }
}
