// SPDX-License-Identifier: BSD-3-Clause
// The tansolve program: chooses the subcommand and turns every error into a message and a code.
#include "commands.hpp"
#include "console.hpp"
#include "describe.hpp"
#include "interrupt.hpp"
#include "threads.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tansolve::app {
namespace {

ExitCode fail(ExitCode code, const char* message) {
  std::fflush(stdout);  // what was said before comes before
  complain("tansolve: {}\n", message);
  return code;
}

/// Where no command was given, or none that there is.
std::string which_commands(const CLI::App& program) {
  std::string known;
  for (const CLI::App* parser : program.get_subcommands([](const CLI::App*) { return true; }))
    known += (known.empty() ? "" : ", ") + parser->get_name();
  const auto given = program.remaining();
  return given.empty() ? fmt::format("a command is missing; there are {}", known)
                       : fmt::format("'{}' is no command; there are {}", given.front(), known);
}

ExitCode run(int argc, char** argv) {
  CLI::App program("Solves sparse linear systems and eigenproblems on entropy-compressed matrices.",
                   "tansolve");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("tansolve " TANSOLVE_VERSION));
  program.footer(
      "Exit codes: 0 converged or done, 1 ran but did not converge, 2 usage, 3 a file,\n"
      "4 device or memory, 5 internal error.");
  const Command commands[] = {add_solve(program),  add_eigs(program), add_encode(program),
                              add_decode(program), add_info(program), add_bench(program),
                              add_gen(program)};
  if (argc == 3 && std::string_view(argv[1]) == "--describe")  // for the build, not for people
    if (const std::optional<std::string> text = description(program, argv[2])) {
      std::fputs(text->c_str(), stdout);
      return ExitCode::done;
    }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& help) {
    program.exit(help);
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    complain("tansolve: {}\nTry 'tansolve --help' or 'tansolve COMMAND --help'.\n",
             program.get_subcommands().empty() ? which_commands(program) : error.what());
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
  app::handle_signals();
  app::prepare_threads();
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
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    code = app::fail(ExitCode::file, "standard output could not be written");
  app::finish_threads();
  return static_cast<int>(code);
}
