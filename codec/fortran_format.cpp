// SPDX-License-Identifier: BSD-3-Clause
// Format specifications and the input rules of ISO/IEC 1539-1, 13.7 (numeric editing).
#include <tansolve/codec/fortran_format.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>

namespace tansolve::detail {
namespace {

/// Lines are far shorter; the limit keeps widths and positions from overflowing.
constexpr std::int64_t max_format_number = 10000;

/// A cursor over a format without its blanks, in upper case.
class FormatText {
 public:
  explicit FormatText(std::string_view text) {
    for (const char c : text)
      if (!is_blank(c)) text_ += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  bool take(char c) { return at_ < text_.size() && text_[at_] == c && ++at_ > 0; }
  char letter() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  bool at_end() const { return at_ == text_.size(); }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || std::abs(value) > max_format_number) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

/// The field without blanks.
std::string compress(std::string_view field) {
  std::string text;
  std::copy_if(field.begin(), field.end(), std::back_inserter(text),
               [](char c) { return !is_blank(c); });
  return text;
}

}  // namespace

std::optional<FortranFormat> parse_fortran_format(std::string_view text) {
  FormatText rest(text);
  FortranFormat format;
  int open = 0;
  // What comes before the letter: scale factors, repeat counts and the parentheses they apply to.
  while (true) {
    if (rest.take('(')) {
      if (++open > 2) return std::nullopt;
      continue;
    }
    const auto number = rest.number();
    if (!number) break;
    if (rest.take('P')) {
      format.scale = *number;
      rest.take(',');
    } else {
      if (*number < 1) return std::nullopt;
      format.per_line *= *number;
    }
  }
  format.letter = rest.letter();
  const auto width = rest.number();
  if (open == 0 || std::string_view("IEDFG").find(format.letter) == std::string_view::npos ||
      !width || *width < 1 || format.per_line > max_format_number)
    return std::nullopt;
  format.width = *width;
  if (rest.take('.')) {
    const auto decimals = rest.number();
    if (!decimals || *decimals < 0) return std::nullopt;
    format.decimals = *decimals;
    if (rest.take('E') && !rest.number())
      return std::nullopt;  // digits of the exponent, for output
  }
  while (open > 0 && rest.take(')')) --open;
  if (open > 0 || !rest.at_end()) return std::nullopt;
  return format;
}

std::optional<std::int64_t> parse_fortran_integer(std::string_view field) {
  const std::string text = compress(field);
  std::int64_t value = 0;
  if (!parse_count(text.starts_with('+') ? std::string_view(text).substr(1) : text, value))
    return std::nullopt;
  return value;
}

std::optional<double> parse_fortran_real(std::string_view field, const FortranFormat& format) {
  std::string text = compress(field);
  const std::size_t sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const std::size_t mantissa_end = text.find_first_not_of("0123456789.", sign);
  const bool numeric = mantissa_end != sign;  // else inf, nan or nonsense
  const bool has_exponent = mantissa_end != std::string::npos;
  const bool has_point = text.find('.') < mantissa_end;

  // What the format adds goes into the decimal exponent, so that the number is rounded once.
  std::int64_t shift = 0;
  if (numeric && !has_point) shift -= format.decimals;
  if (numeric && !has_exponent) shift -= format.scale;
  if (shift != 0) {
    std::int64_t exponent = 0;
    if (has_exponent) {
      std::string_view written = std::string_view(text).substr(mantissa_end);
      if (std::string_view("DEde").find(written[0]) != std::string_view::npos)
        written.remove_prefix(1);
      if (written.starts_with('+') && !written.starts_with("+-")) written.remove_prefix(1);
      const char* end = written.data() + written.size();
      const auto [stop, error] = std::from_chars(written.data(), end, exponent);
      if (stop != end || error != std::errc() || std::abs(exponent) > max_format_number)
        return std::nullopt;
      text.resize(mantissa_end);
    }
    text += 'e' + std::to_string(exponent + shift);
  }
  double value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || parse_real(text.data(), end, value) != end) return std::nullopt;
  return value;
}

}  // namespace tansolve::detail
