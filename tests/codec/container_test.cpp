// SPDX-License-Identifier: BSD-3-Clause
// Containers: round trips, the golden files, and the refusal of everything damaged or crafted.
#include "support/files.hpp"
#include "support/matrices.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <random>
#include <string>

using namespace tansolve;

namespace {

template <class T>
std::string container_of(const CompressedMatrix<T>& matrix) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "matrix.tans";
  save_container(path, matrix);
  return test::read_bytes(path);
}

template <class T>
CompressedMatrix<T> compressed(const Csr<T>& matrix, const Plan& plan) {
  return encode(matrix, plan, count_pairs(matrix));
}

/// A matrix whose codes need escapes, short and empty rows, small enough to damage at every byte.
Csr<double> small_matrix() {
  return test::random_matrix<double>(40, 60, 4, 17, [](auto& random) {
    return random() % 4 == 0 ? static_cast<double>(random() % 1000000) : 1.5;
  });
}

// Offsets in the header, FORMAT.md 4.1 and 4.2.
constexpr std::size_t header_crc_at = 68, table_crc_at = 60, table_at = 72, section_bytes = 24;

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Makes all checksums right again, as whoever crafts a file would.
void recompute_checksums(std::string& file) {
  std::uint32_t sections = 0;
  std::memcpy(&sections, &file[12], 4);
  if (sections > 6 || table_at + sections * section_bytes > file.size()) return;
  for (std::size_t s = 0; s < sections; ++s) {
    const std::size_t entry = table_at + s * section_bytes;
    std::uint64_t offset, bytes;
    std::memcpy(&offset, &file[entry + 8], 8);
    std::memcpy(&bytes, &file[entry + 16], 8);
    if (offset > file.size() || bytes > file.size() - offset) continue;
    const std::uint32_t crc = crc_of(std::string_view(file).substr(offset, bytes));
    std::memcpy(&file[entry + 4], &crc, 4);
  }
  const std::uint32_t table_crc =
      crc_of(std::string_view(file).substr(table_at, sections * section_bytes));
  std::memcpy(&file[table_crc_at], &table_crc, 4);
  const std::uint32_t header_crc = crc_of(std::string_view(file).substr(0, header_crc_at));
  std::memcpy(&file[header_crc_at], &header_crc, 4);
}

/// Either refused, or a valid matrix that decodes and whose dimensions bound its columns.
void check_survives(const std::string& file) {
  try {
    const auto any = parse_container(file, "crafted", 1);
    std::visit([](const auto& matrix) { matrix.decode(1); }, any);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(std::string(error.what()).starts_with("crafted: "));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("containers of nasty matrices give back the same bits", T, double, float) {
  const test::TemporaryFolder folder;
  for (const auto& [name, matrix] : test::nasty_matrices<T>())
    for (const CodingTraits& coding : all_codings) {
      CAPTURE(name);
      CAPTURE(coding.name);
      const auto original = compressed(matrix, {coding.coding, 2, RowEnds::crossing});
      const auto path = folder.path() / "m.tans";
      save_container(path, original);
      const auto any = load_container(path, 2);
      const auto& loaded = std::get<CompressedMatrix<T>>(any);
      CHECK(loaded.plan() == original.plan());
      CHECK(test::same_bits(loaded.decode(1), matrix));
      save_container(folder.path() / "again.tans", loaded);
      CHECK(test::read_bytes(folder.path() / "again.tans") == test::read_bytes(path));
    }
}

TEST_CASE("the golden files of version 1 are written the same to the byte") {
  // Written once by version 1 of the format; they must never change.
  const std::filesystem::path data = TANSOLVE_TEST_DATA;
  const auto first = compressed(generate("poisson5:9x5"), {Coding::byte, 2, RowEnds::aligned});
  CHECK(container_of(first) == test::read_bytes(data / "v1_poisson5_byte.tans"));
  const auto second =
      compressed(convert<float>(small_matrix()), {Coding::paper, 1, RowEnds::crossing});
  CHECK(container_of(second) == test::read_bytes(data / "v1_random_paper_f32.tans"));
  const auto third = compressed(small_matrix(), {Coding::fixed12, 3, RowEnds::aligned});
  CHECK(container_of(third) == test::read_bytes(data / "v1_random_fixed12.tans"));
  CHECK(container_of(compressed(generate("poisson5:9x5"), {.coding = Coding::patterns})) ==
        test::read_bytes(data / "v1_poisson5_patterns.tans"));
  CHECK(container_of(compressed(generate("varcoef7:3"), {.coding = Coding::shapes})) ==
        test::read_bytes(data / "v1_varcoef_shapes.tans"));
  CHECK(container_of(compressed(convert<float>(small_matrix()), {.coding = Coding::packed})) ==
        test::read_bytes(data / "v1_random_packed_f32.tans"));
  const auto crossing = compressed(generate("poisson5:9x5"), {Coding::joint, 4, RowEnds::crossing});
  CHECK(container_of(crossing) == test::read_bytes(data / "v1_poisson5_joint.tans"));
  const auto bytes =
      compressed(convert<float>(small_matrix()), {Coding::fixed8, 1, RowEnds::crossing});
  CHECK(container_of(bytes) == test::read_bytes(data / "v1_random_fixed8_f32.tans"));
  const auto pairs = compressed(small_matrix(), {Coding::fixed16, 2, RowEnds::aligned});
  CHECK(container_of(pairs) == test::read_bytes(data / "v1_random_fixed16.tans"));
}

TEST_CASE("the golden files of version 1 decode to their matrices") {
  const std::filesystem::path data = TANSOLVE_TEST_DATA;
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_poisson5_byte.tans")).decode(),
                        generate("poisson5:9x5")));
  CHECK(test::same_bits(std::get<1>(load_container(data / "v1_random_paper_f32.tans")).decode(),
                        convert<float>(small_matrix())));
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_random_fixed12.tans")).decode(),
                        small_matrix()));
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_poisson5_patterns.tans")).decode(),
                        generate("poisson5:9x5")));
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_varcoef_shapes.tans")).decode(),
                        generate("varcoef7:3")));
  CHECK(test::same_bits(std::get<1>(load_container(data / "v1_random_packed_f32.tans")).decode(),
                        convert<float>(small_matrix())));
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_poisson5_joint.tans")).decode(),
                        generate("poisson5:9x5")));
  CHECK(test::same_bits(std::get<1>(load_container(data / "v1_random_fixed8_f32.tans")).decode(),
                        convert<float>(small_matrix())));
  CHECK(test::same_bits(std::get<0>(load_container(data / "v1_random_fixed16.tans")).decode(),
                        small_matrix()));
}

