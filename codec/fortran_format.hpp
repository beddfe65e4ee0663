// SPDX-License-Identifier: BSD-3-Clause
// Fortran's fixed-width numbers, as Harwell-Boeing files hold them.
#pragma once

#include <tansolve/codec/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tansolve::detail {

/// One edit descriptor, repeated: (13I6), (1P,5D16.9), (5(E16.8)).
struct FortranFormat {
  std::int64_t per_line = 1;
  char letter = 'I';  ///< I, E, D, F or G
  std::int64_t width = 0;
  std::int64_t decimals = 0;  ///< digits behind the point in a field without point
  std::int64_t scale = 0;     ///< kP: a field without exponent is read as 10^-k times what it says
};

/// Empty where the text is not of such a form.
std::optional<FortranFormat> parse_fortran_format(std::string_view text);

/// The number in a field; blanks inside it do not count. Empty when there is none.
std::optional<std::int64_t> parse_fortran_integer(std::string_view field);
std::optional<double> parse_fortran_real(std::string_view field, const FortranFormat& format);

/// Hands `use` the next `count` fields, which begin on the line that follows. Throws Error naming
/// the line when the text ends before them or `use` returns false; `what` says what they hold.
template <class Use>
void read_fields(const std::string& name, Lines& lines, const FortranFormat& format,
                 std::int64_t count, const char* what, Use&& use) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t column = k % format.per_line * format.width;
    if (column == 0 && !lines.next())
      fail_at_line(name, lines.number(), std::string("the file ends inside the ") + what);
    const std::string_view line = lines.line();
    const auto begin = std::min<std::size_t>(column, line.size());
    const std::string_view field = line.substr(begin, format.width);
    if (!use(k, field))
      fail_at_line(name, lines.number(),
                   std::string("expected one of the ") + what + " in columns " +
                       std::to_string(column + 1) + " to " + std::to_string(column + format.width) +
                       ", found " + excerpt(field));
  }
}

}  // namespace tansolve::detail
