// SPDX-License-Identifier: BSD-3-Clause
// The parts of text reading that are not in an inner loop.
#include <tansolve/codec/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tansolve::detail {

void fail_at_line(const std::string& name, std::int64_t line, const std::string& message,
                  ErrorCode code) {
  throw Error(code, fmt::format("{}:{}: {}", name, std::max<std::int64_t>(line, 1), message));
}

void check_stated(const std::string& name, const char* what, std::int64_t stated,
                  std::size_t held) {
  constexpr std::int64_t always = std::int64_t{1} << 30, times = 1000;
  if (stated <= always || stated / times <= static_cast<std::int64_t>(held)) return;
  throw Error(ErrorCode::not_supported,
              fmt::format("{}: the dimensions that it states need {} bytes for {}, but the file "
                          "holds {}; above {} bytes, {} times what it holds are the most",
                          name, stated, what, held, always, times));
}

void fail_out_of_memory(const std::string& name) {
  throw Error(ErrorCode::out_of_memory,
              fmt::format("{}: no memory for a matrix of the dimensions that it states", name));
}

const char* find_line_end(const char* p, const char* end) {
  return std::find_if(p, end, is_line_end);
}

std::int64_t count_lines(std::string_view text) {
  if (text.empty()) return 0;
  std::int64_t lines = 1;  // the last character ends a line, or the end of the text does
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    lines += (text[i] == '\n') | ((text[i] == '\r') & (text[i + 1] != '\n'));
  return lines;
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const char* begin = rest_.data();
  const char* end = begin + rest_.size();
  const char* line_end = find_line_end(begin, end);
  line_ = {begin, line_end};
  rest_ = {skip_line_end(line_end, end), end};
  ++number_;
  return true;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  const char* p = line.data();
  const char* end = p + line.size();
  while ((p = skip_blanks(p, end)) != end) {
    const char* word_end = std::find_if(p, end, is_blank);
    words.emplace_back(p, word_end);
    p = word_end;
  }
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, longest))
    quoted += std::isprint(static_cast<unsigned char>(c)) ? c : c == '\t' ? ' ' : '?';
  return quoted + (text.size() > longest ? "...\"" : "\"");
}

bool parse_count(std::string_view word, std::int64_t& value) {
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && stop == end && value >= 0;
}

const char* parse_unusual_real(const char* first, const char* last, double& value) {
  const char* end = std::find_if(first, last, [](char c) { return is_blank(c) || is_line_end(c); });
  if (first != end && *first == '+') {
    ++first;
    if (first != end && *first == '-') return nullptr;
  }
  std::string number(first, end);
  if (const auto letter = number.find_first_of("dD"); letter != std::string::npos)
    number[letter] = 'e';
  else if (const auto sign = number.find_first_of("+-", 1);
           sign != std::string::npos && number.find_first_of("eE") == std::string::npos)
    number.insert(sign, 1, 'e');

  const char* stop = number.data() + number.size();
  const auto [parsed, error] = std::from_chars(number.data(), stop, value);
  if (parsed != stop || error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    long double wide =
        0;  // only its magnitude is of interest: below the denormals or above the largest
    if (std::from_chars(number.data(), stop, wide).ec != std::errc() || std::fabs(wide) > 1)
      return nullptr;
    value = static_cast<double>(wide);
  }
  return end;
}

}  // namespace tansolve::detail
