# SPDX-License-Identifier: MIT
# Sourced by scripts/release.sh: a C and C++ compiler whose programs run on older systems than this one.

older_glibc=2.28  # Debian 10, Ubuntu 18.10, RHEL 8
zig_version=0.17.0

# make_toolchain FOLDER PYTHON: installs zig's clang from PyPI, and writes FOLDER/bin/{cc,c++,ar,ranlib}, which compile for
# glibc 2.28 with libc++ inside, and FOLDER/include with the headers that the libraries are compiled with. These come
# from this system, whose other headers belong to a newer glibc and must not be found.
make_toolchain() {
  local folder=$1 python=$2 zig tool name
  "$python" -m pip install --quiet --disable-pip-version-check "ziglang==$zig_version"
  zig=$("$python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
  rm -rf "$folder"
  mkdir -p "$folder/bin" "$folder/include" "$folder/fmt"
  for tool in cc c++; do
    printf '#!/bin/sh\nexec "%s" %s -target %s-linux-gnu.%s "$@"\n' "$zig" $tool "$(uname -m)" $older_glibc >"$folder/bin/$tool"
  done
  for tool in ar ranlib; do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" $tool >"$folder/bin/$tool"
  done
  chmod +x "$folder"/bin/*
  for name in fmt hwy protozero rapidjson; do
    cp -r "/usr/include/$name" "$folder/include/"
  done
  cat >"$folder/fmt/fmt-config.cmake" <<CMAKE
add_library(fmt::fmt-header-only INTERFACE IMPORTED)
set_target_properties(fmt::fmt-header-only PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1 INTERFACE_INCLUDE_DIRECTORIES "$folder/include")
CMAKE
}

# toolchain_options FOLDER: CMake's options to compile with it
toolchain_options() {
  local folder=$1
  echo "-DCMAKE_C_COMPILER=$folder/bin/cc -DCMAKE_CXX_COMPILER=$folder/bin/c++ -DCMAKE_AR=$folder/bin/ar" \
    "-DCMAKE_RANLIB=$folder/bin/ranlib -Dfmt_DIR=$folder/fmt -DHIGHWAY_INCLUDE_DIR=$folder/include" \
    "-DPROTOZERO_INCLUDE_DIR=$folder/include -DRAPIDJSON_INCLUDE_DIR=$folder/include"
}

