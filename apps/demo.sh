#!/usr/bin/env bash
# Installs what is missing (Debian 12 or later), builds the program, and solves an
# elasticity-like system on a compressed matrix; then, when one is given, the system of a matrix file.
#
#     apps/demo.sh [MATRIX.mtx]
set -euo pipefail
file=${1:+$(realpath "$1")}
cd "$(dirname "$0")/.."
source apps/packages.sh

install_packages
echo "Building the program in build/demo, which takes some minutes ..."
# With a GPU for that alone; without one, without CUDA, which takes minutes to compile.
cuda=(-DTANSOLVE_CUDA=OFF)
if nvidia-smi >/dev/null 2>&1; then
  cuda=(-DTANSOLVE_CUDA=AUTO -DCMAKE_CUDA_ARCHITECTURES=native)
fi
cmake -S . -B build/demo -G Ninja -DCMAKE_BUILD_TYPE=Release -DTANSOLVE_TESTS=OFF "${cuda[@]}" >/dev/null
cmake --build build/demo --target tansolve_program

solve() {
  echo
  echo "\$ tansolve solve $*"
  # 1: ran, but did not converge, which the report explains.
  build/demo/apps/tansolve solve "$@" || [ $? -eq 1 ]
}
solve gen:fem3:24 --rhs random --precond jacobi
if [ -n "$file" ]; then
  solve "$file" --precond auto
fi
