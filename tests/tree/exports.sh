#!/bin/bash
# SPDX-License-Identifier: MIT
# The library exports what anydml.h declares: all of it, and nothing else but the table for the libraries beside it.
# usage: exports.sh LIBRARY HEADER
set -euo pipefail
exported=$(nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | grep -v '^anydml_private_core$' | sort)
declared=$(grep -o 'anydml_[a-z_]*(' "$2" | tr -d '(' | sort -u | while read -r name; do
  grep -qE "^ANYDML_API.*[ *]$name\(" "$2" && echo "$name"
done)
if [ "$exported" != "$declared" ]; then
  echo "exported, but not declared, or declared, but not exported:" >&2
  diff <(echo "$exported") <(echo "$declared") >&2
  exit 1
fi
echo "$exported"
# What it has for each thread is there from the thread's start, and little: loaded by dlopen, it must fit into what the
# dynamic linker keeps free for such libraries.
# (Where libstdc++ is linked statically, its own is among it.)
if readelf -d "$1" | grep -q 'NEEDED.*libstdc++' && readelf -rW "$1" | grep -E 'TLSDESC|DTPMOD'; then
  echo "its thread-local storage is allocated when it is first used" >&2 && exit 1
fi
bytes=$((16#$(readelf -lW "$1" | awk '$1 == "TLS" { sub(/^0x/, "", $6); print $6 }')))
[ "$bytes" -le 64 ] || { echo "$bytes bytes of thread-local storage; expected 64 at most" >&2 && exit 1; }
echo "$bytes bytes of thread-local storage"
# A static that a function makes at its first call is made under a lock of the compiler's: after a fork in that moment the
# child waits for it for ever. (Where libstdc++ is linked statically, its own are among them.)
if readelf -d "$1" | grep -q 'NEEDED.*libstdc++' && nm -D --undefined-only "$1" | grep __cxa_guard_acquire; then
  echo "a function has a static that is made at its first call" >&2 && exit 1
fi
