#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the library and builds programs against it from outside the tree, as a user would: a C program and a C++
# program, each through pkg-config and through find_package; then from a moved installation; then with add_subdirectory.
# Does the same with a program for the ONNX library, and with a DirectML program, which finds its libraries through its
# rpath or, if built without one, through LD_LIBRARY_PATH.
# usage: run.sh SOURCE BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cp "$source"/tests/install/{program.c,program.cpp,CMakeLists.txt} "$source"/examples/{directml_modulus.cpp,onnx.c} "$work"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"  # installed files must not depend on the original path
cd "$work"
python3 -B "$source/tests/tree/documents_test.py" --installed prefix/share/doc/anydml
expected="floor 1 2 -2 -1, truncate 1 -1 1 -1"

pc=$(find prefix -name anydml.pc)
PKG_CONFIG_PATH=$(dirname "$PWD/$pc")
export PKG_CONFIG_PATH
library_path=$(pkg-config --variable=libdir anydml)
check() {
  local actual
  actual=$(LD_LIBRARY_PATH=$library_path "$1")
  if [ "$actual" != "$expected" ]; then
    echo "$2: expected '$expected', got '$actual'" >&2
    exit 1
  fi
  echo "$2: $actual"
}

# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Wpedantic -Werror program.c -o c_pkg $(pkg-config --cflags --libs anydml)
check ./c_pkg "C, pkg-config"
# shellcheck disable=SC2046
c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror program.cpp -o cpp_pkg $(pkg-config --cflags --libs anydml)
check ./cpp_pkg "C++11, pkg-config"

# The library is in the standard folder, so the flags contain no rpath. A separate variable provides one for prefixes
# that the loader does not search.
if grep -q rpath <<<"$(pkg-config --libs anydml)"; then
  echo "pkg-config --libs anydml gives an rpath" >&2 && exit 1
fi
if ./c_pkg >/dev/null 2>&1; then
  echo "the program found a library that was not on its path" >&2 && exit 1
fi
# shellcheck disable=SC2046
cc -std=c11 program.c -o c_rpath $(pkg-config --cflags --libs anydml) $(pkg-config --variable=rpath anydml)
[ "$(env -u LD_LIBRARY_PATH ./c_rpath)" = "$expected" ]
echo "C, pkg-config with its rpath variable: $expected"

cmake -G Ninja -S . -B cmake_build -DCMAKE_PREFIX_PATH="$PWD/prefix" >/dev/null
cmake --build cmake_build >/dev/null
check cmake_build/c_program "C, find_package"
check cmake_build/cpp_program "C++, find_package"

if [ -f prefix/include/anydml/onnx.h ]; then  # without this header, ONNX models were not built
  usage="usage: onnx MODEL.onnx"
  check_usage() {
    local actual
    actual=$(LD_LIBRARY_PATH=$library_path "$1") || true  # without a model, the program fails
    [ "$actual" = "$usage" ] || { echo "$2: expected '$usage', got '$actual'" >&2 && exit 1; }
    echo "$2: $actual"
  }
  # shellcheck disable=SC2046
  cc -std=c11 -Wall -Wextra -Wpedantic -Werror onnx.c -o onnx_pkg $(pkg-config --cflags --libs anydml-onnx)
  check_usage ./onnx_pkg "ONNX, pkg-config"
  check_usage cmake_build/onnx_program "ONNX, find_package"
fi

# Builds the library as part of another project. Compiling the lowest layers shows that the folders are found; ./test
# --exhaustive compiles the whole library and programs with it.
cmake -G Ninja -S . -B subdirectory_build -DANYDML_SOURCE="$source" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS=-DANYDML_PLAIN_ENTRIES -DCMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
whole_subdirectory=${ANYDML_TEST_WHOLE_INSTALL-}
if [ -n "$whole_subdirectory" ]; then
  cmake --build subdirectory_build --target c_program >/dev/null
  check subdirectory_build/c_program "C, add_subdirectory"
else
  cmake --build subdirectory_build --target anydml_text anydml_plan >/dev/null
  echo "add_subdirectory: configured, and its lowest layers compiled"
fi

[ -f prefix/include/anydml/DirectML.h ] || exit 0  # the library was built without the DirectML API
expected=$("$build/examples/directml_modulus")
run_directml() {
  local actual
  actual=$("$@")
  [ "$actual" = "$expected" ] || { echo "$*: expected '$expected', got '$actual'" >&2 && exit 1; }
}
# shellcheck disable=SC2046
c++ -std=c++14 directml_modulus.cpp -o directml_pkg $(pkg-config --cflags --libs anydml-directml)
run_directml ./directml_pkg
echo "DirectML, pkg-config with its rpath: the same output"
# Programs that were written for the system's header use this spelling.
sed -e 's:<anydml/DirectML.h>:<DirectML.h>:' -e 's:<anydml/directml_guids.h>:<directml_guids.h>:' directml_modulus.cpp >plain.cpp
# shellcheck disable=SC2046
c++ -std=c++14 plain.cpp -o directml_plain $(pkg-config --cflags --libs anydml-directml | sed 's:-Wl,-rpath,[^ ]*::')
if ./directml_plain >/dev/null 2>&1; then
  echo "the program found libraries that were not on its path" >&2 && exit 1
fi
run_directml env LD_LIBRARY_PATH="$(pkg-config --variable=libdir anydml-directml)" ./directml_plain
echo "DirectML, LD_LIBRARY_PATH: the same output"
if [ -x prefix/bin/dmlrun ]; then
  grep -q "Resource 'Out': 6, 10, -2" <<<"$(prefix/bin/dmlrun prefix/share/doc/anydml/examples/models/add.json)"
  run_directml prefix/bin/dmlrun exec -- ./directml_plain
  [ -f prefix/share/man/man1/dmlrun.1 ] && [ -f prefix/share/bash-completion/completions/dmlrun ]
  echo "dmlrun: runs an example, and a program with the installed libraries"
fi
mkdir beside && cp prefix/lib*/anydml/*.so prefix/lib*/libanydml.so.0 beside 2>/dev/null
run_directml env LD_LIBRARY_PATH="$PWD/beside" ./directml_plain
echo "DirectML, libraries copied into one folder: the same output"
cat >last_error.cpp <<'PROGRAM'
#include <anydml/anydml.h>
#include <wsl/winadapter.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
#include <cstdio>
int main() {
  const GUID attribute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE;
  return std::printf("%s%zu\n", anydml_last_error(), sizeof(attribute)) < 0;
}
PROGRAM
# shellcheck disable=SC2046
c++ -std=c++14 last_error.cpp -o last_error $(pkg-config --cflags --libs anydml-directml)
./last_error >/dev/null
echo "the C API and DXCore's attributes next to DirectML: linked and found"
cmake --build cmake_build --target directml_program >/dev/null
run_directml cmake_build/directml_program
echo "DirectML, find_package: the same output"
if [ -n "$whole_subdirectory" ]; then
  cmake --build subdirectory_build --target directml_program >/dev/null
  run_directml subdirectory_build/directml_program
  echo "DirectML, add_subdirectory: the same output"
fi
