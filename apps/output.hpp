// SPDX-License-Identifier: BSD-3-Clause
// The file that -o names, which may be standard output.
#pragma once

#include "console.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace tansolve::app {

/// Adds -o, --output, or what `names` are; a name of no characters is refused.
CLI::Option* add_output_option(CLI::App& parser, std::string& output, const std::string& help,
                               const std::string& type_name,
                               const std::string& names = "-o,--output");

/// Where a command writes its file, and where that leaves its text.
struct Output {
  std::string path;  ///< for the writers; empty: there is no file
  Console console;
};

/// Checks `output` before long work rather than after it. Standard output (-, /dev/stdout) takes
/// the file alone: text for people then goes to stderr. Throws Error: io where the file cannot be
/// written, invalid_argument where something else goes to the same place.
Output open_output(const std::string& output, bool json);

}  // namespace tansolve::app
