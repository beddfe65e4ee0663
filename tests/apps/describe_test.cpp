// SPDX-License-Identifier: BSD-3-Clause
// The man page and the completions know every option that --help lists.
#include "apps/program.hpp"

#include <regex>
#include <set>

namespace tansolve::test {
namespace {

const char* const commands[] = {"solve", "eigs", "encode", "decode", "info", "bench", "gen"};

/// Of a help text: words at the beginnings of lines that start with dashes.
std::set<std::string> options_in(const std::string& help) {
  static const std::regex option("\n  (-[a-z],)?(--[a-z0-9-]+)");
  std::set<std::string> found;
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
    found.insert((*at)[2]);
  return found;
}

/// `text` from behind `from` to `to`.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin + from.size(), text.find(to, begin + from.size()) - begin);
}

}  // namespace

TEST_CASE("the man page and the completions know every command and option") {
  const Shell shell;
  const std::string man = shell.tansolve("--describe man").out;
  const std::string bash = shell.tansolve("--describe bash").out;
  const std::string fish = shell.tansolve("--describe fish").out;
  const std::string zsh = shell.tansolve("--describe zsh").out;
  for (const std::string command : commands) {
    CAPTURE(command);
    const auto options = options_in(shell.tansolve(command + " --help").out);
    REQUIRE(options.count("--help") == 1);
    REQUIRE(options.size() > 2);
    const std::string section = between(man, ".SH \"tansolve " + command + "\"", "\n.SH");
    const std::string arguments = between(zsh, "    " + command + ") _arguments", ";;");
    const std::string words = between(bash, "'" + command + " '*) words='", "'");
    for (const std::string& option : options) {
      CAPTURE(option);
      CHECK(contains(section, std::regex_replace(option, std::regex("-"), "\\-") + "\\fR"));
      CHECK(contains(words, option + " "));
      CHECK(std::regex_search(arguments, std::regex("[{,']" + option + "(,[^}]*)?(\\}')?[\\[']")));
      CHECK(std::regex_search(
          fish, std::regex("from " + command + "'[^\n]* -l " + option.substr(2) + " ")));
    }
  }
  CHECK(contains(man, ".SH \"EXIT STATUS\""));
}

TEST_CASE("completion by bash offers commands, options and the values of an option") {
  const Shell shell;
  const auto completed = [&](const std::string& words, int at) {
    return shell
        .line("export P; bash -c '. <(\"$P\" --describe bash) && COMP_WORDS=(" + words +
              ") COMP_CWORD=" + std::to_string(at) + " && _tansolve && echo \"${COMPREPLY[@]}\"'")
        .out;
  };
  CHECK(completed("tansolve so", 1) == "solve\n");
  CHECK(completed("tansolve solve --solver min", 3) == "minres\n");
  CHECK(completed("tansolve eigs --nev", 2) == "--nev\n");
  shell.folder.write("matrix.mtx", "");
  CHECK(completed("tansolve solve mat", 2) == "matrix.mtx\n");
}

TEST_CASE("the program tells its version") {
  CHECK(std::regex_match(Shell().tansolve("--version").out,
                         std::regex("tansolve [0-9]+\\.[0-9]+\\.[0-9]+\n")));
}

}  // namespace tansolve::test
