// SPDX-License-Identifier: BSD-3-Clause
// Runs the built program as a shell would.
#pragma once

#include "support/files.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <string>

namespace tansolve::test {

using Json = nlohmann::json;

struct Outcome {
  int code = -1;  ///< -1: ended by a signal
  std::string out;
  std::string err;

  /// The one document on stdout.
  Json json() const {
    REQUIRE_MESSAGE(Json::accept(out), "not JSON: " << out << err);
    return Json::parse(out);
  }
};

/// A folder in which the program runs.
class Shell {
 public:
  /// Runs a line in which $P is the program.
  Outcome line(const std::string& command) const {
    const std::string prelude = "cd '" + folder.path().string() + "' && P='" TANSOLVE_PROGRAM "'; ";
    const std::string redirected = "{ " + command + "; } >'" + (folder / ".out").string() +
                                   "' 2>'" + (folder / ".err").string() + "' </dev/null";
    const int status = std::system((prelude + redirected).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(folder / ".out"),
            read_bytes(folder / ".err")};
  }
  Outcome tansolve(const std::string& arguments) const { return line("\"$P\" " + arguments); }

  TemporaryFolder folder;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tansolve::test
