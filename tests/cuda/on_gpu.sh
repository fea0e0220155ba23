#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a test program on the first NVIDIA GPU. Exits with 77, "skipped", if there is none.
# usage: on_gpu.sh PLUGIN EXAMPLE TEST [argument ...]
set -euo pipefail
export ANYDML_PLUGINS ANYDML_ADAPTER=cuda
ANYDML_PLUGINS=$(dirname "$1")
if ! why=$("$2" 2>&1 >/dev/null) && grep -qE "no NVIDIA GPU was found|the NVIDIA driver was not found|the NVIDIA driver is for" <<<"$why"; then
  echo "skipped: $(grep -oE "libanydml-cuda.so: .*" <<<"$why")"
  exit 77
fi
shift 2
exec "$@"
