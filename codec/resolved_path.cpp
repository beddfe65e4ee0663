// SPDX-License-Identifier: BSD-3-Clause
// Following links by hand, one at a time.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/resolved_path.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>

namespace tansolve {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // as many as Linux follows

/// 17 for a folder of this process's descriptors and the name "17", else -1.
int descriptor_named(const fs::path& folder, const std::string& name) {
  std::error_code none;
  const fs::path descriptors = fs::canonical("/proc/self/fd", none);
  if (none || fs::canonical(folder, none) != descriptors) return -1;
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

}  // namespace

ResolvedPath resolve(const fs::path& path) {
  fs::path target = path;
  for (int links = 0; links < most_links; ++links) {
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const int descriptor = descriptor_named(folder, target.filename().string());
    if (descriptor >= 0) return {target, descriptor};
    std::error_code none;
    const fs::path next = fs::read_symlink(target, none);
    if (none) return {target};
    target = folder / next;
  }
  throw Error(ErrorCode::io, fmt::format("{}: {}", path.string(), std::strerror(ELOOP)));
}

}  // namespace tansolve
