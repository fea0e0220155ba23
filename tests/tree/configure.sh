#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that configuring a build names the package of each missing dependency, and that every third-party library on a
# link line was found, except for the compilers' own.
# usage: configure.sh SOURCE BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work/CMakeFiles"
cp -r "$build"/CMakeFiles/[0-9]* "$work/CMakeFiles"  # the results of compiler detection, to save time

# hidden OPTIONS PACKAGE: configuring without the dependencies that the options hide fails and names the package
hidden() {
  local said
  # With a sanitizer, CMake does not look for a GPU compiler, which would take longer than everything else.
  # shellcheck disable=SC2086
  if said=$(cmake -G Ninja -S "$source" -B "$work" -DANYDML_SANITIZE=thread -DCMAKE_HAVE_LIBC_PTHREAD=1 $1 2>&1); then
    echo "$1: configuring succeeded; expected it to report that $2 is missing" >&2 && exit 1
  fi
  said=$(tr -s '[:space:]' ' ' <<<"$said")
  grep -qF "is missing (Debian: $2)" <<<"$said" || { echo "$1: expected $2, got: $said" >&2 && exit 1; }
  grep -qE "^(run|test) +$2 " "$source/packages.txt" || { echo "$2 is not in packages.txt" >&2 && exit 1; }
  rm -f "$work/CMakeCache.txt"
}
needs=0
while read -r options package; do
  hidden "$options" "$package"
  needs=$((needs + 1))
done <<'ROWS'
-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON libfmt-dev
-DHIGHWAY_INCLUDE_DIR=OFF libhwy-dev
-DPROTOZERO_INCLUDE_DIR=OFF libprotozero-dev
-DDIRECTX_INCLUDE_DIR=OFF directx-headers-dev
-DDIRECTX_DXCORE_INCLUDE_DIR=OFF directx-headers-dev
-DDIRECTX_WSL_INCLUDE_DIR=OFF directx-headers-dev
-DDIRECTX_GUIDS_INCLUDE_DIR=OFF directx-headers-dev
-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON libcli11-dev
-DRAPIDJSON_INCLUDE_DIR=OFF rapidjson-dev
-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON libgtest-dev
-DMPFR_INCLUDE_DIR=OFF libmpfr-dev
-DMPFR_LIBRARY=OFF libmpfr-dev
-DGMP_LIBRARY=OFF libmpfr-dev
-DANYDML_PYTHON=OFF python3
ROWS
echo "configure: names the package of each of $needs missing dependencies"

# Libraries of this build have a path inside it, and libraries that were found have an absolute one. A library with
# neither was never looked for.
[ -f "$build/build.ninja" ] || exit 0
linked=$(sed -n 's/^  LINK_LIBRARIES = //p' "$build/build.ninja" | tr ' ' '\n' | sort -u)
grep -q 'libanydml' <<<"$linked" || { echo "no link lines were found in $build/build.ninja" >&2 && exit 1; }
stray=$(grep -E '^-l' <<<"$linked" | grep -vxE -- '-l(dl|pthread|m|rt|c|cudart_static|cudadevrt)' || true)
[ -z "$stray" ] || { echo "linked without being looked for:" $stray >&2 && exit 1; }
# Our programs do without DirectX-Guids, so that they link on systems that lack it.
if grep -q 'DirectX-Guids' <(sed -n 's/^  LINK_LIBRARIES = //p' "$build/build.ninja"); then
  echo "a program here needs libDirectX-Guids" >&2 && exit 1
fi
echo "configure: every library on a link line was found"
