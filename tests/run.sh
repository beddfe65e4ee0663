#!/usr/bin/env bash
# Installs what is missing (Debian 12 or later), builds everything with warnings as
# errors, and runs all tests: as released, then under the address and undefined-behaviour sanitizers.
# Tests of real matrices take their folder from TANSOLVE_MATRICES, and say what they skip without.
set -euo pipefail
cd "$(dirname "$0")/.."
source apps/packages.sh

install_packages libspectra-dev
for preset in ci sanitize; do
  echo "== $preset"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset"
  if [ "$preset" = ci ]; then
    cmake --build --preset ci --target all_verify_interface_header_sets
  fi
  ctest --test-dir "build/$preset" --output-on-failure --parallel 2
done
