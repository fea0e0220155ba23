#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules that no compiler checks: formatting, license lines, the length of files, and the order of the layers where a
# relative path could evade it.
# usage: tree.sh SOURCE
set -euo pipefail
cd "$1"
sources=$(find src include tests fuzz examples bench tools python -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' | grep -vE 'facts_tables.h|DirectML.h|directml_guids.h')
status=0
# shellcheck disable=SC2086
clang-format --dry-run -Werror $sources || status=1
for file in $(find src include tests fuzz .github examples bench tools python cmake scripts data -type f -not -name '*.so' -not -name 'py.typed' -not -name '*.json' -not -name '*.ipynb' -not -path '*/corpus/*' -not -path '*/expected/*' -not -name '*.npy' -not -name '*.dat' -not -name '*.abi' -not -name '*.md' -not -name '*.in' -not -name '*.map' -not -path '*__pycache__*' -not -path 'data/vulkan/functions.*') run test; do
  [[ $(head -n 3 "$file") == *SPDX-License-Identifier* ]] || { echo "$file: no SPDX line" >&2; status=1; }
done
# Files that were downloaded or built, and added by accident.
if git rev-parse --git-dir >/dev/null 2>&1 && git ls-files | grep -E '\.(whl|so|o|a|deb|tar\.gz)$'; then
  echo "a built or downloaded file is tracked" >&2
  status=1
fi
# A file covers one subject. Generated files may have any length.
most_lines=600
if git rev-parse --git-dir >/dev/null 2>&1; then
  while read -r file; do
    [ -f "$file" ] || continue  # deleted, but not yet committed
    lines=$(wc -l <"$file")
    [ "$lines" -le "$most_lines" ] || { echo "$file: $lines lines; expected $most_lines at most: split it by subject" >&2; status=1; }
  done < <(git ls-files '*.cpp' '*.h' '*.cu' '*.cuh' '*.py' '*.sh' '*.def' | grep -vxE 'include/anydml/DirectML\.h|src/facts/[^/]*_tables\.h|python/anydml/_operators\.py')
fi
# The GPU plugin can be built alone, and its own file states the version.
version=$(sed -nE 's/^project\(anydml VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
for expected in "src/backend/cuda/CMakeLists.txt:project(anydml_cuda VERSION $version " "CHANGELOG.md:## $version" \
  "README.md:find_package(anydml ${version%.*} " "docs/directml.md:find_package(anydml ${version%.*} " \
  "tests/install/CMakeLists.txt:find_package(anydml ${version%.*} "; do
  grep -qF "${expected#*:}" "${expected%%:*}" || { echo "${expected%%:*}: expected '${expected#*:}'" >&2; status=1; }
done
if grep -rn '#include "\.\.' src include tests fuzz examples bench tools; then
  echo "an include must name its layer" >&2
  status=1
fi
if grep -rnE '#include <(fmt|wsl|directx)' src/base src/ops src/backend src/schema/*.h src/plan/*.h; then
  echo "base, ops, backend and the headers of schema and plan may use only the standard library" >&2
  status=1
fi
exit $status
