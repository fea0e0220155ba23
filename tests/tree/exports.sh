#!/bin/bash
# SPDX-License-Identifier: MIT
# A library exports the symbols in its list in data/abi, with the same versions, and what its headers declare. A symbol
# that disappears breaks programs that were compiled earlier: docs/promises.md. libanydml also exports the table for its
# companion libraries, which no header declares.
# usage: exports.sh LIBRARY LIST [HEADER...]     compares; with ANYDML_UPDATE=1 it writes the list
set -euo pipefail
library=$1 list=$2
shift 2
exported=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
[ -n "$exported" ] || { echo "$library exports nothing" >&2 && exit 1; }
if [ "${ANYDML_UPDATE-}" = 1 ]; then
  { echo "# SPDX-License-Identifier: MIT" && echo "$exported"; } >"$list"
fi
listed=$(grep -v '^#' "$list")
gone=$(LC_ALL=C comm -13 <(echo "$exported") <(echo "$listed"))
new=$(LC_ALL=C comm -23 <(echo "$exported") <(echo "$listed"))
[ -z "$gone" ] || { echo "no longer exported, or with another version, which breaks programs:" $gone >&2 && exit 1; }
[ -z "$new" ] || { echo "not in $list: run this with ANYDML_UPDATE=1 if they are meant to stay:" $new >&2 && exit 1; }
if [ $# -gt 0 ]; then
  declared=$(grep -oh 'anydml_[a-z_]*(' "$@" | tr -d '(' | sort -u | while read -r name; do
    grep -qE "^ANYDML_API.*[ *]$name\(" "$@" && echo "$name"
  done)
  names=$(sed 's/@.*//' <<<"$exported" | grep -v '^anydml_private_core$' | sort)
  if [ "$names" != "$declared" ]; then
    echo "exported but not declared, or declared but not exported:" >&2
    diff <(echo "$names") <(echo "$declared") >&2
    exit 1
  fi
fi
echo "$exported"
# Thread-local storage is allocated when a thread starts, and small: with dlopen it must fit into the space that the
# dynamic linker reserves for such libraries. (If libstdc++ is linked statically, its own storage is included.)
if readelf -d "$library" | grep -q 'NEEDED.*libstdc++' && readelf -rW "$library" | grep -E 'TLSDESC|DTPMOD'; then
  echo "its thread-local storage is allocated when it is first used" >&2 && exit 1
fi
bytes=$((16#0$(readelf -lW "$library" | awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }')))
[ "$bytes" -le 64 ] || { echo "$bytes bytes of thread-local storage; expected 64 at most" >&2 && exit 1; }
echo "$bytes bytes of thread-local storage"
# A function-local static is initialized under a lock that the compiler adds: after a fork at that moment, the child would
# wait for it forever. (If libstdc++ is linked statically, its own statics are included.)
if [ $# -gt 0 ] && readelf -d "$library" | grep -q 'NEEDED.*libstdc++' && nm -D --undefined-only "$library" | grep __cxa_guard_acquire; then
  echo "a function has a static that is initialized at its first call" >&2 && exit 1
fi
