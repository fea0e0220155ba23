#!/bin/bash
# SPDX-License-Identifier: MIT
# Fuzzes the readers of models and of .npy files with libFuzzer, under AddressSanitizer and UndefinedBehaviorSanitizer.
# usage: fuzz.sh [SECONDS]     600 seconds for each by default; needs clang (Debian: clang, libclang-rt-dev)
# New findings go to build/fuzz/; the corpus that the tests run is in this file's folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
work=build/fuzz
mkdir -p $work/npy $work/model
# pointer-overflow is off because RapidJSON adds an offset to null before the first use of its stack.
cmake -S . -B $work/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DANYDML_BUILD_CUDA=OFF -DANYDML_BUILD_PROOFS=OFF \
  "-DANYDML_SANITIZE=fuzzer-no-link,address,undefined;-fno-sanitize=pointer-overflow" >/dev/null
for reader in npy model; do
  echo "== $reader: building"
  cmake --build $work/build --target fuzz_$reader
  echo "== $reader: $seconds s"
  options=(-max_total_time="$seconds" -max_len=8192 -print_final_stats=1 -timeout=10 -artifact_prefix=$work/"$reader"-)
  [ $reader = npy ] || options+=(-dict=tests/dmlrun/model.dict)
  $work/build/tests/fuzz_$reader "${options[@]}" $work/$reader tests/dmlrun/corpus/$reader 2>&1 |
    grep -E '^stat::|ERROR|SUMMARY|Test unit|Done' || true
done
