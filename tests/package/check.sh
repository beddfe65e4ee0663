#!/usr/bin/env bash
# check.sh BUILD SOURCE COMPILER CUDA [FLAGS]: uses a build as outsiders do, in its folder, installed and
# moved away, and nested in a project of theirs. CUDA: whether it has the backend, ON or OFF. FLAGS: what
# sanitizers need besides.
set -euo pipefail
build=$1 source=$2 compiler=$3 cuda=$4 flags=${5:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
# quietly COMMAND...: what it prints is only shown where it fails.
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
configure() {
  cmake -G Ninja -S "$source/tests/package" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_FLAGS="$flags" -DCMAKE_BUILD_TYPE=None "$@"
}
# What the consumer says: a solve on the host, and without a GPU in a build with CUDA, why not there.
check() {
  "$@" >"$work/said" || { cat "$work/said"; fail "the consumer failed: $*"; }
  grep -q '^host: converged' "$work/said"
  [ "$cuda" = OFF ] || grep -Eq '^GPU: converged|^CUDA device 0: ' "$work/said"
}

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"
prefix=$work/moved

echo "find_package: installed, and in the build folder"
for found in installed:CMAKE_PREFIX_PATH="$prefix" build-tree:tansolve_DIR="$build"; do
  folder=$work/${found%%:*}
  quietly configure -B "$folder" "-D${found#*:}"
  quietly cmake --build "$folder"
  check "$folder/consumer"
done
configure -B "$work/later" -DCMAKE_PREFIX_PATH="$prefix" -DTANSOLVE_WANTED=99.0 >"$work/log" 2>&1 &&
  fail "a later version is taken for granted"
grep -q 'compatible with requested version "99.0"' <(tr -s ' \n' ' ' <"$work/log")

echo "pkg-config"
libraries=$(dirname "$(find "$prefix" -name 'libtansolve_codec.*' | head -1)")
export PKG_CONFIG_PATH=$libraries/pkgconfig
said=$(pkg-config --cflags --libs tansolve)
if [ "$cuda" = OFF ] && grep -Eqi 'cuda|cublas|cusparse' "$PKG_CONFIG_PATH/tansolve.pc"; then
  fail "tansolve.pc names CUDA, which this build lacks"
fi
# shellcheck disable=SC2086
"$compiler" -std=c++20 $flags "$source/tests/package/consumer.cpp" -o "$work/by_pkg_config" $said
LD_LIBRARY_PATH=$libraries check "$work/by_pkg_config"
if [ -e "$libraries/libtansolve_codec.so" ]; then
  echo "shared libraries: of one interface, looked for beside each other, with what they need"
  for part in codec kernels preconditioners solvers; do
    readelf -d "$libraries/libtansolve_$part.so" >"$work/dynamic"
    grep -Eq "soname: \[libtansolve_$part\.so\.[0-9]+\.[0-9]+\]" "$work/dynamic"
    grep -Fq 'path: [$ORIGIN]' "$work/dynamic"
  done
  for library in fmt hwy gomp cusparse; do
    case $said in *$library*) fail "pkg-config makes users of shared libraries link $library" ;; esac
  done
fi

echo "nested: add_subdirectory and FetchContent"
for by in add_subdirectory FetchContent; do
  with=OFF
  if [ $by = FetchContent ]; then with=$cuda; fi
  quietly configure -B "$work/$by" -DTANSOLVE_SOURCE="$source" -DNESTED_BY=$by -DTANSOLVE_CUDA=$with \
    -DCMAKE_CUDA_ARCHITECTURES=90-real
  # The library was compiled before: here, that the consumer finds its headers, and what is linked.
  quietly ninja -C "$work/$by" CMakeFiles/consumer.dir/consumer.cpp.o
  ninja -C "$work/$by" -t commands consumer >"$work/log"
  grep -q -- '-o consumer ' "$work/log"
done

echo "the program, its man page and completions"
readelf -d "$prefix/bin/tansolve" | grep -F 'path: [$ORIGIN/..' >/dev/null ||
  fail "the program does not look for shared libraries beside itself"
quietly "$prefix/bin/tansolve" solve gen:poisson5:9 --device cpu
for file in man/man1/tansolve.1 bash-completion/completions/tansolve \
            fish/vendor_completions.d/tansolve.fish zsh/site-functions/_tansolve; do
  test -s "$prefix/share/$file" || fail "$file is missing"
done
