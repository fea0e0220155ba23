#!/bin/bash
# SPDX-License-Identifier: MIT
# Each library reports that it found a libanydml from a different build, regardless of ANYDML_LOG.
# usage: other_build.sh PROGRAM
set -euo pipefail
errors=$(env -u ANYDML_LOG "$1" 2>&1 >/dev/null) || { echo "$errors" >&2 && exit 1; }
for library in libdxcore.so libd3d12.so libdirectml.so; do
  grep -m 1 "^anydml: $library: the libanydml.so that was loaded comes from another build" <<<"$errors"
done
