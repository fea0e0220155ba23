#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that DirectML.h is up to date with the facts, compiles by itself as C++14 and later with every available
# compiler and for every target version, compiles with interface ids declared by the program, and has the layout, ids
# and vtable slots given by the facts.
# usage: headers.sh PYTHON SOURCE WORK
set -euo pipefail
python=$1 source=$2 work=$3
mkdir -p "$work"
cd "$work"
"$python" "$source/data/facts/generate_directml.py" --check
"$python" "$source/data/facts/generate_directml.py" --abi abi.cpp
directx=$(pkg-config --cflags DirectX-Headers)
directx=${directx//-I/-isystem }
echo '#include "DirectML.h"' >alone.cpp
echo '#include "directml_guids.h"' >guids.cpp
compiled=0
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  for standard in 14 17 20; do
    # shellcheck disable=SC2086
    flags="-std=c++$standard -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I $source/include/anydml $directx"
    # shellcheck disable=SC2086
    $compiler $flags "$source/tests/directml/own_ids.cpp"
    $compiler $flags guids.cpp
    for version in 0x1000 0x2000 0x2100 0x3000 0x3100 0x4000 0x4100 0x5000 0x5100 0x5200 0x6000 0x6100 0x6200 0x6300 0x6400; do
      [ $standard = 14 ] || [ $version = 0x6400 ] || continue
      # shellcheck disable=SC2086
      $compiler $flags -DDML_TARGET_VERSION=$version alone.cpp
      compiled=$((compiled + 1))
    done
  done
  # shellcheck disable=SC2086
  $compiler -std=c++14 -Wall -Wextra -Werror -I "$source/include" -I "$source/include/anydml" $directx abi.cpp -o abi_$compiler
  echo "$compiler: $(./abi_$compiler)"
done
echo "$compiled compilations of DirectML.h alone"
