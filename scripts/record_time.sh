#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs a compiler and appends its processor time (user and system seconds) and the name of its output to
# compile_times.txt in the build folder, where scripts/build_times.py reads them. ./run and ./test start the compilers
# through this script if ccache is not installed.
# usage: record_time.sh COMPILER ARGUMENT...
output=
previous=
for argument; do
  [ "$previous" != -o ] || output=$argument
  previous=$argument
done
TIMEFORMAT="%U %S $output"
exec 3>&2 4>>compile_times.txt
{ time "$@" 2>&3 3>&- 4>&-; } 2>&4
