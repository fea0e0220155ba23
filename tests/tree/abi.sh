#!/bin/bash
# SPDX-License-Identifier: MIT
# The C API's functions and structs have the same binary interface as the one recorded in data/abi, by abidiff (Debian:
# abigail-tools). It reads debug information, which releases do not have. So this compiles the headers' declarations as
# functions without a meaning; the exports test ensures that the real libraries export the same functions.
# These libraries cannot run, so their files have other names than the real ones.
# The headers' constants are compared without abidiff, which does not see them.
# usage: abi.sh SOURCE WORK     compares; with ANYDML_UPDATE=1 it writes data/abi/*.abi and data/abi/constants.txt
set -euo pipefail
source=$1 work=$2
constants=$(sed -nE 's/^ +(ANYDML_\w+ = [^,\/ ]+( << [0-9]+)?).*/\1/p; /VERSION/d; s/^#define (ANYDML_\w+) ([0-9(-]+[0-9a-fxu)]*)$/\1 = \2/p' \
  "$source"/include/anydml/{anydml,onnx,generate}.h | LC_ALL=C sort)
if [ "${ANYDML_UPDATE-}" = 1 ]; then
  { echo "# SPDX-License-Identifier: MIT" && echo "$constants"; } >"$source/data/abi/constants.txt"
fi
diff <(grep -v '^#' "$source/data/abi/constants.txt") <(echo "$constants") ||
  { echo "the headers' constants differ from data/abi/constants.txt: their values must not change, and new ones are recorded with ANYDML_UPDATE=1" >&2 && exit 1; }
echo "$(wc -l <<<"$constants") constants as recorded"
command -v abidiff >/dev/null || { echo "abidiff is not installed (Debian: abigail-tools)" && exit 77; }
mkdir -p "$work"
# interface NAME MAP HEADER...: compiles a library with the functions that the headers declare, and compares it
interface() {
  local name=$1 map=$2 header status=0 expected
  shift 2
  for header in "$@"; do echo "#include <anydml/$header>"; done >"$work/$name.c"
  for header in "$@"; do
    # From ANYDML_API to the semicolon, without comments
    sed 's:/\*[^*]*\*/::g' "$source/include/anydml/$header" |
      awk '/^ANYDML_API/ { inside = 1 } inside { print } /;/ { inside = 0 }' | sed 's/;.*/ { __builtin_trap(); }/'
  done >>"$work/$name.c"
  expected=$(cat "${@/#/$source/include/anydml/}" | grep -c '^ANYDML_API')
  [ "$(grep -c __builtin_trap "$work/$name.c")" = "$expected" ] || { echo "expected $expected functions in $work/$name.c" >&2 && exit 1; }
  cc -std=c11 -g -O0 -Wno-unused-parameter -shared -fPIC -fvisibility=hidden -I "$source/include" \
    -Wl,--version-script="$map" -Wl,-soname,"$name" "$work/$name.c" -o "$work/$name-declared.so"
  if [ "${ANYDML_UPDATE-}" = 1 ]; then
    abidw --no-corpus-path --no-comp-dir-path --short-locs --no-show-locs "$work/$name-declared.so" --out-file "$source/data/abi/$name.abi"
  fi
  # New functions are allowed; everything else that abidiff finds must be looked at.
  abidiff --no-added-syms --no-architecture --no-show-locs "$source/data/abi/$name.abi" "$work/$name-declared.so" || status=$?
  [ $status = 0 ] || { echo "$name: the binary interface differs from data/abi/$name.abi. docs/promises.md says which changes are allowed;" \
    "after one of those, ANYDML_UPDATE=1 $0 SOURCE WORK records it" >&2 && exit 1; }
  echo "$name: $expected functions and their types as recorded"
}
interface libanydml "$source/src/capi/anydml.map" anydml.h
interface libanydml_onnx "$source/src/onnx/api/onnx.map" onnx.h generate.h
