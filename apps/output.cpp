// SPDX-License-Identifier: BSD-3-Clause
// What can be said of an output before it is written.
#include "output.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/resolved_path.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tansolve::app {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::io, fmt::format("{}: cannot be written: {}", path, why));
}

/// Whether standard output was redirected to this very file or pipe. Of devices that does no harm.
bool is_where_stdout_goes(const std::filesystem::path& path) {
  struct stat file {
  }, out{};
  return ::stat(path.c_str(), &file) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 &&
         file.st_dev == out.st_dev && file.st_ino == out.st_ino && !S_ISCHR(file.st_mode);
}

/// A device or a pipe is written in place, a file also needs a new one beside it.
void require_writable(const std::string& name, const std::filesystem::path& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) refuse(name, "it is a folder");
  const auto folder = path.has_parent_path() ? path.parent_path() : ".";
  const auto status = std::filesystem::status(path, none);
  const bool exists = std::filesystem::exists(status);
  if (exists && ::access(path.c_str(), W_OK) != 0) refuse(name, std::strerror(errno));
  if (exists && !std::filesystem::is_regular_file(status)) return;
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(name, fmt::format("its folder: {}", std::strerror(errno)));
}

}  // namespace

CLI::Option* add_output_option(CLI::App& parser, std::string& output, const std::string& help,
                               const std::string& type_name, const std::string& names) {
  return parser.add_option(names, output, help + "; -: standard output")
      ->check([](const std::string& name) {
        return name.empty() ? "the name of the file is empty" : std::string();
      })
      ->type_name(type_name);
}

Output open_output(const std::string& output, bool json) {
  const std::string path = output == "-" ? "/dev/stdout" : output;
  if (path.empty()) return {path, Console(json)};
  const ResolvedPath destination = resolve(path);
  const bool to_stdout = destination.descriptor == STDOUT_FILENO;
  if (to_stdout && json)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("-o {}: standard output is for the document of --json; name a file, or "
                            "leave out --json",
                            output));
  if (!to_stdout && is_where_stdout_goes(destination.path))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("-o {}: standard output is redirected to the same file; redirect it "
                            "elsewhere, or say -o -",
                            output));
  if (destination.descriptor < 0) require_writable(output, destination.path);
  return {path, to_stdout ? Console::without_stdout() : Console(json)};
}

}  // namespace tansolve::app
