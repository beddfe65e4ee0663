// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files: read in every supported form, written as NumPy reads them, refused with a reason.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/npy.hpp>

#include "support/files.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// A file of that version with that header, as it is, and those values.
template <class T>
std::string npy(const std::string& header, const std::vector<T>& values, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte)
    file += static_cast<char>(header.size() >> (8 * byte) & 0xff);
  file += header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return file;
}

Dense read_back(const std::string& bytes) {
  const TemporaryFolder folder;
  folder.write("a.npy", bytes);
  return read_npy(InputFile(folder / "a.npy"));
}

std::string why_refused(const std::string& bytes, ErrorCode code) {
  try {
    read_back(bytes);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

const std::string plain = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n";

}  // namespace

TEST_CASE("npy files are read in C and Fortran order, in both precisions and every version") {
  const std::vector<double> rows = {1, 2, 3, 4, 5, 6};  // (1 2 3; 4 5 6)
  const std::vector<double> by_columns = {1, 4, 2, 5, 3, 6};
  for (const char version : {1, 2, 3}) {
    const Dense c = read_back(npy(plain, rows, version));
    CHECK(c.rows == 2);
    CHECK(c.cols == 3);
    CHECK(c.values == by_columns);
  }
  const Dense fortran =
      read_back(npy("{\"shape\":(2,3),\"fortran_order\":True,'descr':'<f8'}", rows));
  CHECK(fortran.values == rows);
  const Dense single =
      read_back(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  \n",
                    std::vector<float>{1.5F, -2, 0.25F}));
  CHECK(single.rows == 3);
  CHECK(single.cols == 1);
  CHECK(single.values == std::vector<double>{1.5, -2, 0.25});
  CHECK(read_back(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }",
                      std::vector<double>{}))
            .cols == 4);
}

TEST_CASE("integers and truth values in npy files are taken as numbers") {
  const auto one = [](const std::string& type, const auto& values) {
    return read_back(
               npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (3,), }\n", values))
        .values;
  };
  const std::vector<double> expected = {1, 0, 100}, signs = {-1, 0, 100};
  CHECK(one("<i8", std::vector<std::int64_t>{-1, 0, 100}) == signs);
  CHECK(one("<i4", std::vector<std::int32_t>{-1, 0, 100}) == signs);
  CHECK(one("<i2", std::vector<std::int16_t>{-1, 0, 100}) == signs);
  CHECK(one("|i1", std::vector<std::int8_t>{-1, 0, 100}) == signs);
  CHECK(one("<u8", std::vector<std::uint64_t>{1, 0, 100}) == expected);
  CHECK(one("<u4", std::vector<std::uint32_t>{1, 0, 100}) == expected);
  CHECK(one("<u2", std::vector<std::uint16_t>{1, 0, 100}) == expected);
  CHECK(one("|u1", std::vector<std::uint8_t>{1, 0, 255}) == std::vector<double>{1, 0, 255});
  CHECK(one("|b1", std::vector<std::uint8_t>{1, 0, 1}) == std::vector<double>{1, 0, 1});
  const auto rows = read_back(npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
                                  std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  CHECK(rows.values == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(one("<i8", std::vector<std::int64_t>{(std::int64_t{1} << 53) + 1, 0, 0})[0] == 0x1p53);
}

TEST_CASE("npy files that are no such, or of another kind, are refused with a reason") {
  const std::vector<double> six(6);
  const auto bad = [](const std::string& bytes) {
    return why_refused(bytes, ErrorCode::bad_input);
  };
  const auto other = [](const std::string& bytes) {
    return why_refused(bytes, ErrorCode::not_supported);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(bad("nothing"), "it must begin with");
  has(bad("\x93NUMPY"), "version 0");
  has(bad(npy(plain, six, 9)), "version 9");
  has(bad(npy(plain, six).substr(0, 30)), "ends within its header");
  has(bad(npy(plain, six).substr(0, 9)), "ends within its header");
  has(bad(npy(plain, std::vector<double>(5))), "40 bytes of values, but 6 of '<f8' are needed");
  has(bad(npy(plain, std::vector<double>(7))), "56 bytes of values");
  has(bad(npy("{'descr': '<f8', 'shape': (2, 3)}", six)), "is missing");
  has(bad(npy("{'descr': '<f8', 'descr': '<f8'}", six)), "'descr' is unknown, or given twice");
  has(bad(npy("{'kind': 1}", six)), "'kind' is unknown");
  has(bad(npy("{'descr': <f8}", six)), "a string is expected before \"<f8}\"");
  has(bad(npy("{'descr': '<f8}", six)), "a string does not end");
  has(bad(npy("{'fortran_order': Maybe}", six)), "True or False");
  has(bad(npy("{'shape': (2, x)}", six)), "a dimension is expected before \"x)}\"");
  const std::string most = "9223372036854775807";
  for (const std::string& shape : {"(0, " + most + ")", "(" + most + ", 0)"})
    has(other(npy("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}",
                  std::vector<double>{})),
        "are not supported");
  has(bad(npy("{'shape': (2, -3)}", six)), "a dimension is expected");
  has(bad(npy("{'shape': (2 3)}", six)), "a comma or ')' is missing");
  has(bad(npy("['descr']", six)), "'{' is expected");
  has(other(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (3,)}", six)),
      "complex values are not supported yet");
  for (const std::string type : {">f8", ">i8", "<f2", "|O"})
    has(other(npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2, 3)}", six)),
        "type '" + type + "'; they must be little-endian real numbers or integers");
  has(other(npy("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", six)), "0 dimensions");
  has(other(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3)}", six)),
      "3 dimensions");
  has(other(
          npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", six)),
      "more than 2147483647 values");
}

TEST_CASE("npy files that were written are read back, and have the bytes that NumPy writes") {
  const TemporaryFolder folder;
  const Dense matrix{.rows = 2, .cols = 2, .values = {1, -0.0, 1e-320, 3}};
  write_npy(folder / "a.npy", matrix);
  const Dense back = read_npy(InputFile(folder / "a.npy"));
  CHECK(back.rows == 2);
  CHECK(back.cols == 2);
  CHECK(std::memcmp(back.values.data(), matrix.values.data(), 32) == 0);

  // python3 -c "import numpy, sys; numpy.save(sys.stdout.buffer, numpy.array([[1., 3.], [2., 4.]],
  // order='F'))" | head -c 128
  const std::string bytes = read_bytes(folder / "a.npy");
  CHECK(bytes.size() == 128 + 32);
  CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(bytes.substr(10, 59) == "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), } ");
  CHECK(bytes[127] == '\n');
  write_npy(folder / "b.npy", {.rows = 3, .cols = 1, .values = {1, 2, 3}});
  CHECK(read_bytes(folder / "b.npy").find("'shape': (3,), }") != std::string::npos);
  CHECK_THROWS_AS(write_npy(folder / "c.npy", {.rows = 3, .cols = 2, .values = {1}}), Error);
}

}  // namespace tansolve::test
