// SPDX-License-Identifier: BSD-3-Clause
// The sections of a Harwell-Boeing file in their order: header, pointers, rows, values, right-hand
// sides.
#include <tansolve/codec/entries.hpp>
#include <tansolve/codec/fortran_format.hpp>
#include <tansolve/codec/harwell_boeing.hpp>
#include <tansolve/codec/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tansolve {
namespace detail {
namespace {

struct Header {
  std::string type;  // three letters in lower case
  bool has_rhs = false;
  std::int64_t rows = 0, cols = 0, entries = 0;
  FortranFormat pointers, indices, values, rhs;
  char rhs_type = 'f';  // f: dense, m: sparse
  std::int64_t rhs_cols = 0, rhs_entries = 0;

  bool pattern() const { return type[0] == 'p'; }
};

/// One reader a file: what every section needs.
class Reader {
 public:
  explicit Reader(const InputFile& file) : name_(file.name()), text_(file.text()), lines_(text_) {}
  HarwellBoeing read(Duplicates duplicates);

 private:
  void read_header();
  void read_type();
  void read_formats();
  void read_rhs_header();
  std::vector<std::int64_t> read_pointers(std::int64_t cols, std::int64_t entries);
  Entries read_entries(const std::vector<std::int64_t>& pointers, std::int64_t cols,
                       const FortranFormat* values);
  Dense read_rhs();

  /// The integers among the words of the current line from the given one on.
  std::vector<std::int64_t> integers(std::size_t from_word) const;
  void next_line(const char* expected);
  void check_fits(std::int64_t numbers, const char* what) const;
  [[noreturn]] void fail(const std::string& message, ErrorCode code = ErrorCode::bad_input) const {
    fail_at_line(name_, lines_.number(), message, code);
  }

