# Sourced by apps/demo.sh and tests/run.sh: installs the packages that the build needs and lacks,
# and those that are named.

install_packages() {
  local packages=(g++ cmake ninja-build pkg-config libeigen3-dev doctest-dev libcli11-dev
                  nlohmann-json3-dev libfmt-dev zlib1g-dev libhwy-dev "$@")
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "Not root, and no sudo: install these packages first: ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo)
  fi
  echo "Installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
