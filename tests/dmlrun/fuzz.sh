#!/bin/bash
# SPDX-License-Identifier: MIT
# Fuzzes the readers of models and of .npy files with libFuzzer, under AddressSanitizer and UndefinedBehaviorSanitizer.
# usage: fuzz.sh [SECONDS]     600 for each by default; needs clang (Debian: clang, libclang-rt-dev)
# What it finds new goes to build/fuzz/; the corpus that the tests run is beside this file.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
work=build/fuzz
mkdir -p $work/npy $work/model
compile() { # NAME: the fuzzer and all that it needs. RapidJSON adds an offset to null before the first use of its stack.
  clang++ -std=c++20 -O1 -g -ffp-contract=off -fsanitize=fuzzer,address,undefined -fno-sanitize=pointer-overflow -D_GLIBCXX_ASSERTIONS -DFMT_HEADER_ONLY \
    -Isrc -Itools/dmlrun tests/dmlrun/fuzz_"$1".cpp tools/dmlrun/{cursor,element_reader,files,json,model_reader,npy,operator_reader,resource_reader,values}.cpp \
    src/schema/*.cpp src/facts/facts.cpp src/ops/rows.cpp src/text/format.cpp -o $work/fuzz_"$1"
}
for reader in npy model; do
  echo "== $reader: building"
  compile $reader
  echo "== $reader: $seconds s"
  options=(-max_total_time="$seconds" -max_len=8192 -print_final_stats=1 -timeout=10 -artifact_prefix=$work/"$reader"-)
  [ $reader = npy ] || options+=(-dict=tests/dmlrun/model.dict)
  $work/fuzz_$reader "${options[@]}" $work/$reader tests/dmlrun/corpus/$reader 2>&1 |
    grep -E '^stat::|ERROR|SUMMARY|Test unit|Done' || true
done