TEST_CASE("a container cut short anywhere is refused") {
  const std::string file = container_of(compressed(small_matrix(), {Coding::byte, 1}));
  for (std::size_t length = 0; length < file.size(); ++length)
    REQUIRE_THROWS_AS(parse_container(std::string_view(file).substr(0, length), "short", 1), Error);
  REQUIRE_THROWS_AS(parse_container(file + '\0', "long", 1), Error);
}

TEST_CASE("a container with any byte flipped is refused") {
  for (const Coding coding : {Coding::byte, Coding::paper}) {
    std::string file = container_of(compressed(small_matrix(), {coding, 1}));
    for (char& byte : file) {
      byte = static_cast<char>(byte ^ 0x41);
      REQUIRE_THROWS_AS(parse_container(file, "flipped", 1), Error);
      byte = static_cast<char>(byte ^ 0x41);
    }
    CHECK_NOTHROW(parse_container(file, "whole", 1));
  }
}

TEST_CASE("crafted containers of long rows and exceptions are refused or harmless") {
  std::mt19937_64 random(6);
  std::vector<Triplet<double>> triplets;
  for (std::int64_t j = 0; j < 600; ++j)
    triplets.push_back({3, j, j % 300 == 7 ? 1e300 : 1 + 1e-9 * static_cast<double>(j * j)});
  for (std::int64_t i = 0; i < 40; ++i) triplets.push_back({i, 600, 1.25});
  const auto matrix = Csr<double>::from_triplets(40, 601, triplets);
  const auto packed = compressed(matrix, {.coding = Coding::packed});
  REQUIRE(packed.parts().arrays.order.pieces() == 3);
  REQUIRE(packed.parts().arrays.values.exceptions.size() == 2);
  const std::string whole = container_of(packed);
  std::uint64_t words = 0;  // where the fields begin, behind what gives them sense
  std::memcpy(&words, &whole[table_at + 3 * section_bytes + 8], 8);
  for (std::size_t at = 8; at < whole.size();
       at += at < words || at + 400 > whole.size() ? 1 : 37) {
    std::string file = whole;
    file[at] = static_cast<char>(at % 3 == 0 ? 0xff : at % 3 == 1 ? file[at] + 1 : random());
    recompute_checksums(file);
    check_survives(file);
  }
}

TEST_CASE("crafted containers with right checksums are refused or harmless") {
  std::mt19937_64 random(5);
  for (const CodingTraits& coding : all_codings)
    for (const RowEnds ends : {RowEnds::aligned, RowEnds::crossing}) {
      if (!is_stream(coding.coding) && ends == RowEnds::crossing) continue;  // as aligned
      CAPTURE(coding.name);
      const std::string whole = container_of(compressed(small_matrix(), {coding.coding, 2, ends}));
      for (std::size_t at = 8; at < whole.size(); ++at) {  // every byte, to a few values
        std::string file = whole;
        file[at] = static_cast<char>(at % 3 == 0 ? 0xff : at % 3 == 1 ? file[at] + 1 : random());
        recompute_checksums(file);
        check_survives(file);
      }
      for (int trial = 0; trial < 200; ++trial) {  // several at once
        std::string file = whole;
        for (int k = 0; k < 4; ++k)
          file[8 + random() % (file.size() - 8)] = static_cast<char>(random());
        recompute_checksums(file);
        check_survives(file);
      }
    }
}

TEST_CASE("a container that states a constant row length beside stored ones is refused") {
  std::string file = container_of(compressed(small_matrix(), {Coding::byte, 1}));
  file[56] = 1;
  recompute_checksums(file);
  CHECK_THROWS_WITH_AS(parse_container(file, "odd", 1), doctest::Contains("row length"), Error);
}

TEST_CASE("a container of another version or kind says so") {
  std::string file = container_of(compressed(small_matrix(), {Coding::byte, 1}));
  file[8] = 2;
  CHECK_THROWS_WITH_AS(parse_container(file, "new.tans", 1),
                       "new.tans: format version 2; this build reads version 1", Error);
  CHECK_THROWS_WITH_AS(parse_container("%%MatrixMarket", "m.mtx", 1),
                       "m.mtx: not a tansolve container", Error);
  CHECK_THROWS_AS(load_container("/no/such/file.tans"), Error);
}
