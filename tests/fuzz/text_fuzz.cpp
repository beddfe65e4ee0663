// SPDX-License-Identifier: BSD-3-Clause
// Every reader of files that people write: they return a matrix or throw an Error, and what one of
// them reads can be multiplied.
#include "fuzz/fuzz.hpp"
#include "support/files.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/harwell_boeing.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/npz.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstring>

namespace tansolve::fuzz {
namespace {

void check(const Csr<double>& matrix) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (matrix.offsets()[i] != last) finding("offsets do not join");
    last = matrix.offsets()[i + 1];
    for (std::int64_t k = matrix.offsets()[i]; k < last; ++k)
      if (matrix.columns()[k] < 0 || matrix.columns()[k] >= matrix.cols())
        finding("a column outside of the matrix");
  }
}

void check(const Dense& dense) {
  if (std::ssize(dense.values) != dense.rows * dense.cols) finding("values do not fill the shape");
}

/// Makes the checksums of stored ZIP members right, so that mutations reach what is behind them.
std::string repaired(std::string_view input) {
  constexpr std::string_view entry = "PK\x01\x02";
  std::string file(input);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, &file[at], sizeof value);
    return std::size_t{value};
  };
  for (std::size_t at = file.find(entry); at != std::string::npos; at = file.find(entry, at + 1)) {
    if (file.size() - at < 46) break;
    const std::size_t size = number(at + 20), header = number(at + 42);
    if (file[at + 10] != 0 || header + 30 > file.size()) continue;
    const std::size_t begin =
        header + 30 + (number(header + 26) & 0xffff) + (number(header + 26) >> 16);
    if (begin > file.size() || size > file.size() - begin) continue;
    const auto crc =
        static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(&file[begin]), size));
    std::memcpy(&file[at + 16], &crc, sizeof crc);
  }
  return file;
}

template <class Read>
void attempt(Read&& read) {
  try {
    check(read());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) finding(error.what());
  }
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all = {
      "%%MatrixMarket matrix coordinate real general\n% c\n3 4 3\n1 1 1.5\n2 4 -2e-3\n3 2 1D2\n",
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 3 7\n",
      "%%MatrixMarket matrix coordinate pattern skew-symmetric\r\n4 4 2\r\n2 1\r\n4 3\r\n",
      "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 nan\n",
      "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n-inf\n",
      "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
      "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"};
  const std::string title =
      "title                                                                   |key\n";
  all.push_back(title +
                "  4  1  1  1\nrua  3 3 5 0\n(4I2)           (10I1)          (2F5.1)\n"
                " 1 3 4 6\n23123\n  1.0  2.0\n  4.0  6.0\n  7.0\n");
  all.push_back(title +
                "             4             1             1             1             1\n"
                "RSA                        2             2             3             0\n"
                "(4I2)           (10I1)          (3F5.1)             (3F5.1)             \n"
                "F                          1             0\n"
                " 1 3 4\n122\n  1.0 -2.0 1D+1\n  4.0  6.0\n");
  for (const char* name : {"csr.npz", "csc_stored.npz", "coo_i2_duplicates.npz"}) {
    all.push_back(test::read_bytes(std::string(TANSOLVE_TEST_DATA "/npz/") + name));
    read_npz(InputFile("a seed", repaired(all.back())));
  }
  for (const std::string text : {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }\n",
                                 "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }\n"}) {
    all.push_back(std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size()) + '\0' + text +
                  std::string("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 16));
    read_npy(InputFile("a seed", all.back()));  // or it reaches nothing
  }
  return all;
}

void feed(std::string_view input) {
  const std::string archive = repaired(input);
  const InputFile file("input", archive);
  attempt([&] { return read_matrix_market(InputFile("input", input)); });
  attempt([&] { return read_matrix_market(InputFile("input", input), Duplicates::refuse); });
  attempt([&] { return read_dense(file); });
  attempt([&] { return read_harwell_boeing(file).matrix; });
  attempt([&] { return read_harwell_boeing(file, Duplicates::refuse).rhs; });
  attempt([&] { return read_npy(file); });
  attempt([&] { return read_npz(file); });
  try {
    recognise(file);
  } catch (const Error&) {
  }
}

}  // namespace tansolve::fuzz
