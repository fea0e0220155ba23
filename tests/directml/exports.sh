#!/bin/bash
# SPDX-License-Identifier: MIT
# The libraries export exactly the entry points that DirectML programs look up.
# usage: exports.sh LIBDXCORE LIBD3D12 LIBDIRECTML
set -euo pipefail
check() {
  local exported
  exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort | tr '\n' ' ')
  echo "$(basename "$1"): $exported"
  [ "$exported" = "$2" ] || { echo "expected: $2" >&2 && exit 1; }
}
check "$1" "DXCoreCreateAdapterFactory "
check "$2" "D3D12CreateDevice D3D12CreateRootSignatureDeserializer D3D12CreateVersionedRootSignatureDeserializer \
D3D12EnableExperimentalFeatures D3D12GetDebugInterface D3D12GetInterface D3D12SerializeRootSignature \
D3D12SerializeVersionedRootSignature "
check "$3" "DMLCreateDevice DMLCreateDevice1 "
