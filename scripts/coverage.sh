#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures which lines and branches of src/ the tests run, and writes build/coverage/report/index.html. The tests labeled long
# run many values through the same lines and are left out unless --all is given.
# usage: scripts/coverage.sh [--all | TEST...]     TEST: the programs of tests, which are built and run alone
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/coverage
gcovr=gcovr
if ! command -v gcovr >/dev/null; then
  gcovr=build/coverage-tools/bin/gcovr
  [ -x $gcovr ] || { python3 -m venv build/coverage-tools && build/coverage-tools/bin/pip install --quiet gcovr; }
fi
exclude=(-LE "exhaustive|proof|long|repeats")
tests=()
if [ "${1-}" = --all ]; then
  exclude=(-LE "exhaustive|proof")
elif [ $# -gt 0 ]; then
  tests=(-R "^($(IFS='|' && echo "$*"))$")
fi
# One vector target is enough to see whether lines run, and -O0 keeps lines apart.
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=--coverage -fprofile-update=atomic" -DCMAKE_C_FLAGS=--coverage \
  -DCMAKE_EXE_LINKER_FLAGS=--coverage -DCMAKE_SHARED_LINKER_FLAGS=--coverage -DCMAKE_MODULE_LINKER_FLAGS=--coverage \
  -DANYDML_BUILD_CUDA=OFF -DANYDML_BUILD_PROOFS=OFF -DANYDML_BUILD_EXAMPLES=OFF -DANYDML_UNITY=ON >/dev/null
if [ ${#tests[@]} -gt 0 ]; then
  cmake --build $build --target "$@"
else
  cmake --build $build
fi
find $build -name '*.gcda' -delete
(cd $build && ctest -j "$(nproc)" --output-on-failure "${exclude[@]}" "${tests[@]}")
mkdir -p $build/report
# Nobody wrote the functions that the compiler generates, or the branches that only exceptions take.
$gcovr --root . --filter src/ --exclude '.*_tables\.h' --exclude-throw-branches --exclude-unreachable-branches \
  --gcov-ignore-parse-errors all --gcov-ignore-errors no_working_dir_found --merge-mode-functions merge-use-line-0 \
  --html-details $build/report/index.html --json-summary $build/report/summary.json --txt $build/report/files.txt \
  --print-summary $build
python3 - $build/report/summary.json <<'PYTHON'
import collections
import json
import re
import sys

files = json.load(open(sys.argv[1]))["files"]
folders = collections.defaultdict(lambda: [0, 0])
for one in files:
    # Headers are compiled through the links in layers/, which cmake/layers.cmake makes.
    parts = re.sub(r"^.*/layers/\w+/", "src/", one["filename"]).split("/")
    name = "/".join(parts[:3] if parts[1] == "ops" and len(parts) > 3 else parts[:2])
    folders[name][0] += one["line_covered"]
    folders[name][1] += one["line_total"]
print("\nlines that ran, by folder, the least first:")
for name, (ran, total) in sorted(folders.items(), key=lambda one: one[1][0] / max(1, one[1][1])):
    print(f"  {100 * ran / max(1, total):5.1f} %  {ran:6} of {total:6}  {name}")
PYTHON
