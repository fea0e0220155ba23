#!/bin/bash
# SPDX-License-Identifier: MIT
set -uo pipefail
cd "$(dirname "$0")/.." || exit

usage() {
  cat <<'TEXT'
usage: scripts/gpu.sh [options] [-DNAME=VALUE ...]

Builds anydml with its CUDA plugin on a machine with an NVIDIA GPU, tests it there, compares its speed with PyTorch and
CuPy if they are installed, and writes build/gpu/report.md with report.svg. A stage that fails does not stop the others;
the exit status is then 1, and the report names the failures.

  --no-proof      run no tests
  --no-bench      measure nothing
  --quick         use few elements, as a smoke test; the figures are not reliable
  --stages A,B    run only these: plugin, build, kernels, tests, sanitizer, bench, peers. Results of earlier runs in the
                  folder stay in the report
  --out DIR       the folder for builds, logs and the report (build/gpu)
  -DNAME=VALUE    passed to CMake; CMAKE_PREFIX_PATH is honored too
  --help          print this text

It needs nvcc, g++, CMake, Ninja and the packages in packages.txt; it uses compute-sanitizer and Python's torch and cupy
if they are installed.
TEXT
}

proof=yes
bench=yes
quick=
only=
out=build/gpu
cmake_options=()
while [ $# -gt 0 ]; do
  case $1 in
    --no-proof) proof= ;;
    --no-bench) bench= ;;
    --quick) quick=yes ;;
    --stages) only=${2:?--stages needs names} && shift ;;
    --out) out=${2:?--out needs a folder} && shift ;;
    -D*) cmake_options+=("$1") ;;
    --help | -h) usage && exit ;;
    *) echo "gpu.sh: unknown argument '$1'" >&2 && usage >&2 && exit 2 ;;
  esac
  shift
done
for name in ${only//,/ }; do
  case $name in
    plugin | build | kernels | tests | sanitizer | bench | peers) ;;
    *) echo "gpu.sh: --stages: '$name' is not a stage" >&2 && usage >&2 && exit 2 ;;
  esac
done

# nvcc's folder may not be on PATH.
for folder in "${CUDA_HOME-}" /usr/local/cuda; do
  if ! command -v nvcc >/dev/null && [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ]; then
    PATH=$PATH:$folder/bin
  fi
done
if ! command -v nvcc >/dev/null; then
  echo "gpu.sh: nvcc was not found; set CUDA_HOME to CUDA's folder" >&2
  exit 1
fi
python=python3
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c "import torch" >/dev/null 2>&1; then
    python=$candidate
    break
  fi
done

mkdir -p "$out/logs"
out=$(cd "$out" && pwd)
release=$out/release
plugin=$out/cuda
dmlrun=$release/tools/dmlrun/dmlrun
tests="device_conformance operator_digests api_test layout_test reduce_test d3d12_test directml_test threads_test"
tests="$tests directml_bad_input_test asynchronous_test"
tests="$tests conformance_test sweep_test exhaustive_test graph_test graph_joins_test random_graphs_test product_test"
tests="$tests half_product_test normalize_test random_networks_test networks_test"
export ANYDML_PLUGINS=$plugin
failed=

wanted() { [ -z "$only" ] || [[ ,$only, == *,$1,* ]]; }

# stage NAME COMMAND...: runs the command with its output in a log; reports the result and the time it took.
stage() {
  local name=$1 log=$out/logs/$1.log begin=$SECONDS result code
  shift
  printf '== %s ... ' "$name"
  "$@" >"$log" 2>&1 </dev/null
  code=$?
  case $code in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED ;;
  esac
  printf '%s (%s s)\n' "$result" $((SECONDS - begin))
  printf '%s %s\n' $((SECONDS - begin)) "$result" >"$out/logs/$name.stage"
  [ $code = 0 ] || failed=yes
  if [ $result = FAILED ]; then
    tail -n 15 "$log"
  fi
  return $code
}

build_plugin() {
  cmake -S src/backend/cuda -B "$plugin" -G Ninja -DCMAKE_BUILD_TYPE=Release "${cmake_options[@]}" &&
    cmake --build "$plugin"
}

build_release() {
  cmake -S . -B "$release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DANYDML_BUILD_TESTS=ON -DANYDML_BUILD_CUDA=OFF \
    "${cmake_options[@]}" || return
  # shellcheck disable=SC2046
  cmake --build "$release" --target dmlrun $(present_tests)
}

# Lists the tests that are available in this build.
present_tests() {
  local targets test
  targets=$(cmake --build "$release" --target help)
  for test in $tests; do
    if grep -q "^$test:" <<<"$targets"; then echo "$test"; fi
  done
}

# Builds the test that compares the plugin's kernels with the scalar definitions.
build_kernels_test() {
  local objects
  objects=$(find "$plugin"/CMakeFiles/anydml_cuda*.dir -path '*/ops/*/cuda/*.o' -o -path '*.dir/kernels/*.o' \
    -o -name 'runtime_*.o' -o -name 'gpu_properties.cpp.o') || return
  # shellcheck disable=SC2086
  nvcc -std=c++20 -O2 -arch=native -fmad=false -Xcompiler -ffp-contract=off -I src -I tests \
    tests/cuda/kernels_*.cpp tests/cuda/kernels_modulus.cu src/plan/loop_nest.cpp src/plan/plan.cpp \
    src/ops/move/copies.cpp $objects -o "$out/kernels_test"
}

on_cuda() { env ANYDML_ADAPTER=cuda ANYDML_THREADS=2 "$@"; }

