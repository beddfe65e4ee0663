// SPDX-License-Identifier: BSD-3-Clause
// The subcommands, one source file each.
#pragma once

#include "exit_code.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace tansolve::app {

/// A subcommand: its options, and what runs once they are parsed. Errors are thrown.
struct Command {
  CLI::App* parser;
  std::function<ExitCode()> run;
};

Command add_solve(CLI::App& program);
Command add_eigs(CLI::App& program);
Command add_encode(CLI::App& program);
Command add_decode(CLI::App& program);
Command add_info(CLI::App& program);
Command add_bench(CLI::App& program);
Command add_gen(CLI::App& program);

}  // namespace tansolve::app
