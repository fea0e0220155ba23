#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the fuzz targets with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, and fails if one finds something.
# Needs clang (Debian: clang, libclang-rt-dev). New inputs go to build/fuzz/inputs, findings to build/fuzz.
# usage: fuzz/fuzz.sh [SECONDS [TARGET...]]     600 seconds for each target by default
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
shift || true
work=build/fuzz
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(npy dxdispatch onnx operator graph directml)
# pointer-overflow is off because RapidJSON adds an offset to null before the first use of its stack.
cmake -S . -B $work/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DANYDML_UNITY=ON -DANYDML_BUILD_CUDA=OFF -DANYDML_BUILD_PROOFS=OFF -DANYDML_BUILD_EXAMPLES=OFF \
  "-DANYDML_SANITIZE=fuzzer-no-link,address,undefined;-fno-sanitize=pointer-overflow" >/dev/null
failed=()
for target in "${targets[@]}"; do
  echo "== $target: building"
  cmake --build $work/build --target "fuzz_$target" >"$work/$target-build.log" || { tail -n 30 "$work/$target-build.log" >&2 && exit 1; }
  mkdir -p "$work/inputs/$target"
  echo "== $target: $seconds s"
  options=(-max_total_time="$seconds" -max_len=8192 -print_final_stats=1 -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$work/$target-")
  [ ! -f "fuzz/$target.dict" ] || options+=(-dict="fuzz/$target.dict")
  status=0
  ANYDML_PLUGINS=$PWD/$work/build/fuzz/plugins ANYDML_THREADS=1 ANYDML_LOG=none \
    "$work/build/fuzz/fuzz_$target" "${options[@]}" "$work/inputs/$target" "fuzz/corpus/$target" >"$work/$target.log" 2>&1 || status=$?
  grep -E '^stat::|ERROR|SUMMARY|Test unit|^#[0-9]+.*DONE' "$work/$target.log" || tail -n 5 "$work/$target.log"
  [ $status = 0 ] || failed+=("$target (exit status $status, $work/$target.log)")
done
[ ${#failed[@]} = 0 ] || { printf 'found something: %s\n' "${failed[@]}" >&2 && exit 1; }
