# SPDX-License-Identifier: MIT
# Sourced by ./run and ./test: finds out what is missing and installs it where that is possible.

# The first Python that has the module, or nothing. Debian's own comes second: another may stand before it on PATH.
python_with() {
  local candidate test="import $1"
  if [ "$1" = _python_headers_ ]; then
    test="import os, sysconfig, ensurepip; os.stat(os.path.join(sysconfig.get_path('include'), 'Python.h'))"
  fi
  for candidate in python3 /usr/bin/python3; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c "$test" >/dev/null 2>&1; then
      echo "$candidate"
      return
    fi
  done
}

is_present() {
  case $1 in
    command:*) command -v "${1#command:}" >/dev/null 2>&1 ;;
    header:*) command -v g++ >/dev/null 2>&1 && echo "#include <${1#header:}>" | g++ -E -x c++ - >/dev/null 2>&1 ;;
    python:*) [ -n "$(python_with "${1#python:}")" ] ;;
  esac
}

# missing_packages run|test: the packages that are not there, one a line
missing_packages() {
  local purpose package probe
  while read -r purpose package probe; do
    case $purpose in
      run) ;;
      test) [ "$1" = test ] || continue ;;
      *) continue ;;
    esac
    is_present "$probe" || echo "$package"
  done <packages.txt
}

# ensure_packages run|test install|no-install
ensure_packages() {
  local missing root log
  missing=$(missing_packages "$1" | tr '\n' ' ')
  missing=${missing% }
  [ -n "$missing" ] || return 0
  if [ "$2" = no-install ]; then
    echo "missing: $missing (not installed, as --no-install asks)" >&2
    exit 1
  fi
  if ! grep -qx 'ID=debian' /etc/os-release 2>/dev/null || ! command -v apt-get >/dev/null 2>&1; then
    echo "missing: $missing" >&2
    echo "These are Debian's names of the packages; please install what your system calls them, then try again." >&2
    exit 1
  fi
  if [ "$(id -u)" = 0 ]; then
    root=
  elif command -v sudo >/dev/null 2>&1; then
    root=sudo
  else
    echo "missing: $missing; please install them as root: apt-get install $missing" >&2
    exit 1
  fi
  echo "installing: $missing"
  log=$(mktemp)
  # shellcheck disable=SC2086
  if ! { $root apt-get update -qq &&
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
    >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    rm -f "$log"
    echo "the packages above could not be installed" >&2
    exit 1
  fi
  rm -f "$log"
  missing=$(missing_packages "$1" | tr '\n' ' ')
  if [ -n "$missing" ]; then
    echo "still missing after the installation: $missing" >&2
    exit 1
  fi
}

# build PRESET [cmake options]: configures and builds, quietly unless something is wrong
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  if ! { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
}
