// SPDX-License-Identifier: BSD-3-Clause
// The man page and the completions of shells, from the definition of the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tansolve::app {

/// What `--describe KIND` prints for the build to install; KIND: man, bash, fish or zsh, else none.
std::optional<std::string> description(const CLI::App& program, std::string_view kind);

}  // namespace tansolve::app
