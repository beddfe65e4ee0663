// SPDX-License-Identifier: BSD-3-Clause
// SciPy's files: one .npy file for the format, the shape, the values and each array of indices.
#include <tansolve/codec/entries.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/npz.hpp>
#include <tansolve/codec/text.hpp>
#include <tansolve/codec/zip.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve {
namespace {

using detail::NpyArray;

[[noreturn]] void refuse(const NpyArray& array, const std::string& what,
                         ErrorCode code = ErrorCode::bad_input) {
  throw Error(code, fmt::format("{}: {}", array.name, what));
}

/// A member and its array, which refers to its bytes.
struct Member {
  Member(const detail::ZipArchive& archive, std::string_view name,
         std::uint64_t most = std::numeric_limits<std::uint64_t>::max())
      : bytes(archive.read(name, most)), array(detail::parse_npy(archive.title(name), bytes)) {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  std::string bytes;
  NpyArray array;
};

/// The length of an array of one dimension.
std::int64_t length(const NpyArray& array) {
  if (array.shape.size() != 1)
    refuse(array, fmt::format("{} dimensions, there must be one", array.shape.size()));
  return array.shape[0];
}

std::vector<std::int64_t> integers(const NpyArray& array) {
  return detail::npy_integers(array, length(array));
}

std::vector<double> reals(const NpyArray& array) {
  if (detail::is_complex(array))
    refuse(array, detail::no_complex_matrices, ErrorCode::not_supported);
  return detail::npy_reals(array, length(array));
}

/// 'csr', say, of a string of bytes or of UCS-4 characters.
std::string format_name(const NpyArray& array) {
  const bool wide = array.type.starts_with("<U");
  if (!wide && !array.type.starts_with("|S"))
    refuse(array, fmt::format("a format of type '{}', it must be a string", array.type));
  std::string name;
  for (std::size_t k = 0; k < array.values.size(); k += wide ? 4 : 1)
    if (array.values[k] != '\0') name += array.values[k];
  return name;
}

/// The number of every entry's row (or column, for 'csc') from where each begins.
std::vector<std::int64_t> expanded(const NpyArray& array, std::int64_t lines, std::int64_t nnz) {
  const std::vector<std::int64_t> starts = integers(array);
  if (std::ssize(starts) != lines + 1)
    refuse(array, fmt::format("{} pointers, but there must be {}", starts.size(), lines + 1));
  if (starts.front() != 0 || starts.back() != nnz)
    refuse(array, fmt::format("pointers from {} to {}, they must go from 0 to {}", starts.front(),
                              starts.back(), nnz));
  std::vector<std::int64_t> numbers(nnz);
  for (std::int64_t i = 0; i < lines; ++i) {
    if (starts[i] > starts[i + 1] || starts[i + 1] > nnz)
      refuse(array, fmt::format("pointer {} is {}, but must be from {} to {}", i + 1, starts[i + 1],
                                starts[i], nnz));
    for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) numbers[k] = i;
  }
  return numbers;
}

std::vector<std::int64_t> indices(const NpyArray& array, std::int64_t bound, std::int64_t nnz) {
  std::vector<std::int64_t> numbers = integers(array);
  if (std::ssize(numbers) != nnz)
    refuse(array, fmt::format("{} indices, but there are {} values", numbers.size(), nnz));
  for (std::int64_t k = 0; k < nnz; ++k)
    if (numbers[k] < 0 || numbers[k] >= bound)
      refuse(array,
             fmt::format("element {} is {}, but must be from 0 to {}", k, numbers[k], bound - 1));
  return numbers;
}

Csr<double> read(const detail::ZipArchive& archive, const std::string& name,
                 Duplicates duplicates) {
  if (!archive.has("format.npy") || !archive.has("shape.npy"))
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: a ZIP archive without format.npy and shape.npy; sparse matrices are "
                    "written by scipy.sparse.save_npz",
                    name));
  constexpr std::uint64_t most = 1 << 16;  // bytes of a word, or of two numbers
  const Member format(archive, "format.npy", most), shape(archive, "shape.npy", most);
  const std::string kind = format_name(format.array);
  if (kind != "csr" && kind != "csc" && kind != "coo")
    refuse(format.array,
           fmt::format("the format '{}'; readable are csr, csc and coo, which A.tocsr() makes",
                       kind.substr(0, 40)),
           ErrorCode::not_supported);
  const std::vector<std::int64_t> sizes = integers(shape.array);
  if (sizes.size() != 2)
    refuse(shape.array, fmt::format("{} dimensions, a matrix has two", sizes.size()));
  for (const std::int64_t size : sizes)
    if (size < 0 || size > detail::max_dimension)
      refuse(shape.array,
             fmt::format("a dimension of {}; they may go up to {}", size, detail::max_dimension),
             size < 0 ? ErrorCode::bad_input : ErrorCode::not_supported);
  const std::int64_t rows = sizes[0], cols = sizes[1];

  const Member data(archive, "data.npy");
  const std::vector<double> values = reals(data.array);
  const std::int64_t nnz = std::ssize(values);
  const bool by_rows = kind == "csr", coordinates = kind == "coo";
  const Member lines(archive, coordinates ? "row.npy" : "indptr.npy"),
      places(archive, coordinates ? "col.npy" : "indices.npy");
  const std::int64_t across = kind == "csc" ? rows : cols, along = kind == "csc" ? cols : rows;
  const auto line =
      coordinates ? indices(lines.array, along, nnz) : expanded(lines.array, along, nnz);
  const auto place = indices(places.array, across, nnz);
  if (!by_rows) detail::check_stated(name, "row offsets", 8 * rows, archive.bytes());
  std::vector<Triplet<double>> triplets(nnz);
  for (std::int64_t k = 0; k < nnz; ++k)
    triplets[k] = by_rows || coordinates ? Triplet<double>{line[k], place[k], values[k]}
                                         : Triplet<double>{place[k], line[k], values[k]};
  try {
    return Csr<double>::from_triplets(rows, cols, triplets, duplicates);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

bool is_npz(const InputFile& file) {
  return file.text().starts_with("PK\x03\x04") || file.text().starts_with("PK\x05\x06");
}

Csr<double> read_npz(const InputFile& file, Duplicates duplicates) {
  return detail::reporting_memory(file.name(), [&] {
    return read(detail::ZipArchive(file.name(), file.text()), file.name(), duplicates);
  });
}

}  // namespace tansolve
