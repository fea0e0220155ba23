#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks which plugins a program loads, and what it reports about plugins that it cannot load.
# usage: loading.sh PROGRAM CPU_PROGRAM PLUGIN PLUGIN_OF_ANOTHER_BUILD WORK
# PROGRAM lists the devices; CPU_PROGRAM only computes, on the default device.
set -euo pipefail
program=$1 cpu_program=$2 plugin=$3 other=$4 work=$5
rm -rf "$work" && mkdir -p "$work/good" "$work/bad" "$work/empty" "$work/other"
cp "$other" "$work/other/"
cp "$plugin" "$work/good/"
echo "no library" >"$work/bad/libanydml-text.so"
cp "$(ldd "$program" | awk '/libanydml\.so/ { print $3 }')" "$work/bad/libanydml-other.so" # a library, but not a plugin
cp "$plugin" "$work/bad/other-name.so"
mkfifo "$work/bad/libanydml-fifo.so" # opening it would block forever
mkdir "$work/bad/libanydml-folder.so"
ln -s nowhere "$work/bad/libanydml-link.so"
unset ANYDML_PLUGINS ANYDML_ADAPTER

# expect STATUS PATTERN SETTING...: the program exits with this status, and its standard error has a matching line.
expect() {
  local status=0 wanted=$1 pattern=$2 errors
  shift 2
  errors=$(env "$@" timeout 60 "$program" 2>&1 >"$work/out") || status=$?
  [ $status = "$wanted" ] || { echo "$*: exit $status" >&2 && echo "$errors" >&2 && exit 1; }
  grep -q -- "$pattern" <<<"$errors" || { printf '%s: expected a line like\n  %s\nbut got\n%s\n' "$*" "$pattern" "$errors" >&2 && exit 1; }
  grep -m 1 -- "$pattern" <<<"$errors"
}

expect 0 'device later:0: a device of the tests' ANYDML_LOG=info ANYDML_PLUGINS="$work/good" ANYDML_ADAPTER=later
expect 0 'device later:0: a device of the tests' ANYDML_LOG=info ANYDML_PLUGINS="$work/good" ANYDML_ADAPTER=LATER:0
# The CPU works without the plugins, and a line in the log says why each is missing.
expect 0 'libanydml-later.so: it was told to be absent' ANYDML_LOG=info ANYDML_PLUGINS="$work/good" ANYDML_LATER_ABSENT=1
expect 0 'libanydml-other.so: it has no function anydml_backend' ANYDML_LOG=info ANYDML_PLUGINS="$work/bad"
expect 0 'libanydml-text.so: .*text.so: .*' ANYDML_LOG=info ANYDML_PLUGINS="$work/bad"
expect 0 'libanydml-fifo.so: it is not a regular file' ANYDML_LOG=info ANYDML_PLUGINS="$work/bad"
expect 0 'libanydml-folder.so: it is not a regular file' ANYDML_LOG=info ANYDML_PLUGINS="$work/bad"
expect 0 'libanydml-link.so: No such file or directory' ANYDML_LOG=info ANYDML_PLUGINS="$work/bad"
expect 0 "libanydml-otherbuild.so: it was built from other sources of anydml ([0-9a-f]*); expected those of this library" \
  ANYDML_LOG=info ANYDML_PLUGINS="$work/other"
# If a device is requested by name, its absence is an error that says why.
expect 1 "ANYDML_ADAPTER is 'later'; expected .* cpu (.*); libanydml-later.so: it was told to be absent" \
  ANYDML_PLUGINS="$work/good" ANYDML_LATER_ABSENT=1 ANYDML_ADAPTER=later
expect 1 "ANYDML_ADAPTER is 'cuda'; .*; no plugin libanydml-\*.so is in $work/empty" ANYDML_PLUGINS="$work/empty" ANYDML_ADAPTER=cuda
expect 1 "ANYDML_ADAPTER is 'cuda'; .*; ANYDML_PLUGINS is 'none'" ANYDML_PLUGINS=none ANYDML_ADAPTER=cuda
expect 1 "ANYDML_PLUGINS is '$work/missing'; expected a folder that can be read: No such file or directory" ANYDML_PLUGINS="$work/missing"
expect 1 "ANYDML_PLUGINS is 'good'; expected the absolute path of a folder, or none" ANYDML_PLUGINS=good
expect 1 "ANYDML_PLUGINS is '$work/bad/libanydml-text.so'; expected a folder that can be read: Not a directory" \
  ANYDML_PLUGINS="$work/bad/libanydml-text.so"
# The default device loads no plugins, so a missing folder does not matter, but an invalid value does.
program=$cpu_program
expect 0 '' ANYDML_PLUGINS="$work/missing"
expect 1 "ANYDML_PLUGINS is '$work/missing'; expected a folder that can be read" ANYDML_PLUGINS="$work/missing" ANYDML_ADAPTER=later
expect 1 "ANYDML_PLUGINS is 'good'; expected the absolute path of a folder, or none" ANYDML_PLUGINS=good
