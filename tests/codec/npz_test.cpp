// SPDX-License-Identifier: BSD-3-Clause
// SciPy's files: those that SciPy 1.x wrote (tests/data/npz) and crafted ones, read or refused.
#include "support/files.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/npz.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tansolve::test {
namespace {

std::string scipy_file(const std::string& name) {
  return read_bytes(std::string(TANSOLVE_TEST_DATA "/npz/") + name);
}

Csr<double> read(const std::string& bytes, Duplicates duplicates = Duplicates::sum) {
  return read_npz(InputFile("m.npz", bytes), duplicates);
}

/// The message of the refusal.
std::string refusal(const std::string& bytes, ErrorCode code = ErrorCode::bad_input,
                    Duplicates duplicates = Duplicates::sum) {
  const auto error = error_of([&] { read(bytes, duplicates); });
  REQUIRE(error);
  CHECK(error->code() == code);
  return error->what();
}

//   . 4   . .
//   1.5 . 6 .
//   -2  . 0.001 .
const std::vector<Triplet<double>> example = {
    {0, 1, 4}, {1, 0, 1.5}, {1, 2, 6}, {2, 0, -2}, {2, 2, 1e-3}};

template <class U>
std::string bytes_of(U value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class U>
std::string npy(const std::string& type, const std::string& shape, const std::vector<U>& values) {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += bytes_of(static_cast<std::uint16_t>(header.size())) + header;
  file.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(U));
  return file;
}

using Members = std::vector<std::pair<std::string, std::string>>;

/// An archive of stored members, by PKWARE's description; with `zip64` every size and offset of the
/// directory is in the extension.
std::string zip(const Members& members, bool zip64 = false) {
  std::string file, directory;
  for (const auto& [name, content] : members) {
    const auto crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    const auto size = static_cast<std::uint32_t>(content.size());
    const auto length = static_cast<std::uint16_t>(name.size());
    const std::string extra = zip64 ? bytes_of(std::uint16_t{1}) + bytes_of(std::uint16_t{24}) +
                                          bytes_of(std::uint64_t{size}) +
                                          bytes_of(std::uint64_t{size}) +
                                          bytes_of(static_cast<std::uint64_t>(file.size()))
                                    : "";
    const std::uint32_t said = zip64 ? 0xffffffff : size;
    directory += "PK\x01\x02" + std::string(4, '\0') + std::string(8, '\0') + bytes_of(crc) +
                 bytes_of(said) + bytes_of(said) + bytes_of(length) +
                 bytes_of(static_cast<std::uint16_t>(extra.size())) + std::string(10, '\0') +
                 bytes_of(zip64 ? 0xffffffff : static_cast<std::uint32_t>(file.size())) + name +
                 extra;
    file += "PK\x03\x04" + std::string(10, '\0') + bytes_of(crc) + bytes_of(size) + bytes_of(size) +
            bytes_of(length) + std::string(2, '\0') + name + content;
  }
  const std::uint64_t at = file.size(), end = at + directory.size();
  file += directory;
  if (zip64)
    file += "PK\x06\x06" + std::string(28, '\0') + bytes_of(std::uint64_t{members.size()}) +
            bytes_of(std::uint64_t{directory.size()}) + bytes_of(at) + "PK\x06\x07" +
            std::string(4, '\0') + bytes_of(end) + std::string(4, '\0');
  const auto count = static_cast<std::uint16_t>(members.size());
  file += "PK\x05\x06" + std::string(4, '\0') + bytes_of(count) + bytes_of(count) +
          bytes_of(static_cast<std::uint32_t>(directory.size())) +
          bytes_of(static_cast<std::uint32_t>(at)) + std::string(2, '\0');
  return file;
}

/// The 2 x 3 matrix (1 at (0, 2), 2 at (1, 0)), a member replaced.
Members small(const std::string& name = "", const std::string& content = "") {
  Members members = {{"indices.npy", npy<std::int32_t>("<i4", "2,", {2, 0})},
                     {"indptr.npy", npy<std::int32_t>("<i4", "3,", {0, 1, 2})},
                     {"format.npy", npy<char>("|S3", "", {'c', 's', 'r'})},
                     {"shape.npy", npy<std::int64_t>("<i8", "2,", {2, 3})},
                     {"data.npy", npy<double>("<f8", "2,", {1, 2})}};
  for (auto& member : members)
    if (member.first == name) member.second = content;
  return members;
}

}  // namespace

TEST_CASE("the files of scipy's save_npz are read, compressed and not, in each format") {
  const auto expected = Csr<double>::from_triplets(3, 4, example);
  for (const char* file : {"csr.npz", "csc_stored.npz"}) {
    CAPTURE(file);
    CHECK(same_matrix(read(scipy_file(file)), expected));
  }
  const auto rounded = read(scipy_file("csr_f4_array.npz"));
  CHECK(rounded.values()[4] == double(1e-3f));
  CHECK(rounded.nnz() == 5);
  const std::vector<Triplet<double>> summed = {{0, 1, 2}, {1, 2, 4}, {2, 0, 4}, {2, 3, 5}};
  CHECK(same_matrix(read(scipy_file("coo_i2_duplicates.npz")),
                    Csr<double>::from_triplets(3, 4, summed)));
  const auto none = read(scipy_file("empty.npz"));
  CHECK(none.rows() == 2);
  CHECK(none.cols() == 0);
  const TemporaryFolder folder;
  CHECK(same_matrix(read_matrix(folder.write("matrix", scipy_file("csr.npz"))), expected));
}

