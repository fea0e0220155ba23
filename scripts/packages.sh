# SPDX-License-Identifier: MIT
# Sourced by ./run and ./test: finds missing packages and installs them if possible.

# Prints the first Python that has the module, or nothing. Debian's own Python is tried second, because a different
# Python may precede it on PATH.
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

# missing_packages run|test: the missing packages, one per line
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

# Warns on systems on which anydml was not tested.
name_other_system() {
  (
    . /etc/os-release 2>/dev/null || true
    [ "${ID-} ${VERSION_ID-}" = "debian 12" ] ||
      echo "This is ${PRETTY_NAME:-an unknown system}. anydml is tested on Debian 12 only; continuing." >&2
  )
}

# ensure_packages run|test install|no-install
ensure_packages() {
  local missing root log
  name_other_system
  missing=$(missing_packages "$1" | tr '\n' ' ')
  missing=${missing% }
  [ -n "$missing" ] || return 0
  if [ "$2" = no-install ]; then
    echo "missing: $missing (not installed because of --no-install)" >&2
    exit 1
  fi
  if ! grep -qxE 'ID=debian|ID_LIKE="?([a-z ]* )?debian( [a-z ]*)?"?' /etc/os-release 2>/dev/null ||
    ! command -v apt-get >/dev/null 2>&1; then
    echo "missing: $missing" >&2
    echo "These are Debian's package names; please install your system's equivalents, then try again." >&2
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
    echo "these packages could not be installed: $missing (the names are Debian 12's)" >&2
    exit 1
  fi
  rm -f "$log"
  missing=$(missing_packages "$1" | tr '\n' ' ')
  if [ -n "$missing" ]; then
    echo "still missing after the installation: $missing" >&2
    exit 1
  fi
}

# show_progress LOG: shows a build's progress while the caller is running: on a terminal in a single line, otherwise
# with one line per minute.
show_progress() {
  local seconds=0 done line=$'\n'
  [ ! -t 2 ] || line=$'\r'
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    [ -t 2 ] || [ $((seconds % 60)) = 0 ] || continue
    done=$(tail -c 4096 "$1" 2>/dev/null | grep -o '^\[[0-9]*/[0-9]*\]' | tail -n 1 | tr -d '[]' || true)
    printf "   %s files, %d:%02d minutes  $line" "${done:-configuring: 0}" $((seconds / 60)) $((seconds % 60)) >&2
  done
}

# build PRESET [cmake options]: configures and builds; on failure, shows the compiler's output. If ccache is installed, it
# keeps what was compiled, also for other clones. Precompiled headers are not used then, because each build's are different.
# Without ccache, the processor time of each file is recorded, for scripts/build_times.py.
build() {
  local preset=$1 log=build/$1.log progress failed= launcher
  shift
  mkdir -p build
  if [ ! -e "build/$preset/CMakeCache.txt" ]; then
    launcher=$PWD/scripts/record_time.sh
    if command -v ccache >/dev/null; then
      launcher=ccache
      set -- "$@" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    fi
    set -- "$@" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"
  fi
  export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-yes}
  show_progress "$log" &
  progress=$!
  { cmake --preset "$preset" "$@" && cmake --build --preset "$preset"; } >"$log" 2>&1 || failed=yes
  kill $progress 2>/dev/null || true
  wait $progress 2>/dev/null || true
  [ ! -t 2 ] || printf '\r%60s\r' '' >&2
  if [ -n "$failed" ]; then
    cat "$log" >&2
    exit 1
  fi
}
