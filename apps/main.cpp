// SPDX-License-Identifier: BSD-3-Clause
// The tansolve program: chooses the subcommand and turns every error into a message and a code.
#include "commands.hpp"
#include "console.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>
#include <system_error>

namespace tansolve::app {
namespace {

ExitCode fail(ExitCode code, const char* message) {
  complain("tansolve: {}\n", message);
  return code;
}

ExitCode run(int argc, char** argv) {
  CLI::App program("Solves sparse linear systems on entropy-compressed matrices.", "tansolve");
  program.require_subcommand(1);
  program.footer(
      "Exit codes: 0 converged or done, 1 ran but did not converge, 2 usage, 3 a file,\n"
      "4 device or memory, 5 internal error.");
  const Command commands[] = {add_solve(program), add_encode(program), add_decode(program),
                              add_info(program),  add_bench(program),  add_gen(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    program.exit(help);
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    complain("tansolve: {}\nTry 'tansolve --help' or 'tansolve COMMAND --help'.\n", error.what());
    return ExitCode::usage;
  }
  for (const Command& command : commands)
    if (command.parser->parsed()) return command.run();
  return ExitCode::internal;
}

}  // namespace
}  // namespace tansolve::app

int main(int argc, char** argv) {
  using namespace tansolve;
  using app::ExitCode;
  ExitCode code = ExitCode::internal;
  try {
    code = app::run(argc, argv);
  } catch (const Error& error) {
    code = app::fail(app::exit_code(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    code = app::fail(ExitCode::resources, "the host has too little memory");
  } catch (const std::system_error& error) {
    code = app::fail(ExitCode::file, error.what());
  } catch (const std::exception& error) {
    code = app::fail(ExitCode::internal, error.what());
  }
  if (std::fflush(stdout) != 0)
    code = app::fail(ExitCode::file, "standard output could not be written");
  return static_cast<int>(code);
}
