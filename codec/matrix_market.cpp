// SPDX-License-Identifier: BSD-3-Clause
// The header of a Matrix Market file, and the matrices that header and entries mean together.
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/matrix_market_entries.hpp>
#include <tansolve/codec/text.hpp>

#include <fmt/format.h>

#include <utility>

namespace tansolve {
namespace detail {
namespace {

constexpr std::string_view banner = "%%matrixmarket";

/// Some editors put one before UTF-8.
std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

void parse_banner(const std::string& name, std::string_view line, MatrixMarketHeader& header) {
  const std::string lower = lower_case(line);
  const auto words = split(lower);
  const auto refuse = [&](const std::string& message, ErrorCode code = ErrorCode::bad_input) {
    fail_at_line(name, 1, message, code);
  };
  if (words.size() != 5 || words[0] != banner)
    refuse(fmt::format("expected \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found {}",
                       excerpt(line)));
  const std::string_view object = words[1], format = words[2], field = words[3],
                         symmetry = words[4];
  if (object != "matrix")
    refuse(fmt::format("the object \"{}\" is not supported, only \"matrix\" is", object),
           ErrorCode::not_supported);
  if (format != "coordinate" && format != "array")
    refuse(fmt::format("the format must be coordinate or array, found {}", excerpt(format)));
  if (field == "complex") refuse(detail::no_complex_matrices, ErrorCode::not_supported);
  if (field != "real" && field != "double" && field != "integer" && field != "pattern")
    refuse(fmt::format("the field must be real, integer, pattern or complex, found {}",
                       excerpt(field)));
  if (symmetry == "general")
    header.symmetry = Symmetry::general;
  else if (symmetry == "symmetric" || symmetry == "hermitian")
    header.symmetry = Symmetry::symmetric;
  else if (symmetry == "skew-symmetric")
    header.symmetry = Symmetry::skew;
  else
    refuse(
        fmt::format("the symmetry must be general, symmetric, skew-symmetric or hermitian, "
                    "found {}",
                    excerpt(symmetry)));
  header.coordinate = format == "coordinate";
  header.pattern = field == "pattern";
  if (header.pattern && !header.coordinate)
    refuse("an array has values; a pattern must have the format coordinate");
  if (header.pattern && header.symmetry == Symmetry::skew)
    refuse("a pattern cannot be skew-symmetric, since its values are 1");
}

void parse_size(const std::string& name, const Lines& lines, MatrixMarketHeader& header) {
  const auto words = split(lines.line());
  const std::size_t numbers = header.coordinate ? 3 : 2;
  std::int64_t sizes[3] = {};
  bool valid = words.size() == numbers;
  for (std::size_t k = 0; valid && k < numbers; ++k) valid = parse_count(words[k], sizes[k]);
  if (!valid)
    fail_at_line(name, lines.number(),
                 fmt::format("expected {}, found {}",
                             header.coordinate ? "the numbers of rows, columns and entries"
                                               : "the numbers of rows and columns",
                             excerpt(lines.line())));
  header.size_line = lines.number();
  header.rows = sizes[0];
  header.cols = sizes[1];
  if (header.rows > max_dimension || header.cols > max_dimension)
    fail_at_line(name, lines.number(),
                 fmt::format("{} x {}: dimensions above {} are not supported", header.rows,
                             header.cols, max_dimension),
                 ErrorCode::not_supported);
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    fail_at_line(
        name, lines.number(),
        fmt::format("{} x {}: a symmetric matrix must be square", header.rows, header.cols));
  const std::int64_t n = header.rows;
  if (header.coordinate)
    header.entries = sizes[2];
  else if (header.symmetry == Symmetry::general)
    header.entries = header.rows * header.cols;
  else
    header.entries = header.symmetry == Symmetry::skew ? n * (n - 1) / 2 : n * (n + 1) / 2;
}

/// Gives the values of an array file, which lie column by column, the positions that they have.
void locate_array_values(const MatrixMarketHeader& header, bool keep_zeros, Entries& entries) {
  std::int64_t kept = 0, k = 0;
  for (std::int64_t j = 0; j < header.cols; ++j) {
    const std::int64_t first = header.symmetry == Symmetry::general     ? 0
                               : header.symmetry == Symmetry::symmetric ? j
                                                                        : j + 1;
    for (std::int64_t i = first; i < header.rows; ++i, ++k) {
      if (entries.values[k] == 0 && !keep_zeros) continue;
      entries.rows[kept] = static_cast<std::int32_t>(i);
      entries.cols[kept] = static_cast<std::int32_t>(j);
      entries.values[kept++] = entries.values[k];
    }
  }
  entries.count = kept;
}

}  // namespace

bool is_matrix_market(std::string_view text) {
  text = without_byte_order_mark(text);
  return lower_case(text.substr(0, banner.size())) == banner;
}

MatrixMarketHeader parse_matrix_market_header(const std::string& name, std::string_view text) {
  MatrixMarketHeader header{};
  Lines lines(without_byte_order_mark(text));
  if (!lines.next()) fail_at_line(name, 1, "the file is empty; expected \"%%MatrixMarket matrix\"");
  parse_banner(name, lines.line(), header);
  while (lines.next()) {
    const auto words = split(lines.line());
    if (words.empty() || words[0][0] == '%') continue;
    parse_size(name, lines, header);
    header.body = lines.rest();
    return header;
  }
  fail_at_line(name, lines.number(), "the file ends before the line with the dimensions");
}

}  // namespace detail

Csr<double> read_matrix_market(const std::filesystem::path& path, Duplicates duplicates) {
  return read_matrix_market(InputFile(path), duplicates);
}

Csr<double> read_matrix_market(InputFile file, Duplicates duplicates, const Progress& progress) {
  return detail::reporting_memory(file.name(), [&] {
    const auto header = detail::parse_matrix_market_header(file.name(), file.text());
    auto entries = detail::parse_matrix_market_entries(file.name(), header, progress);
    if (!header.coordinate) detail::locate_array_values(header, false, entries);
    detail::check_stated(file.name(), "row offsets", 8 * header.rows, file.text().size());
    if (duplicates == Duplicates::sum) file.release();

    auto matrix = detail::assemble(header.rows, header.cols, header.symmetry, entries);
    if (duplicates == Duplicates::sum) return matrix;
    const std::int64_t k = detail::first_repeated(entries, header.symmetry, matrix);
    if (k < entries.count)
      detail::fail_at_line(file.name(), detail::line_of_entry(header, k),
                           fmt::format("row {}, column {} occurs a second time",
                                       entries.rows[k] + 1, entries.cols[k] + 1));
    return matrix;
  });
}

Dense read_dense(const std::filesystem::path& path) {
  return read_dense(InputFile(path));
}

Dense read_dense(const InputFile& file) {
  return detail::reporting_memory(file.name(), [&] {
    const auto header = detail::parse_matrix_market_header(file.name(), file.text());
    if (header.rows * header.cols > detail::max_dense_values)
      detail::fail_at_line(file.name(), header.size_line,
                           fmt::format("{} x {}: dense matrices of more than {} values are not "
                                       "supported",
                                       header.rows, header.cols, detail::max_dense_values),
                           ErrorCode::not_supported);
    auto entries = detail::parse_matrix_market_entries(file.name(), header);
    if (!header.coordinate) detail::locate_array_values(header, true, entries);
    detail::check_stated(file.name(), "its values", 8 * header.rows * header.cols,
                         file.text().size());
    return detail::assemble_dense(header.rows, header.cols, header.symmetry, entries);
  });
}

}  // namespace tansolve
