// SPDX-License-Identifier: BSD-3-Clause
// Recognising files and choosing their reader.
#include <tansolve/codec/container.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/harwell_boeing.hpp>
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/matrix_market_entries.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/npz.hpp>

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace tansolve {
namespace {

/// Enough for three lines of any header.
constexpr std::size_t prefix_bytes = 65536;

[[noreturn]] void refuse(const InputFile& file, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file.name(), what));
}

}  // namespace

FileKind recognise(const InputFile& file) {
  const std::string_view text = file.text().substr(0, prefix_bytes);
  if (text.starts_with(container_magic)) return FileKind::container;
  if (is_npz(file)) return FileKind::npz;
  if (detail::is_matrix_market(text)) return FileKind::matrix_market;
  if (detail::is_harwell_boeing(text)) return FileKind::harwell_boeing;
  constexpr std::string_view readable =
      "readable are Matrix Market, Harwell-Boeing and Rutherford-Boeing files (each also "
      "gzip-compressed), SciPy's .npz and tansolve containers";
  if (text.empty()) refuse(file, fmt::format("the file is empty; {}", readable));
  if (text.starts_with(container_magic.substr(0, 5)))  // the rest is there to tell this
    refuse(file,
           "a tansolve container that is cut short, or whose line ends were translated; copy it as "
           "binary data");
  if (is_npy(file))
    refuse(file, fmt::format("a dense NumPy array where a matrix is expected; {}", readable));
  refuse(file, fmt::format("not a matrix file; {}", readable));
}

Csr<double> read_matrix(const std::filesystem::path& path, Duplicates duplicates) {
  InputFile file(path);
  switch (recognise(file)) {
    case FileKind::matrix_market:
      return read_matrix_market(std::move(file), duplicates);
    case FileKind::harwell_boeing:
      return read_harwell_boeing(file, duplicates).matrix;
    case FileKind::npz:
      return read_npz(file, duplicates);
    case FileKind::container:
      break;
  }
  refuse(file, "a tansolve container where a text file is expected; 'tansolve decode' makes one");
}

}  // namespace tansolve
