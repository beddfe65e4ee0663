// SPDX-License-Identifier: BSD-3-Clause
// Documents, status lines and units.
#include "console.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tansolve::app {

void Console::document(const Json& json) const {
  constexpr int indent = 2;
  // File names need not be valid UTF-8, but the document must.
  if (json_) std::puts(json.dump(indent, ' ', false, Json::error_handler_t::replace).c_str());
}

StatusLine::StatusLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void StatusLine::show(std::string_view text) {
  if (!terminal_ || (shown_ && Clock::now() < next_)) return;
  std::fprintf(stderr, "\r%.*s\x1b[K", static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
  shown_ = true;
  next_ = Clock::now() + std::chrono::milliseconds(100);
}

void StatusLine::show(std::string_view what, double done) {
  constexpr int width = 30;
  const int full = static_cast<int>(std::lround(width * std::clamp(done, 0.0, 1.0)));
  show(fmt::format("{:<10} [{}{}] {:3.0f} %", what, std::string(full, '='),
                   std::string(width - full, ' '), 100 * done));
}

std::string bytes_text(double bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace tansolve::app
