// SPDX-License-Identifier: BSD-3-Clause
// NumPy's arrays and SciPy's archives of them: what is mutated inside of a member is stored or
// deflated again with its right length and checksum.
#include "fuzz/fuzz.hpp"
#include "fuzz/results.hpp"
#include "support/files.hpp"

#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/npz.hpp>
#include <tansolve/codec/zip.hpp>

#include <zlib.h>

#include <cstring>
#include <iterator>

namespace tansolve::fuzz {
namespace {

constexpr const char* member_names[] = {"format.npy", "shape.npy", "data.npy", "indices.npy",
                                        "indptr.npy", "row.npy",   "col.npy"};
constexpr std::string_view npy_magic = "\x93NUMPY";

std::string little(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

std::string npy(const std::string& header, const std::string& values) {
  return std::string(npy_magic) + std::string("\1\0", 2) + little(header.size(), 2) + header +
         values;
}

/// The bits of the comment tell the members that are deflated.
std::string archive(const Parts& members, std::string comment) {
  comment.resize(std::min<std::size_t>(comment.size(), 64));
  std::string file, directory;
  int count = 0;
  for (std::size_t k = 0; k < std::size(member_names); ++k) {
    const std::string &bytes = members[k], name = member_names[k];
    if (bytes.empty()) continue;
    const bool deflate = !comment.empty() && (comment[0] >> k & 1) != 0;
    const std::string packed = deflate ? test::deflated(bytes, -MAX_WBITS) : bytes;
    const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    const std::string common = little(0, 2) + little(deflate ? 8 : 0, 2) + little(0, 4) +
                               little(crc, 4) + little(packed.size(), 4) + little(bytes.size(), 4) +
                               little(name.size(), 2) + little(0, 2);
    directory +=
        "PK\1\2" + little(20, 4) + common + std::string(10, '\0') + little(file.size(), 4) + name;
    file += "PK\3\4" + little(20, 2) + common + name + packed;
    ++count;
  }
  return file + directory + "PK\5\6" + little(0, 4) + little(count, 2) + little(count, 2) +
         little(directory.size(), 4) + little(file.size(), 4) + little(comment.size(), 2) + comment;
}

/// A header and the values behind it.
void split_npy(const std::string& file, Parts& parts) {
  const std::size_t header = file.size() < 10 ? 0
                                              : static_cast<unsigned char>(file[8]) +
                                                    256 * static_cast<unsigned char>(file[9]);
  const bool complete = header > 0 && header + 10 <= file.size();
  parts.push_back(complete ? file.substr(10, header) : "");
  parts.push_back(complete ? file.substr(10 + header) : file);
}

/// Of an array its header and values; of an archive its comment, then those of each member.
Parts split(std::string_view input) {
  Parts parts;
  if (input.starts_with(npy_magic)) {
    split_npy(std::string(input), parts);
    return parts;
  }
  const std::size_t end = input.rfind("PK\5\6");
  if (end == std::string_view::npos || input.size() < end + 22) return whole(input);
  parts.emplace_back(input.substr(end + 22));
  try {
    const detail::ZipArchive zip("input", input);
    for (const char* name : member_names)
      split_npy(zip.has(name) ? zip.read(name, 1 << 16) : "", parts);
  } catch (const Error&) {
    return whole(input);
  }
  return parts;
}

std::string joined(const Parts& parts) {
  if (parts.size() == 1) return parts.front();
  if (parts.size() == 2) return npy(parts[0], parts[1]);
  Parts members;
  for (std::size_t k = 1; k + 1 < parts.size(); k += 2)
    members.push_back(parts[k].empty() ? parts[k + 1] : npy(parts[k], parts[k + 1]));
  return archive(members, parts[0]);
}

template <class T>
std::string array(const std::string& type, const std::vector<T>& values,
                  const std::string& shape = "") {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                 (shape.empty() ? std::to_string(values.size()) + "," : shape) + "), }\n",
             {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

std::string word(const std::string& type, const std::string& text) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (), }", text);
}

std::vector<Seed> seeds() {
  using Floats = std::vector<float>;
  using Ints = std::vector<std::int32_t>;
  using Longs = std::vector<std::int64_t>;
  using Shorts = std::vector<std::int16_t>;
  const std::string shape = array("<i8", Longs{2, 3});
  const std::string reals = array<double>("<f8", {1.5, -2, 1e300});
  const std::string wide("c\0\0\0s\0\0\0r\0\0\0", 12);
  std::vector<Seed> all;
  for (const std::string deflate : {"", "\x14", "\x7f"}) {
    all.push_back(
        {"read_npz", archive({word("|S3", "csr"), shape, reals, array("<i4", Ints{0, 2, 1}),
                              array("<i4", Ints{0, 2, 3}), "", ""},
                             deflate)});
    all.push_back(
        {"read_npz", archive({word("<U3", wide), shape, array("<f4", Floats{1, 2}),
                              array("<i8", Longs{0, 0}), array("<i8", Longs{0, 1, 2}), "", ""},
                             deflate)});
    all.push_back(
        {"read_npz", archive({word("|S3", "csc"), shape, reals, array("<i4", Ints{0, 1, 1}),
                              array("<i4", Ints{0, 1, 2, 3}), "", ""},
                             deflate)});
    all.push_back(
        {"read_npz", archive({word("|S3", "coo"), shape, array("<i2", Shorts{5, 6, 7}), "", "",
                              array("<i4", Ints{0, 1, 1}), array("<i4", Ints{2, 0, 0})},
                             deflate)});
  }
  all.push_back({"read_npy", reals});
  all.push_back({"read_npy", array("<i4", Ints{1, 2, 3, 4, 5, 6}, "2, 3")});
  for (const std::string type :
       {"<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"}) {
    const int count = 16 / (type[2] - '0');
    all.push_back({"read_npy", array<double>(type, {1, 0}, std::to_string(count) + ",")});
  }
  all.push_back({"read_npy", array("<i8", Longs{}, "0, 2")});
  return all;
}

/// With right checksums of stored members, so that plain mutations reach what is behind them.
std::string repaired(std::string_view input) {
  std::string file(input);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, &file[at], sizeof value);
    return std::size_t{value};
  };
  for (std::size_t at = file.find("PK\1\2"); at != std::string::npos;
       at = file.find("PK\1\2", at + 1)) {
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

std::vector<std::string_view> feed(std::string_view input) {
  const InputFile file("input", repaired(input));
  std::vector<std::string_view> takers;
  attempt("read_npy", takers, [&] { return read_npy(file); });
  attempt("read_npz", takers, [&] { return read_npz(file); });
  attempt("read_npz without duplicates", takers,
          [&] { return read_npz(file, Duplicates::refuse); });
  return takers;
}

}  // namespace

const Target target = {.seeds = seeds, .feed = feed, .split = split, .joined = joined};

}  // namespace tansolve::fuzz
