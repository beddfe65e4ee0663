// SPDX-License-Identifier: BSD-3-Clause
// The tansolve program: chooses the subcommand and turns every error into a message and a code.
#include "commands.hpp"
#include "console.hpp"
#include "describe.hpp"
#include "interrupt.hpp"
#include "threads.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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

/// The number of letters to put in, take out or change between two words (Levenshtein).
std::size_t letters_apart(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

/// Where a command was given arguments that none of its options takes.
std::string which_options(const CLI::App& parser) {
  const auto left = parser.remaining();
  const auto looks_like_one = [](const std::string& word) { return word.starts_with("--"); };
  const auto wrong = std::ranges::find_if(left, looks_like_one);
  if (wrong == left.end()) return fmt::format("'{}' is one argument too many", left.front());
  const std::string word = wrong->substr(0, wrong->find('='));
  std::string nearest;
  std::size_t least = word.size() / 3;  // farther than that it is another word
  for (const CLI::Option* option : parser.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = letters_apart(word, "--" + name); d < least)
        least = d, nearest = ", but --" + name + " is";
  return fmt::format("'{}' is no option of {}{}", word, parser.get_name(), nearest);
}

std::string what_is_wrong(const CLI::App& program, const CLI::ParseError& error) {
  const auto commands = program.get_subcommands();
  if (commands.empty()) return which_commands(program);
  return dynamic_cast<const CLI::ExtrasError*>(&error) ? which_options(*commands.front())
                                                       : error.what();
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
             what_is_wrong(program, error));
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
