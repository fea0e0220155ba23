#!/bin/bash
# SPDX-License-Identifier: MIT
# An invalid setting stops a DirectML program, with a line on standard error that names the setting and the expected
# values, even if no log was requested.
# usage: settings.sh PROGRAM
set -euo pipefail
check() {
  local errors status=0
  errors=$(env -u ANYDML_LOG "$1" "$program" 2>&1 >/dev/null) || status=$?
  [ $status = 1 ] || { echo "$1: exit status $status; expected 1: $errors" >&2 && exit 1; }
  grep -q "anydml: .*${1%%=*} is '${1#*=}'; expected" <<<"$errors" || { echo "$1: said only: $errors" >&2 && exit 1; }
  grep -m 1 "is '" <<<"$errors"
}
program=$1
for setting in ANYDML_LOG=debug ANYDML_THREADS=two ANYDML_GRAPHICS=yes ANYDML_ADAPTER=abacus ANYDML_CPU_TARGET=abacus \
  ANYDML_FEATURE_LEVEL=9_9 ANYDML_ALLOW_HALF_PRECISION=yes ANYDML_DEBUG=yes; do
  check "$setting"
done
