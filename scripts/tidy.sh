#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs clang-tidy with the configuration in .clang-tidy and fails if it finds something.
# usage: scripts/tidy.sh [--all | FILE...]     without arguments: the layers that everything else includes
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null && command -v clang++ >/dev/null ||
  { echo "clang-tidy or clang is not installed (Debian: clang clang-tidy)" && exit 77; }
build=build/tidy
# Files are checked one by one, so they are compiled one by one; nothing is built except for generated headers.
cmake -S . -B $build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DANYDML_UNITY=OFF \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DANYDML_BUILD_TESTS=OFF -DANYDML_BUILD_CUDA=OFF >$build.log 2>&1 ||
  { cat $build.log >&2 && exit 1; }
cmake --build $build --target anydml_base_hash >>$build.log 2>&1 || { cat $build.log >&2 && exit 1; }
files=("$@")
if [ "${1-}" = --all ]; then
  mapfile -t files < <(sed -nE 's/^ *"file": "(.*)",?$/\1/p' $build/compile_commands.json | grep "^$PWD/src/" | sort -u)
elif [ $# = 0 ]; then
  files=(src/base/*.cpp src/text/*.cpp src/facts/*.cpp src/plan/*.cpp)
fi
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 1 clang-tidy -p $build --quiet 2>/dev/null
echo "clang-tidy: nothing in ${#files[@]} files"
