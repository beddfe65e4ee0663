// SPDX-License-Identifier: BSD-3-Clause
// Containers of every plan, and through them arbitrary tables, streams and arrays: what validation
// accepts is decoded and multiplied on every instruction set, to the same bits.
#include "fuzz/fuzz.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/compressed_operator.hpp>

#include <zlib.h>

#include <cstring>

namespace tansolve::fuzz {
namespace {

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class U>
void store(std::string& file, std::size_t at, U value) {
  std::memcpy(&file[at], &value, sizeof value);
}

/// Makes the magic, the file's size and the checksums right (FORMAT.md 4.1 and 4.2), so that
/// mutations reach what is behind them.
void repair(std::string& file) {
  constexpr std::size_t table = 72, entry_bytes = 24;
  if (file.size() < table) return;
  container_magic.copy(file.data(), container_magic.size());
  store(file, 8, std::uint32_t{1});
  store(file, 16, static_cast<std::uint64_t>(file.size()));
  std::uint32_t sections = 0;
  std::memcpy(&sections, &file[12], 4);
  if (sections <= 6 && table + sections * entry_bytes <= file.size()) {
    for (std::size_t s = 0; s < sections; ++s) {
      const std::size_t entry = table + s * entry_bytes;
      std::uint64_t offset = 0, bytes = 0;
      std::memcpy(&offset, &file[entry + 8], 8);
      std::memcpy(&bytes, &file[entry + 16], 8);
      if (offset <= file.size() && bytes <= file.size() - offset)
        store(file, entry + 4, crc_of(std::string_view(file).substr(offset, bytes)));
    }
    store(file, 60, crc_of(std::string_view(file).substr(table, sections * entry_bytes)));
  }
  store(file, 68, crc_of(std::string_view(file).substr(0, 68)));
}

template <class T>
void check(const CompressedMatrix<T>& matrix) {
  if (matrix.rows() > 1 << 20 || matrix.cols() > 1 << 20) return;  // their vectors alone take long
  const Csr<T> decoded = matrix.decode(1);
  if (decoded.nnz() != matrix.nnz()) finding("nonzeros are lost");
  static Context<Host> context(1);
  std::vector<T> x(matrix.cols()), expected(matrix.rows()), y(matrix.rows());
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<T>(1 + j % 5);
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = decoded.offsets()[i]; k < decoded.offsets()[i + 1]; ++k)
      expected[i] += decoded.values()[k] * x[decoded.columns()[k]];
  for (const std::string& isa : supported_isas()) {
    const CompressedOperator<T, Host> A(context, matrix, isa);
    A.apply({x.data(), A.cols()}, {y.data(), A.rows()});
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(y[i] == expected[i]) && !(y[i] != y[i] && expected[i] != expected[i]))
        finding("another product by " + isa + " in row " + std::to_string(i));
  }
}

template <class T>
void add_seeds(std::vector<std::string>& all, const Csr<T>& matrix) {
  const test::TemporaryFolder folder;
  for (const Plan& plan : test::all_plans({1, 3})) {
    save_container(folder / "seed.tans", encode(matrix, plan, count_pairs(matrix)));
    all.push_back(test::read_bytes(folder / "seed.tans"));
  }
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const auto few = [](auto& random) { return static_cast<double>(random() % 3); };
  const auto many = [](auto& random) {
    return random() % 4 == 0 ? static_cast<double>(random() % 1000000) : 1.5;
  };
  add_seeds(all, test::random_matrix<double>(40, 60, 4, 17, many));
  add_seeds(all, test::random_matrix<float>(70, 9, 2, 5, few));
  return all;
}

void feed(std::string_view input) {
  std::string file(input);
  repair(file);
  try {
    const AnyCompressedMatrix matrix = parse_container(file, "input", 1);
    std::visit([](const auto& m) { check(m); }, matrix);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) finding(error.what());
  }
}

}  // namespace tansolve::fuzz
