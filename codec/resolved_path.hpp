// SPDX-License-Identifier: BSD-3-Clause
// Where a path leads.
#pragma once

#include <filesystem>

namespace tansolve {

/// A path whose last component is no symbolic link, or an open descriptor, as /dev/stdin,
/// /dev/fd/17 and /proc/self/fd/17 name one.
struct ResolvedPath {
  std::filesystem::path path;
  int descriptor = -1;  ///< -1: none is named
};

/// Follows symbolic links, also to where nothing exists yet. A descriptor must not be opened by its
/// name, which would start a file from its beginning and fail for a socket. Throws Error io for a
/// cycle of links.
ResolvedPath resolve(const std::filesystem::path& path);

}  // namespace tansolve