TEST_CASE("archives with the extension for 4 GiB and more are read") {
  const auto expected =
      Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 2, 1}, {1, 0, 2}});
  CHECK(same_matrix(read(zip(small())), expected));
  CHECK(same_matrix(read(zip(small(), true)), expected));
}

TEST_CASE("what scipy writes and tansolve does not read is named") {
  CHECK(refusal(scipy_file("csr_complex.npz"), ErrorCode::not_supported) ==
        "m.npz(data.npy): complex matrices are not supported yet; the real matrix [Re A, -Im A; Im "
        "A, Re A] stands for one");
  CHECK(
      refusal(scipy_file("dia.npz"), ErrorCode::not_supported) ==
      "m.npz(format.npy): the format 'dia'; readable are csr, csc and coo, which A.tocsr() makes");
  CHECK(refusal(scipy_file("coo_i2_duplicates.npz"), ErrorCode::bad_input, Duplicates::refuse)
            .find("m.npz: row 2: column 0 occurs more than once") == 0);
  CHECK(refusal(zip({{"a.npy", "x"}})) ==
        "m.npz: a ZIP archive without format.npy and shape.npy; sparse matrices are written by "
        "scipy.sparse.save_npz");
}

TEST_CASE("a malformed member is refused by name and place") {
  const auto refused = [](const std::string& name, const std::string& content,
                          ErrorCode code = ErrorCode::bad_input) {
    return refusal(zip(small(name, content)), code);
  };
  CHECK(refused("indices.npy", npy<std::int32_t>("<i4", "2,", {2, 3})) ==
        "m.npz(indices.npy): element 1 is 3, but must be from 0 to 2");
  CHECK(refused("indices.npy", npy<std::int32_t>("<i4", "1,", {2})) ==
        "m.npz(indices.npy): 1 indices, but there are 2 values");
  CHECK(refused("indptr.npy", npy<std::int32_t>("<i4", "3,", {0, 3, 2})) ==
        "m.npz(indptr.npy): pointer 1 is 3, but must be from 0 to 2");
  CHECK(refused("indptr.npy", npy<std::int32_t>("<i4", "3,", {0, 1, 9})) ==
        "m.npz(indptr.npy): pointers from 0 to 9, they must go from 0 to 2");
  CHECK(refused("indptr.npy", npy<std::int32_t>("<i4", "2,", {0, 2})) ==
        "m.npz(indptr.npy): 2 pointers, but there must be 3");
  CHECK(refused("indptr.npy", npy<float>("<f4", "3,", {0, 1, 2}), ErrorCode::not_supported) ==
        "m.npz(indptr.npy): values of type '<f4'; they must be '<i4' or '<i8'");
  CHECK(refused("shape.npy", npy<std::int64_t>("<i8", "3,", {2, 3, 1})) ==
        "m.npz(shape.npy): 3 dimensions, a matrix has two");
  CHECK(refused("shape.npy", npy<std::int64_t>("<i8", "2,", {2, -3})) ==
        "m.npz(shape.npy): a dimension of -3; they may go up to 2147483647");
  CHECK(refused("data.npy", npy<double>("<f8", "1000000000000,", {1, 2})) ==
        "m.npz(data.npy): 16 bytes of values, but 1000000000000 of '<f8' are needed");
  CHECK(refused("data.npy", npy<double>(">f8", "2,", {1, 2}), ErrorCode::not_supported)
            .find("m.npz(data.npy): values of type '>f8'; they must be little-endian") == 0);
  CHECK(refused("data.npy", "PICKLE") ==
        "m.npz(data.npy): not a .npy file: it must begin with \\x93NUMPY");
}

TEST_CASE("a small archive of a huge matrix is refused before memory is taken for it") {
  Members members = small("format.npy", npy<char>("|S3", "", {'c', 's', 'c'}));
  for (auto& [name, content] : members) {
    if (name == "shape.npy") content = npy<std::int64_t>("<i8", "2,", {2147483647, 2});
  }
  CHECK(refusal(zip(members), ErrorCode::not_supported)
            .find("m.npz: the dimensions that it states need 17179869176 bytes for row offsets, "
                  "but the file holds ") == 0);
}

TEST_CASE("a damaged archive is refused wherever it is cut or changed") {
  const std::string good = scipy_file("csr.npz");
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(error_of([&] { read(good.substr(0, size)); }));
  std::string flipped = zip(small());
  const std::size_t value = flipped.find("\x93NUMPY") + 70;  // of the indices
  flipped[value] ^= 1;
  CHECK(refusal(flipped) == "m.npz(indices.npy): its checksum is wrong; the file is damaged");
  std::string method = zip(small());
  method[method.find("PK\x01\x02") + 10] = 12;  // of indices.npy
  CHECK(refusal(method, ErrorCode::not_supported) ==
        "m.npz(indices.npy): compression method 12; readable are 0 (stored) and 8 (deflated)");
  std::string bomb = good;  // whose directory claims 4 GiB for a member
  const std::size_t entry = bomb.find("PK\x01\x02");
  bomb.replace(entry + 24, 4, "\xfe\xff\xff\xff");
  CHECK(refusal(bomb).find("bytes cannot hold the 4294967294 that the directory has") !=
        std::string::npos);
}

}  // namespace tansolve::test
