// SPDX-License-Identifier: BSD-3-Clause
// What the program tells people and programs, and where: one JSON document or text on stdout.
#pragma once

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace tansolve::app {

/// Fields keep their order. Numbers that are not finite are written as null: JSON has no others.
using Json = nlohmann::ordered_json;

/// To stderr. One that cannot be written must cost neither the result nor the exit code.
template <class... A>
void complain(fmt::format_string<A...> format, A&&... arguments) {
  std::fputs(fmt::format(format, std::forward<A>(arguments)...).c_str(), stderr);
}

/// Text goes to stdout, or to stderr where stdout is for something else. Failures of stdout are
/// kept for the end of the program, so that they cost no file.
class Console {
 public:
  explicit Console(bool json) : json_(json), stdout_taken_(json) {}
  /// One for a command that writes its file there.
  static Console without_stdout() {
    Console console(false);
    console.stdout_taken_ = true;
    return console;
  }

  template <class... A>
  void say(fmt::format_string<A...> format, A&&... arguments) const {
    std::fputs(fmt::format(format, std::forward<A>(arguments)...).c_str(),
               stdout_taken_ ? stderr : stdout);
  }
  /// To stderr in any case.
  template <class... A>
  void note(fmt::format_string<A...> format, A&&... arguments) const {
    complain(format, std::forward<A>(arguments)...);
  }
  /// The result of the command, written if it is asked for.
  void document(const Json& json) const;

 private:
  bool json_;
  bool stdout_taken_;
};

/// One line on stderr that says how far long work has come and vanishes with this object. Nothing
/// at all where stderr is no terminal.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(std::string_view text);
  /// A bar for a share in [0, 1] of the work `what`.
  void show(std::string_view what, double done);

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// "12.3 MB"
std::string bytes_text(double bytes);

}  // namespace tansolve::app
