// SPDX-License-Identifier: BSD-3-Clause
// Every reader of text files, and what is gzip-compressed before it.
#include "fuzz/fuzz.hpp"
#include "fuzz/results.hpp"
#include "support/files.hpp"

#include <tansolve/codec/files.hpp>
#include <tansolve/codec/harwell_boeing.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <optional>

namespace tansolve::fuzz {
namespace {

std::vector<Seed> seeds() {
  constexpr const char *market = "read_matrix_market", *harwell = "read_harwell_boeing";
  const std::string general =
      "%%MatrixMarket matrix coordinate real general\n% c\n3 4 3\n1 1 1.5\n2 4 -2e-3\n3 2 1D2\n";
  const std::string title =
      "title                                                                   |key\n";
  return {
      {market, general},
      {market, "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 2\n2 1 -1\n3 3 7\n"},
      {market,
       "%%MatrixMarket matrix coordinate real skew-symmetric\r\n4 4 2\r\n2 1 1\r\n4 3 2\r\n"},
      {market, "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 nan\n"},
      {market, "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n-inf\n"},
      {"read_dense", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n-inf\n"},
      {market, "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"},
      {"read_dense", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n"},
      {"recognise", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"},
      {"gunzip", test::gzip(general) + test::gzip("1 1 1\n")},
      {harwell, title + "  4  1  1  1\nrua  3 3 5 0\n(4I2)           (10I1)          (2F5.1)\n"
                        " 1 3 4 6\n23123\n  1.0  2.0\n  4.0  6.0\n  7.0\n"},
      {harwell, title + "  3  1  1  0\npsa  3 3 4 0\n(4I2)           (10I1)          \n"
                        " 1 3 4 5\n1223\n"},
      {"read_harwell_boeing with a right-hand side",
       title + "             4             1             1             1             1\n"
               "RSA                        2             2             3             0\n"
               "(4I2)           (10I1)          (3F5.1)             (3F5.1)             \n"
               "F                          1             0\n"
               " 1 3 4\n122\n  1.0 -2.0 1D+1\n  4.0  6.0\n"}};
}

/// By way of a file, as only those are decompressed.
void gunzip(std::string_view input, std::vector<std::string_view>& takers) {
  const int descriptor = ::memfd_create("input", 0);
  if (::write(descriptor, input.data(), input.size()) != std::ssize(input) ||
      ::lseek(descriptor, 0, SEEK_SET) != 0)
    std::abort();
  try {
    const InputFile file("/proc/self/fd/" + std::to_string(descriptor));
    if (!file.text().empty()) takers.push_back("gunzip");
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) finding(error.what());
  }
  ::close(descriptor);
}

std::vector<std::string_view> feed(std::string_view input) {
  std::vector<std::string_view> takers;
  if (input.starts_with("\x1f\x8b")) gunzip(input, takers);
  const InputFile file("input", input);
  attempt("read_matrix_market", takers,
          [&] { return read_matrix_market(InputFile("input", input)); });
  attempt("read_matrix_market without duplicates", takers,
          [&] { return read_matrix_market(InputFile("input", input), Duplicates::refuse); });
  attempt("read_dense", takers, [&] { return read_dense(file); });
  std::optional<Dense> rhs;
  attempt("read_harwell_boeing", takers, [&] {
    auto [matrix, right] = read_harwell_boeing(file);
    rhs = right;
    return matrix;
  });
  if (rhs && rhs->cols > 0)
    attempt("read_harwell_boeing with a right-hand side", takers, [&] { return *rhs; });
  attempt("read_harwell_boeing without duplicates", takers,
          [&] { return read_harwell_boeing(file, Duplicates::refuse).matrix; });
  try {
    recognise(file);
    takers.push_back("recognise");
  } catch (const Error&) {
  }
  return takers;
}

}  // namespace

const Target target = {.seeds = seeds, .feed = feed};

}  // namespace tansolve::fuzz
