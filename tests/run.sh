#!/usr/bin/env bash
# Installs what is missing (Debian 12 or later), builds everything with warnings as
# errors, and runs all tests: as released, then under the address and undefined-behaviour sanitizers.
# Tests of real matrices take their folder from TANSOLVE_MATRICES, and say what they skip without.
set -euo pipefail
cd "$(dirname "$0")/.."
source apps/packages.sh

install_packages doxygen libspectra-dev python3 python3-scipy
for preset in ci sanitize; do
  echo "== $preset"
  cmake --preset "$preset" >/dev/null
  targets=(all)
  if [ "$preset" = ci ]; then targets+=(all_verify_interface_header_sets); fi
  cmake --build --preset "$preset" --target "${targets[@]}"
  ctest --test-dir "build/$preset" --output-on-failure --parallel 2
done