  const std::string& name_;
  std::string_view text_;
  Lines lines_;
  Header header_;
};

void Reader::next_line(const char* expected) {
  if (!lines_.next()) fail(fmt::format("the file ends before {}", expected));
}

std::vector<std::int64_t> leading_integers(std::string_view line, std::size_t from_word) {
  std::vector<std::int64_t> numbers;
  const auto words = split(line);
  for (std::size_t k = from_word; k < words.size(); ++k) {
    std::int64_t number = 0;
    if (!parse_count(words[k], number)) break;
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::int64_t> Reader::integers(std::size_t from_word) const {
  return leading_integers(lines_.line(), from_word);
}

/// Every number takes a character at least: a file too short is found before memory is allocated
/// for it.
void Reader::check_fits(std::int64_t numbers, const char* what) const {
  if (numbers > std::ssize(text_))
    fail(fmt::format("{} {} are announced, but the file has only {} bytes", numbers, what,
                     text_.size()));
}

void Reader::read_header() {
  next_line("its title");
  next_line("the line with the numbers of lines");
  const auto counts = integers(0);
  if (counts.size() < 4)
    fail(
        fmt::format("expected the numbers of lines: all, pointers, rows, values[, right-hand "
                    "sides]; found {}",
                    excerpt(lines_.line())));
  header_.has_rhs = counts.size() > 4 && counts[4] > 0;
  next_line("the line with the type");
  read_type();
  next_line("the line with the formats");
  read_formats();
  if (!header_.has_rhs) return;
  next_line("the line about the right-hand sides");
  read_rhs_header();
}

void Reader::read_type() {
  const auto words = split(lines_.line());
  header_.type = words.empty() ? "" : lower_case(words[0]);
  const auto sizes = integers(1);
  const std::string& type = header_.type;
  if (type.size() != 3 || sizes.size() < 3)
    fail(
        fmt::format("expected a type of three letters and the numbers of rows, columns and "
                    "entries; found {}",
                    excerpt(lines_.line())));
  if (type[0] == 'c') fail(detail::no_complex_matrices, ErrorCode::not_supported);
  if (type[2] == 'e')
    fail("unassembled (elemental) matrices are not supported", ErrorCode::not_supported);
  const auto is_one_of = [](char c, std::string_view letters) {
    return letters.find(c) != std::string_view::npos;
  };
  if (!is_one_of(type[0], "rip") || !is_one_of(type[1], "surzh") || type[2] != 'a')
    fail(fmt::format("expected a type of R, I, P or C, then S, U, R, Z or H, then A or E; found {}",
                     excerpt(words[0])));
  header_.rows = sizes[0];
  header_.cols = sizes[1];
  header_.entries = sizes[2];
  if (header_.rows > max_dimension || header_.cols > max_dimension)
    fail(fmt::format("{} x {}: dimensions above {} are not supported", header_.rows, header_.cols,
                     max_dimension),
         ErrorCode::not_supported);
  if (is_one_of(type[1], "szh") && header_.rows != header_.cols)
    fail(fmt::format("{} x {}: a symmetric matrix must be square", header_.rows, header_.cols));
  if (type[1] == 'z' && header_.pattern())
    fail("a pattern cannot be skew-symmetric, since its values are 1");
  check_fits(header_.cols, "columns");
  check_fits(header_.entries, "entries");
}

/// The formats stand in 16, 16, 20 and 20 columns; their parentheses are the safer guide.
void Reader::read_formats() {
  std::vector<std::string_view> texts;
  const std::string_view line = lines_.line();
  int depth = 0;
  for (std::size_t k = 0, begin = 0; k < line.size(); ++k) {
    if (line[k] == '(' && depth++ == 0) begin = k;
    if (line[k] == ')' && --depth == 0) texts.push_back(line.substr(begin, k + 1 - begin));
  }
  const auto format = [&](std::size_t k, const char* what) {
    const auto parsed = k < texts.size() ? parse_fortran_format(texts[k]) : std::nullopt;
    if (!parsed)
      fail(fmt::format("expected a format like (13I6) or (1P,5D16.9) for the {}, found {}", what,
                       excerpt(k < texts.size() ? texts[k] : line)));
    return *parsed;
  };
  header_.pointers = format(0, "column pointers");
  header_.indices = format(1, "row indices");
  if (!header_.pattern()) header_.values = format(2, "values");
  // The value format of a pattern may be missing, and that of the right-hand sides is the last.
  if (header_.has_rhs)
    header_.rhs = format(std::max<std::size_t>(texts.size(), 3) - 1, "right-hand sides");
}

void Reader::read_rhs_header() {
  const auto words = split(lines_.line());
  const auto sizes = integers(1);
  if (!words.empty()) header_.rhs_type = lower_case(words[0])[0];
  if (words.empty() || sizes.empty() || (header_.rhs_type != 'f' && header_.rhs_type != 'm'))
    fail(fmt::format("expected the type (F or M) and number of the right-hand sides, found {}",
                     excerpt(lines_.line())));
  header_.rhs_cols = sizes[0];
  header_.rhs_entries = sizes.size() > 1 ? sizes[1] : 0;
  check_fits(header_.rhs_cols, "right-hand sides");
  check_fits(header_.rhs_entries, "entries of right-hand sides");
  if (header_.rhs_cols > 0 && header_.rows > max_dense_values / header_.rhs_cols)
    fail(fmt::format("{} right-hand sides of {} rows are not supported, at most {} values are",
                     header_.rhs_cols, header_.rows, max_dense_values),
         ErrorCode::not_supported);
  if (header_.rhs_type == 'f')
    check_fits(header_.rows * header_.rhs_cols, "values of right-hand sides");
}

/// cols + 1 pointers from 1 to entries + 1, none below the one before it; made zero-based.
std::vector<std::int64_t> Reader::read_pointers(std::int64_t cols, std::int64_t entries) {
  std::vector<std::int64_t> pointers(cols + 1);
  read_fields(name_, lines_, header_.pointers, cols + 1, "column pointers",
              [&](std::int64_t j, std::string_view field) {
                const auto pointer = parse_fortran_integer(field);
                if (!pointer) return false;
                pointers[j] = *pointer - 1;
                const std::int64_t least = j == 0 ? 0 : pointers[j - 1];
                const std::int64_t most = j == 0 ? 0 : entries;
                if (pointers[j] < least || pointers[j] > most)
                  fail(fmt::format("the pointer of column {} is {}, it must lie from {} to {}",
                                   j + 1, *pointer, least + 1, most + 1));
                return true;
              });
  if (pointers.back() != entries)
    fail(
        fmt::format("the last column pointer is {}, it must be {}, one more than the number of "
                    "entries",
                    pointers.back() + 1, entries + 1));
  return pointers;
}

/// The row indices and, where there is a format for them, the values.
Entries Reader::read_entries(const std::vector<std::int64_t>& pointers, std::int64_t cols,
                             const FortranFormat* values) {
  Entries entries(pointers.back(), values != nullptr);
  entries.count = pointers.back();
  for (std::int64_t j = 0; j < cols; ++j)
    std::fill(&entries.cols[pointers[j]], &entries.cols[pointers[j + 1]],
              static_cast<std::int32_t>(j));
  read_fields(name_, lines_, header_.indices, entries.count, "row indices",
              [&](std::int64_t k, std::string_view field) {
                const auto row = parse_fortran_integer(field);
                if (!row) return false;
                if (*row < 1 || *row > header_.rows)
                  fail(fmt::format("row index {} is {}, it must lie from 1 to {}", k + 1, *row,
                                   header_.rows));
                entries.rows[k] = static_cast<std::int32_t>(*row - 1);
                return true;
              });
  if (values == nullptr) return entries;
  read_fields(name_, lines_, *values, entries.count, "values",
              [&](std::int64_t k, std::string_view field) {
                const auto value = parse_fortran_real(field, *values);
                if (value) entries.values[k] = *value;
                return value.has_value();
              });
  return entries;
}

Dense Reader::read_rhs() {
  Dense rhs{header_.rows, header_.rhs_cols, {}};
  if (header_.rhs_type == 'm') {
    const auto pointers = read_pointers(rhs.cols, header_.rhs_entries);
    const Entries entries = read_entries(pointers, rhs.cols, &header_.rhs);
    check_stated(name_, "its right-hand sides", 8 * rhs.rows * rhs.cols, text_.size());
    return assemble_dense(rhs.rows, rhs.cols, Symmetry::general, entries);
  }
  check_fits(rhs.rows * rhs.cols, "values of right-hand sides");
  rhs.values.resize(rhs.rows * rhs.cols);
  read_fields(name_, lines_, header_.rhs, std::ssize(rhs.values), "values of right-hand sides",
              [&](std::int64_t k, std::string_view field) {
                const auto value = parse_fortran_real(field, header_.rhs);
                if (value) rhs.values[k] = *value;
                return value.has_value();
              });
  return rhs;
}

HarwellBoeing Reader::read(Duplicates duplicates) {
  read_header();
  check_stated(name_, "row offsets", 8 * header_.rows, text_.size());
  const auto symmetry = header_.type[1] == 'u' || header_.type[1] == 'r' ? Symmetry::general
                        : header_.type[1] == 'z'                         ? Symmetry::skew
                                                                         : Symmetry::symmetric;
  const auto pointers = read_pointers(header_.cols, header_.entries);
  const std::int64_t pointers_end = lines_.number();
  const Entries entries =
      read_entries(pointers, header_.cols, header_.pattern() ? nullptr : &header_.values);
  const auto index_line = [&](std::int64_t k) {
    return pointers_end + 1 + k / header_.indices.per_line;
  };
  for (std::int64_t k = 0; symmetry == Symmetry::skew && k < entries.count; ++k)
    if (entries.rows[k] == entries.cols[k] && !(entries.value(k) == 0))
      fail_at_line(
          name_, index_line(k),
          fmt::format("the diagonal of a skew-symmetric matrix must be zero, found a {} in "
                      "row {}",
                      entries.value(k), entries.rows[k] + 1));
  if (symmetry != Symmetry::general)
    if (const std::int64_t k = first_mirrored(entries); k < entries.count)
      fail_at_line(name_, index_line(k), mirrored_text(entries, k));
  HarwellBoeing result;
  if (header_.has_rhs)
    result.rhs = read_rhs();
  else
    result.rhs.rows = header_.rows;
  result.matrix = assemble(header_.rows, header_.cols, symmetry, entries);
  if (duplicates == Duplicates::sum) return result;
  const std::int64_t k = first_repeated(entries, symmetry, result.matrix);
  if (k < entries.count)
    fail_at_line(name_, index_line(k),
                 fmt::format("row {}, column {} occurs a second time", entries.rows[k] + 1,
                             entries.cols[k] + 1));
  return result;
}

}  // namespace

bool is_harwell_boeing(std::string_view text) {
  Lines lines(text);
  if (!lines.next() || !lines.next() || leading_integers(lines.line(), 0).size() < 4) return false;
  if (!lines.next()) return false;
  const auto words = split(lines.line());
  return !words.empty() && words[0].size() == 3 && leading_integers(lines.line(), 1).size() >= 3;
}

}  // namespace detail

HarwellBoeing read_harwell_boeing(const std::filesystem::path& path, Duplicates duplicates) {
  return read_harwell_boeing(InputFile(path), duplicates);
}

HarwellBoeing read_harwell_boeing(const InputFile& file, Duplicates duplicates) {
  return detail::reporting_memory(file.name(),
                                  [&] { return detail::Reader(file).read(duplicates); });
}

}  // namespace tansolve
