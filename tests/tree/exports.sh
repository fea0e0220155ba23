#!/bin/bash
# SPDX-License-Identifier: MIT
# A library exports exactly what its header declares; libanydml also exports the table for its companion libraries.
# usage: exports.sh LIBRARY HEADER
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | grep -v '^anydml_private_core$' | sort)
declared=$(grep -o 'anydml_[a-z_]*(' "$2" | tr -d '(' | sort -u | while read -r name; do
  grep -qE "^ANYDML_API.*[ *]$name\(" "$2" && echo "$name"
done)
if [ "$exported" != "$declared" ]; then
  echo "exported but not declared, or declared but not exported:" >&2
  diff <(echo "$exported") <(echo "$declared") >&2
  exit 1
fi
echo "$exported"
# Thread-local storage is allocated when a thread starts, and small: with dlopen it must fit into the space that the
# dynamic linker reserves for such libraries. (If libstdc++ is linked statically, its own storage is included.)
if readelf -d "$1" | grep -q 'NEEDED.*libstdc++' && readelf -rW "$1" | grep -E 'TLSDESC|DTPMOD'; then
  echo "its thread-local storage is allocated when it is first used" >&2 && exit 1
fi
bytes=$((16#0$(readelf -lW "$1" | awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }')))
[ "$bytes" -le 64 ] || { echo "$bytes bytes of thread-local storage; expected 64 at most" >&2 && exit 1; }
echo "$bytes bytes of thread-local storage"
# A function-local static is initialized under a lock that the compiler adds: after a fork at that moment, the child would
# wait for it forever. (If libstdc++ is linked statically, its own statics are included.)
if readelf -d "$1" | grep -q 'NEEDED.*libstdc++' && nm -D --undefined-only "$1" | grep __cxa_guard_acquire; then
  echo "a function has a static that is initialized at its first call" >&2 && exit 1
fi