# A trap in a kernel that is not anydml's destroys the context.
fault() {
  nvcc -shared -Xcompiler -fPIC tests/cuda/trap.cu -o "$out/libtrap.so" &&
    on_cuda env ANYDML_LOG=error ANYDML_TEST_TRAP="$out/libtrap.so" "$release/tests/asynchronous_test" \
      --gtest_filter='AsynchronousFault.*' &&
    on_cuda env ANYDML_TEST_TRAP="$out/libtrap.so" "$release/tests/device_conformance" --gtest_filter='DeviceLost.*'
}

sanitize() {
  compute-sanitizer --tool "$1" --error-exitcode 1 "$out/kernels_test" --quick
}

measure() {
  local json=$1 size=()
  shift
  [ -z "$quick" ] || size=(--quick --sizes 1048576)
  rm -f "$json"
  "$dmlrun" bench -a cuda "${size[@]}" "$@" --json "$json"
}

adapters() { ANYDML_LOG=info ANYDML_ADAPTER=cuda "$dmlrun" adapters; }

has_torch() { "$python" -c "import torch, sys; sys.exit(not torch.cuda.is_available())" >/dev/null 2>&1; }

version_of() { "$python" -c "import $1; print($1.__version__)" 2>/dev/null || echo "not installed"; }

describe_machine() {
  local smi
  smi=$(nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem --format=csv,noheader 2>&1)
  echo "| | |"
  echo "|---|---|"
  echo "| GPU | ${smi%%$'\n'*} |"
  echo "| CUDA | $(nvcc --version | sed -n 's/.*release //p') |"
  echo "| CPU | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores |"
  echo "| system | $(. /etc/os-release && echo "$PRETTY_NAME"), $(uname -rm) |"
  echo "| compiler | $(c++ --version | head -n 1), $(cmake --version | head -n 1) |"
  echo "| Python | $("$python" -c 'import platform; print(platform.python_version())'), NumPy $(version_of numpy), \
torch $(version_of torch), CuPy $(version_of cupy) |"
  echo "| anydml | $(git describe --always --dirty 2>/dev/null || echo 'no git') |"
  echo "| date | $(date -u +%F) |"
}

report() {
  local file=$out/report.md name seconds result files=()
  {
    echo "# anydml on an NVIDIA GPU"
    echo
    describe_machine
    echo
    echo "## Stages"
    echo
    echo "| stage | result | seconds | |"
    echo "|---|---|---|---|"
    while read -r name; do # in the order in which they ran
      read -r seconds result <"$name"
      echo "| $(basename "$name" .stage) | $result | $seconds | $(summary "${name%.stage}.log") |"
    done < <(ls -tr "$out"/logs/*.stage)
    for name in "$out"/logs/*.stage; do
      read -r seconds result <"$name"
      if [ "$result" = FAILED ]; then
        printf '\n%s, the end of its log:\n\n```\n' "$(basename "$name" .stage)"
        tail -n 25 "${name%.stage}.log"
        echo '```'
      fi
    done
    for name in bench hard latency peers; do
      [ ! -e "$out/$name.json" ] || files+=("$out/$name.json")
    done
    if [ ${#files[@]} -gt 0 ]; then
      printf '\n## Figures\n\n'
      python3 bench/plot.py "${files[@]}" --out "$out/plots" >/dev/null
      cat "$out/plots/tables.md"
      [ ! -e "$out/plots/gpu.svg" ] || printf '\n![fraction of the pass by type](plots/gpu.svg)\n'
    fi
  } >"$file" 2>&1
  echo "report: $file"
}

# Prints the line of a log that summarizes the results.
summary() {
  grep -hE '^\[  PASSED  \]|^all the same|ERROR SUMMARY|RACECHECK SUMMARY|^[0-9,]+ pairs|^skipped' "$1" 2>/dev/null |
    tail -n 1 | tr '|' ' '
}

sweep_pairs=200000000
kernels_options=()
sanitizers="memcheck racecheck initcheck"
peers_options=()
if [ -n "$quick" ]; then
  sweep_pairs=1000000
  kernels_options=(--quick)
  sanitizers=memcheck
  peers_options=(--quick)
fi

if wanted plugin; then stage plugin build_plugin; fi
if wanted build; then
  stage build build_release
  stage adapters adapters
fi
if [ -n "$proof" ]; then
  if wanted kernels || wanted sanitizer; then stage build_kernels build_kernels_test; fi
  if wanted kernels; then
    stage kernels "$out/kernels_test" "${kernels_options[@]}"
  fi
  if wanted tests; then
    for test in $(present_tests); do
      case $test in
        exhaustive_test) [ -n "$quick" ] || stage "$test" on_cuda "$release/tests/$test" ;;
        sweep_test) stage "$test" on_cuda env ANYDML_SWEEP_PAIRS=$sweep_pairs "$release/tests/$test" ;;
        *) stage "$test" on_cuda "$release/tests/$test" ;;
      esac
    done
    stage fault fault
  fi
  if wanted sanitizer; then
    if command -v compute-sanitizer >/dev/null; then
      for tool in $sanitizers; do
        stage "$tool" sanitize "$tool"
      done
    else
      echo "== sanitizer: skipped, compute-sanitizer was not found"
    fi
  fi
fi
if [ -n "$bench" ]; then
  if wanted bench; then
    stage bench measure "$out/bench.json"
    stage bench_hard measure "$out/hard.json" --types floats --data hard --layouts tensor
    stage bench_latency measure "$out/latency.json" --latency
  fi
  if wanted peers; then
    if has_torch; then
      stage peers "$python" bench/peers_cuda.py "${peers_options[@]}" --json "$out/peers.json"
    else
      echo "== peers: skipped, $python has no torch that sees a GPU"
    fi
  fi
fi
report
[ -z "$failed" ]
