// SPDX-License-Identifier: BSD-3-Clause
// What the readers of text files share: lines with their numbers, decimal numbers, errors.
#pragma once

#include <tansolve/codec/error.hpp>

#include <charconv>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::detail {

/// Throws Error "name:line: message".
[[noreturn]] void fail_at_line(const std::string& name, std::int64_t line,
                               const std::string& message, ErrorCode code = ErrorCode::bad_input);

/// What the readers of matrices say of complex values.
inline constexpr const char* no_complex_matrices =
    "complex matrices are not supported yet; the real matrix [Re A, -Im A; Im A, Re A] stands for "
    "one";

/// Throws Error not_supported when a file of `held` bytes states dimensions for which `what` takes
/// `stated` bytes, more than 1 GiB and than a thousand times the file: no such file is refused that
/// has an entry in every few hundred rows, and none of a few bytes takes what a machine has.
void check_stated(const std::string& name, const char* what, std::int64_t stated, std::size_t held);

[[noreturn]] void fail_out_of_memory(const std::string& name);
/// Runs `read`; a lack of memory becomes Error out_of_memory that names the file.
template <class Read>
auto reporting_memory(const std::string& name, Read&& read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    fail_out_of_memory(name);
  } catch (const std::length_error&) {
    fail_out_of_memory(name);
  }
}

inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
inline bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

inline const char* skip_blanks(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  return p;
}
/// The first line end in [p, end), or end.
const char* find_line_end(const char* p, const char* end);
/// Behind the line end at p, which is LF, CR LF or a lone CR; end stays end.
inline const char* skip_line_end(const char* p, const char* end) {
  if (p == end) return end;
  return *p == '\r' && p + 1 != end && p[1] == '\n' ? p + 2 : p + 1;
}
/// The lines of the text, a last one without line end included.
std::int64_t count_lines(std::string_view text);

/// A cursor over the lines of a text.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// Moves to the next line; false when there is none.
  bool next();
  std::string_view line() const { return line_; }  ///< without its end
  std::int64_t number() const { return number_; }  ///< of line(), from 1
  std::string_view rest() const { return rest_; }  ///< what follows it

 private:
  std::string_view rest_, line_;
  std::int64_t number_ = 0;
};

/// The words of a line between blanks.
std::vector<std::string_view> split(std::string_view line);
std::string lower_case(std::string_view text);
/// At most the first 40 characters, quoted, with unprintable ones replaced.
std::string excerpt(std::string_view text);

/// The whole of `word` as a nonnegative integer; false when it is none or needs more than 63 bits.
bool parse_count(std::string_view word, std::int64_t& value);

/// Reads the number at the start of [first, last), correctly rounded: decimals with an exponent
/// marked by E or D in either case or by its sign alone, nan and inf, each with an optional sign.
/// What is too small becomes a zero of its sign. Returns where the number ends, which is `last`, a
/// blank or a line end; nullptr when there is none or it exceeds the range of double.
const char* parse_unusual_real(const char* first, const char* last, double& value);
inline const char* parse_real(const char* first, const char* last, double& value) {
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc() && (end == last || is_blank(*end) || is_line_end(*end))) return end;
  return parse_unusual_real(first, last, value);
}

}  // namespace tansolve::detail
