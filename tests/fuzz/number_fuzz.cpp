// SPDX-License-Identifier: BSD-3-Clause
// Numbers: what parse_real accepts, strtod reads to the same bits.
#include "fuzz/fuzz.hpp"

#include <tansolve/codec/text.hpp>

#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace tansolve::fuzz {
namespace {

/// With the exponent as C writes it.
std::string canonical(std::string_view number) {
  std::string result;
  for (const char c : number) {
    const bool exponent = c == 'd' || c == 'D';
    const bool sign = c == '+' || c == '-';
    if (sign && !result.empty() && std::isdigit(static_cast<unsigned char>(result.back())))
      result += 'e';
    else if (sign && !result.empty() && result.back() == '.')
      result += 'e';
    result += exponent ? 'e' : c;
  }
  return result;
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  for (const char* number :
       {"1", "-2.5", "+.5", "1e5", "1D-3", "2.5+10", "nan", "-inf", "1e-400", "4.9e-324", "1e308",
        "1.7976931348623157e308", "9007199254740993",
        "0.1000000000000000055511151231257827021181583404541015625", "-0", "1.E+2", "Infinity"})
    all.push_back({"parse_real", number});
  return all;
}

std::vector<std::string_view> feed(std::string_view input) {
  double value = 0;
  const char* end = detail::parse_real(input.data(), input.data() + input.size(), value);
  if (end == nullptr) return {};
  if (end < input.data() || end > input.data() + input.size()) finding("an end outside");
  const std::string number = canonical(input.substr(0, end - input.data()));
  char* theirs_end = nullptr;
  const double theirs = std::strtod(number.c_str(), &theirs_end);
  if (*theirs_end != '\0') finding("accepted, but strtod stops within " + number);
  if (std::isnan(value) && std::isnan(theirs)) return {"parse_real"};
  if (std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(theirs))
    finding("strtod reads another value from " + number);
  return {"parse_real"};
}

}  // namespace

const Target target = {.seeds = seeds, .feed = feed};

}  // namespace tansolve::fuzz
