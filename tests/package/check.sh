#!/usr/bin/env bash
# check.sh BUILD SOURCE COMPILER: installs the build, moves it away, and uses it as outsiders do.
set -euo pipefail
build=$1 source=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
configure() { cmake -G Ninja -S "$source/tests/package" -DCMAKE_CXX_COMPILER="$compiler" "$@" 2>&1; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved

echo "find_package"
configure -B "$work/installed" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/installed" >"$work/log" || { cat "$work/log"; exit 1; }
"$work/installed/consumer"
if configure -B "$work/later" -DCMAKE_PREFIX_PATH="$prefix" -DTANSOLVE_WANTED=99.0 >"$work/log"; then
  echo "a later version is taken for granted"
  exit 1
fi
grep -q 'compatible with requested version "99.0"' <(tr -s ' \n' ' ' <"$work/log")

echo "pkg-config"
pc=$(dirname "$(find "$prefix" -name tansolve.pc)")
if ! grep -q '^TANSOLVE_CUDA:STRING=OFF' "$build/CMakeCache.txt"; then :
elif grep -Eqi 'cuda|cublas|cusparse' "$pc/tansolve.pc"; then
  echo "tansolve.pc names CUDA, which this build lacks"
  exit 1
fi
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source/apps/examples/own_operator.cpp" -o "$work/by_pkg_config" \
  $(PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs tansolve)
LD_LIBRARY_PATH="$pc/.." "$work/by_pkg_config"

echo "add_subdirectory"
configure -B "$work/nested" -DTANSOLVE_SOURCE="$source" -DTANSOLVE_CUDA=OFF >"$work/log" ||
  { cat "$work/log"; exit 1; }
ninja -C "$work/nested" -t commands consumer | grep -- '-o consumer ' >/dev/null

echo "the program, its man page and completions"
readelf -d "$prefix/bin/tansolve" | grep 'path: \[$ORIGIN/\.\.' >/dev/null ||
  { echo "the program does not look for shared libraries beside itself"; exit 1; }
"$prefix/bin/tansolve" solve gen:poisson5:9 --device cpu >/dev/null 2>&1
for file in man/man1/tansolve.1 bash-completion/completions/tansolve \
            fish/vendor_completions.d/tansolve.fish; do
  test -s "$prefix/share/$file" || { echo "$file is missing"; exit 1; }
done
