// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files: magic, version, a header in Python's notation, and the values.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/output_file.hpp>
#include <tansolve/codec/text.hpp>

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::int64_t most_values = std::numeric_limits<std::int32_t>::max();

/// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }, the keys in any order.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), rest_(text) {}

  detail::NpyArray parse() {
    std::optional<std::string_view> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !type)
        type = quoted();
      else if (key == "fortran_order" && !fortran_order)
        fortran_order = truth();
      else if (key == "shape" && !shape)
        shape = integers();
      else
        fail(fmt::format("the key '{}' is unknown, or given twice", key));
      if (!take(',') && peek() != '}') fail("a comma or '}' is missing");
    }
    if (!type || !fortran_order || !shape) fail("'descr', 'fortran_order' or 'shape' is missing");
    return {name_, *type, *fortran_order, std::move(*shape), {}};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the header of the .npy file: {}", name_, what));
  }
  char peek() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool take(char expected) {
    if (peek() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char expected) {
    if (!take(expected))
      fail(fmt::format("'{}' is expected before {}", expected, detail::excerpt(rest_)));
  }
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      fail(fmt::format("a string is expected before {}", detail::excerpt(rest_)));
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view result = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return result;
  }
  bool truth() {
    peek();
    for (const bool value : {true, false})
      if (const std::string_view word = value ? "True" : "False"; rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    fail(fmt::format("True or False is expected before {}", detail::excerpt(rest_)));
  }
  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!take(')')) {
      peek();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0)
        fail(fmt::format("a dimension is expected before {}", detail::excerpt(rest_)));
      rest_.remove_prefix(end - rest_.data());
      result.push_back(value);
      if (!take(',') && peek() != ')') fail("a comma or ')' is missing");
    }
    return result;
  }

  const std::string& name_;
  std::string_view rest_;
};

/// The header's text, and where the values begin.
std::pair<std::string_view, std::size_t> split_header(const std::string& name,
                                                      std::string_view text) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_input, fmt::format("{}: {}", name, what));
  };
  if (!text.starts_with(magic)) fail("not a .npy file: it must begin with \\x93NUMPY");
  const int version =
      text.size() > magic.size() ? static_cast<unsigned char>(text[magic.size()]) : 0;
  if (version < 1 || version > 3)
    fail(fmt::format("version {} of .npy is unknown; there are 1 to 3", version));
  const std::size_t width = version == 1 ? 2 : 4, at = magic.size() + 2;
  std::uint32_t length = 0;
  if (text.size() >= at + width) std::memcpy(&length, text.data() + at, width);
  if (text.size() < at + width || text.size() - at - width < length)
    fail("the .npy file ends within its header");
  return {text.substr(at + width, length), at + width + length};
}

/// Converts elements of the type From to those of the type To.
template <class To, class From>
std::vector<To> converted(const detail::NpyArray& array, std::int64_t count) {
  const auto width = static_cast<std::int64_t>(sizeof(From));
  if (std::ssize(array.values) / width != count || std::ssize(array.values) % width != 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} bytes of values, but {} of '{}' are needed", array.name,
                            array.values.size(), count, array.type));
  std::vector<To> out(count);
  for (std::int64_t k = 0; k < count; ++k) {
    From value;
    std::memcpy(&value, array.values.data() + k * width, sizeof value);
    out[k] = static_cast<To>(value);
  }
  return out;
}

/// Element (i, j) of row after row, to i + j * rows.
std::vector<double> by_columns(const std::vector<double>& by_rows, std::int64_t rows,
                               std::int64_t cols) {
  std::vector<double> values(by_rows.size());
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) values[i + j * rows] = by_rows[i * cols + j];
  return values;
}

}  // namespace

bool is_npy(const InputFile& file) {
  return file.text().starts_with(magic);
}

detail::NpyArray detail::parse_npy(const std::string& name, std::string_view text) {
  const auto [header, begin] = split_header(name, text);
  NpyArray array = HeaderParser(name, header).parse();
  array.values = text.substr(begin);
  return array;
}

std::vector<double> detail::npy_reals(const NpyArray& array, std::int64_t count) {
  const std::string_view type = array.type;
  if (type == "<f8") return converted<double, double>(array, count);
  if (type == "<f4") return converted<double, float>(array, count);
  if (type == "<i8") return converted<double, std::int64_t>(array, count);
  if (type == "<i4") return converted<double, std::int32_t>(array, count);
  if (type == "<i2") return converted<double, std::int16_t>(array, count);
  if (type == "|i1") return converted<double, std::int8_t>(array, count);
  if (type == "<u8") return converted<double, std::uint64_t>(array, count);
  if (type == "<u4") return converted<double, std::uint32_t>(array, count);
  if (type == "<u2") return converted<double, std::uint16_t>(array, count);
  if (type == "|u1" || type == "|b1") return converted<double, std::uint8_t>(array, count);
  throw Error(ErrorCode::not_supported,
              fmt::format("{}: values of type '{}'; they must be little-endian real numbers or "
                          "integers, as a.astype('<f8') makes them",
                          array.name, type));
}

std::vector<std::int64_t> detail::npy_integers(const NpyArray& array, std::int64_t count) {
  if (array.type == "<i4") return converted<std::int64_t, std::int32_t>(array, count);
  if (array.type == "<i8") return converted<std::int64_t, std::int64_t>(array, count);
  throw Error(
      ErrorCode::not_supported,
      fmt::format("{}: values of type '{}'; they must be '<i4' or '<i8'", array.name, array.type));
}

Dense read_npy(const InputFile& file) {
  const detail::NpyArray array = detail::parse_npy(file.name(), file.text());
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::not_supported, fmt::format("{}: {}", file.name(), what));
  };
  if (detail::is_complex(array))
    refuse(
        "complex values are not supported yet; a real matrix takes the real and the imaginary "
        "parts as two columns");
  if (array.shape.empty() || array.shape.size() > 2)
    refuse(fmt::format("an array of {} dimensions; it must have one or two", array.shape.size()));
  Dense dense;
  dense.rows = array.shape[0];
  dense.cols = array.shape.size() == 2 ? array.shape[1] : 1;
  if (dense.rows > most_values || dense.cols > most_values ||
      (dense.cols > 0 && dense.rows > most_values / dense.cols))
    refuse(fmt::format("{} x {}: arrays of more than {} values are not supported", dense.rows,
                       dense.cols, most_values));
  dense.values = detail::npy_reals(array, dense.rows * dense.cols);
  if (!array.fortran_order && dense.rows > 1 && dense.cols > 1)
    dense.values = by_columns(dense.values, dense.rows, dense.cols);
  return dense;
}

void write_npy(const std::filesystem::path& path, const Dense& matrix) {
  if (std::ssize(matrix.values) != matrix.rows * matrix.cols)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: {} values, but {} x {} need {}", path.string(), matrix.values.size(),
                    matrix.rows, matrix.cols, matrix.rows * matrix.cols));
  const std::string shape = matrix.cols == 1 ? fmt::format("{},", matrix.rows)
                                             : fmt::format("{}, {}", matrix.rows, matrix.cols);
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}), }}", shape);
  const std::size_t before = magic.size() + 4;  // with version and length
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());

  OutputFile file(path);
  file.write(magic);
  file.write(std::string_view("\x01\x00", 2));
  file.write(&length, sizeof(length));
  file.write(header);
  file.write(matrix.values.data(), matrix.values.size() * sizeof(double));
  file.commit();
}

}  // namespace tansolve
